"""Tests of annotations/quality."""
