"""One sentence at a time: what a model would write at the slot, which words push, what other words would do."""
