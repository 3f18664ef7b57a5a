"""Files of any format into a project."""
