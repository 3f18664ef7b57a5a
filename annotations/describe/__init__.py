"""Statistics of a project's accepted items, or of a file."""
