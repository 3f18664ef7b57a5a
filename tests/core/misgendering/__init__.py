"""Tests of core/misgendering."""
