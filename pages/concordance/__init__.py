"""Concordance."""
