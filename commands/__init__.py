"""The commands of `python cli.py`, one file per area; a command calls the same function as its page."""
