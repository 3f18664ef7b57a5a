"""Before and after, judged by people: generations of two models blind in one project."""
