"""Show the pages: main.py, and one folder per page with its page.py."""
