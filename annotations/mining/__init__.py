"""Candidates into a project."""
