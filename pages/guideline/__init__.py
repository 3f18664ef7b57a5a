"""Guideline."""
