"""Ruler."""
