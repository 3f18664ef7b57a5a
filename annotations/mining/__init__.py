"""Mined candidates as items of a project."""
