"""Tests of annotations/labels."""
