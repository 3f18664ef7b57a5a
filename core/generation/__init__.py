"""Generations made here: contexts, a seed for every text, a file that grows and can be resumed, and who writes."""
