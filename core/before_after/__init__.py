"""Before and after: what a change to a model moved, what it did not, and what was lost (docs/before_after.md)."""
