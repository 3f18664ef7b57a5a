"""Forecasts: what labelling will take, and whether quotas can be met."""
