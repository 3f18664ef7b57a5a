"""Tests of core/nli."""
