"""Forecasts from counts: what labelling will take, and whether quotas can be met. Pure; annotations.forecast counts."""
