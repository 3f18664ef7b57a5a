"""commands holds what `python cli.py` can be asked, one file an area; each command calls what its page calls."""
