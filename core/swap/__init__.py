"""Counterfactual texts: every word of a keyword pair becomes its counterpart (SPEC 9.2)."""
