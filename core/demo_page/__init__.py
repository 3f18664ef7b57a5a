"""A page to pass on: stored scores of chosen sentences, without a server."""
