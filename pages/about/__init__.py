"""About."""
