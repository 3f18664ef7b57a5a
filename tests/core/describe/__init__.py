"""Tests of core/describe."""
