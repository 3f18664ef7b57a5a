"""Tests of core/report."""
