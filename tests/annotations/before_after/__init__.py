"""Before and after, judged by people."""
