"""Tests of core/scoring."""
