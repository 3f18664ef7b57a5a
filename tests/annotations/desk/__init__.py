"""Tests of annotations/desk."""
