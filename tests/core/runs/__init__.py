"""Tests of core/runs."""
