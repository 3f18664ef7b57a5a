"""What is labelled, how many labels it wants, what counts for it; the only writer of `item` and `batch`."""
