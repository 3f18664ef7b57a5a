"""The parts that all runs share: the loop (models one after the other, progress, failures), its record, its kind."""
