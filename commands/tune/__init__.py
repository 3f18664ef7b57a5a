"""The command `tune`: a model changed."""
