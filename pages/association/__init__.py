"""Association."""
