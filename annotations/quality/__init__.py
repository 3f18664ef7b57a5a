"""Agreement with oneself, known answers."""
