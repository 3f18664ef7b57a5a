"""The lead's dashboard."""
