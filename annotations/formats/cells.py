"""Cells of a CSV that a spreadsheet would run as a formula; see `core.cells`, which files of scores need too."""

from core.cells import neutralised, restored

__all__ = ["neutralised", "restored"]
