"""The command `before-after`."""
