"""Tests of annotations/projects."""
