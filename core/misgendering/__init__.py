"""Misgendering in two ways: by the probabilities of a model (probability-based) and by its texts (generation-based)."""
