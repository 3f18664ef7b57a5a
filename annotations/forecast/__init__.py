"""The one place that says what labelling will take and whether quotas can be met."""
