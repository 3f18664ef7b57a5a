"""Judges of a project: labellers that are no people, and their labels, which no desk and no count of people sees."""
