"""Tests of annotations/accounts."""
