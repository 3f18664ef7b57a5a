"""One loop for every kind of run (models one after the other, progress, failures, record), and what each kind adds."""
