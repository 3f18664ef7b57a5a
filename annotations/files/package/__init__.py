"""A whole project as an archive and back."""
