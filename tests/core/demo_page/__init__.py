"""Demo page."""
