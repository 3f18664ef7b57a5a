"""Releases: what people made of a project, frozen with its papers, and how one is checked."""
