"""Faults and attacks: what a disk, a stranger or a hostile file does to a running app."""
