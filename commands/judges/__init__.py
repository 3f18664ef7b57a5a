"""`estimate` and `alt-test`: labels of judges beside those of people."""
