"""Counterfactual texts."""
