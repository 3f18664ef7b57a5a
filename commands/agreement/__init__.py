"""`agreement` and what stands beside it: annotator models."""
