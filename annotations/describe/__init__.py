"""Statistics of a project's kept sentences."""
