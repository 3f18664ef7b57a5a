"""Changing a model: training it further, and how well it still predicts text that no change saw."""
