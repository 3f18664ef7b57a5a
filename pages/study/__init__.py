"""The page Online studies."""
