"""Other measures."""
