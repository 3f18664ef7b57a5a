"""Pilots: a few items that all annotators label first."""
