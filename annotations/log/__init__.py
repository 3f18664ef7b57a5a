"""The log: checked, read, and kept whole when a person is erased."""
