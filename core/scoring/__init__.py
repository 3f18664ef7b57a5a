"""Files of sentences through a scorer: rows, remembered scores, a cluster."""
