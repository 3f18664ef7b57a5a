"""Items, their wanted number of labels, and their gold labels. The only writer of `item` and `batch`."""
