"""Tests of annotations/progress."""
