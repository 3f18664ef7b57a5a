"""Mirrors the tree; support/ holds what tests share."""
