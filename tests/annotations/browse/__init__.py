"""Tests of annotations/browse."""
