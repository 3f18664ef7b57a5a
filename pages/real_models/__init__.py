"""Published models: scores of real models that others computed."""
