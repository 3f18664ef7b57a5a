"""Tests of annotations/server."""
