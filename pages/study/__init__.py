"""The page Studies by link."""
