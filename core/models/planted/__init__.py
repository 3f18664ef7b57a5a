"""Tiny models whose answers are planted, by name (no torch) and as weights."""
