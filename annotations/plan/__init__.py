"""A change of settings brings every item up to date."""
