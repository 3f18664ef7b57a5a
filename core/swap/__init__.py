"""Counterfactual texts: every word of a keyword pair becomes its counterpart (docs/swap.md)."""
