"""annotations turns people's judgements into gold labels: it keeps, shares out, compares and settles them."""
