"""Tests of core/association."""
