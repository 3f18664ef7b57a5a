"""The statements of each version of the schema."""
