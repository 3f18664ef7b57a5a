"""A report of scored models for a paper's appendix: numbers as cells, cells as a table, all of it as one HTML file."""

from evenhand.core.report.html_file import write_report

__all__ = ["write_report"]
