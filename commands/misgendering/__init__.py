"""Misgendering."""
