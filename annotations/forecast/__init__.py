"""Counts of a project for forecasts (core.forecast): what labelling will take, and whether quotas can be met."""
