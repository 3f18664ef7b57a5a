"""The commands `mine` and `pairs`: a corpus to candidates, and a list of keyword pairs against a corpus."""
