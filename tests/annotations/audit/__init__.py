"""Tests of annotations/audit."""
