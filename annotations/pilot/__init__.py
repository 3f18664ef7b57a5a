"""A few items that all label first."""
