"""Planted models, and a model of the user compared with nulls and references."""
