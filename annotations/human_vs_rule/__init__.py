"""People's labels of generations, matched to runs."""
