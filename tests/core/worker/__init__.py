"""Tests of core/worker."""
