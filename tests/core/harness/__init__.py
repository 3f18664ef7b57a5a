"""Harness."""
