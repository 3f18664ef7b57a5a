"""Tests of annotations/items."""
