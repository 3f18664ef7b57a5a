"""Tests of core/published."""
