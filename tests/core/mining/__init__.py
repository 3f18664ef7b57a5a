"""Tests of core/mining."""
