"""Mirrors the tree; support/ contains code that tests share."""
