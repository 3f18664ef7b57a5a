"""Turn labels into gold labels: store, assign, compare and adjudicate them. All SQL on labels and jobs is here."""
