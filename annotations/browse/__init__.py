"""Search for items, and the history of one item."""
