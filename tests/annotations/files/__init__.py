"""Tests of annotations/files."""
