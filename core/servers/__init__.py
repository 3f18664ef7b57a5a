"""Servers of models: which addresses may be asked, with which key, and asking until an answer is there."""
