"""Runs of tuning."""
