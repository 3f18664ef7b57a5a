"""Tests of annotations/mining."""
