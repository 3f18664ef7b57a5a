"""Changing a model."""
