"""Projects and their annotators; the only writer of `project` and `member`."""
