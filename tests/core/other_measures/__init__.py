"""Measures of others."""
