"""Releases: a frozen state of a project with its papers, and its verification."""
