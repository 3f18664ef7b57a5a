"""The process that holds models, and the app's handle on it."""
