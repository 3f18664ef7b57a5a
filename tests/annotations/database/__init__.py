"""Tests of annotations/database."""
