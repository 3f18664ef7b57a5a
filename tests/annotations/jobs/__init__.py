"""Tests of annotations/jobs."""
