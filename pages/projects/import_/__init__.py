"""Import_."""
