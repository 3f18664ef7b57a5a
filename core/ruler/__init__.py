"""Planted models and a model of one's own beside nulls and references."""
