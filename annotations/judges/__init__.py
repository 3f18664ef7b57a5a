"""Judges of a project: rules, models and servers that label. Desks and counts of people leave their labels out."""
