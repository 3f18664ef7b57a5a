"""Tests of annotations/plan."""
