"""Tests of core/servers."""
