"""Tune a model."""
