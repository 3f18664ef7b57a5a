"""Tests of annotations/agreement."""
