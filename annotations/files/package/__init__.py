"""Packages: export of a whole project as an archive, and its import."""
