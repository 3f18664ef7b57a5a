"""Adjudication of items on which annotators disagree: cases, comments, decisions. Everything is appended."""
