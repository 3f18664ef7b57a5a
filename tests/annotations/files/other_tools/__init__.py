"""Tests of annotations/files/other_tools."""
