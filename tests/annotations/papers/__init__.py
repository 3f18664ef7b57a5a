"""Tests of annotations/papers."""
