"""Tests of annotations."""
