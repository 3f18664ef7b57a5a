"""Extremes drawn for an audit, and how often they leak."""
