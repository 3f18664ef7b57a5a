"""A report of scored models for a paper's appendix: numbers as cells, cells as a table, all of it as one HTML file."""
