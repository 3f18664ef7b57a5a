"""Tests of annotations/forecast."""
