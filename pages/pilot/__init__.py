"""Pilot."""
