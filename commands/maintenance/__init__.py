"""The commands `app`, `backup`, `restore` and `doctor`."""
