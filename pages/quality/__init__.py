"""Quality."""
