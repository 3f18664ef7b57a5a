"""Samples with a known truth, and the functions of the app that make intervals of them: what `coverage` repeats."""
