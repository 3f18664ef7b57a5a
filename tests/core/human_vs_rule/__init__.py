"""Tests of core/human_vs_rule."""
