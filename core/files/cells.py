"""Cells of a CSV that a spreadsheet would run as a formula; see `formula_cells`, which files of scores need too."""

from core.files.formula_cells import neutralised, restored

__all__ = ["neutralised", "restored"]
