"""Label Studio, doccano and Argilla."""
