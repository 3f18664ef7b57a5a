"""Tests of core/generation."""
