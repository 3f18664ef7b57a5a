"""What every kind of run shares: the loop (models one after the other, progress, failures), its record, its kind."""
