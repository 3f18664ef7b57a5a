"""Serve the app: who may reach it, as whom, and the forms by which people sign in."""
