"""Tests of annotations/record."""
