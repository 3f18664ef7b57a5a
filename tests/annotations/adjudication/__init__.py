"""Tests of annotations/adjudication."""
