"""Labels that a program gave beside those of people: what both say together, and whether it may stand for a person."""
