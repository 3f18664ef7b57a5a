"""Tests of annotations/describe."""
