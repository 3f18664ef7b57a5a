"""Labels appended and read; the only writer of `label`."""
