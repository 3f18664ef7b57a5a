"""Tests of core/concordance."""
