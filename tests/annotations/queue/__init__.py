"""Tests of annotations/queue."""
