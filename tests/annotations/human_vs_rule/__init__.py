"""Tests of annotations/human_vs_rule."""
