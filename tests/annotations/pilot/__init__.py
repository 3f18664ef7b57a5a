"""Tests of annotations/pilot."""
