"""`sampling`: which items of a project people label next."""
