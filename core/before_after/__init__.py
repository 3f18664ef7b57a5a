"""Before and after: the effect of a change to a model, its absence, and its costs (docs/before_after.md)."""
