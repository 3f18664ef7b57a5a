"""Tests of core/mining/filters."""
