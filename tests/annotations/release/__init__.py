"""Tests of annotations/release."""
