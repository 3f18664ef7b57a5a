"""Versions, drafts, criteria, tags, and labels sent back for relabelling."""
