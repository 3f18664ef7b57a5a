"""Labels by a program and by people: estimates from both, and a test whether the program may replace a person."""
