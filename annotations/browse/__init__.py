"""Find items, their history."""
