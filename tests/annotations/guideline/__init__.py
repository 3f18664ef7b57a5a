"""Tests of annotations/guideline."""
