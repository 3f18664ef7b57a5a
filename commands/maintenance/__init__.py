"""The commands `backup`, `restore` and `doctor`."""
