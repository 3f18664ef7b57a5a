"""The commands, one module per area; a command calls the same function as its page."""
