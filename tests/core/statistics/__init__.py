"""Tests of core/statistics."""
