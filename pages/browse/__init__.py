"""Browse."""
