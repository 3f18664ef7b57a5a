"""Tests of annotations/study."""
