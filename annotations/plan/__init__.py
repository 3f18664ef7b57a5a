"""The recount of items after a change of settings."""
