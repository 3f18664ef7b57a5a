"""Bias."""
