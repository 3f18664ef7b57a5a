"""Generate texts: contexts, a seed for every text, a growing file that can be resumed, and the writers."""
