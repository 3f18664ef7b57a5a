"""Tests of annotations/judges."""
