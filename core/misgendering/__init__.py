"""Misgendering, two ways: what a model finds likely (probability-based) and what it writes (generation-based)."""
