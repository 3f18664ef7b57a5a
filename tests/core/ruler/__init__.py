"""Tests of core/ruler."""
