"""Cells of a CSV that a spreadsheet would run as a formula: made harmless on the way out, restored on the way in.

Tables that people open and copies for spreadsheet programs are guarded so. Releases, exports of data, scores and tables
of runs are not: what they hold is the text (`core.files.csv_out.data_line`). Tables of runs of earlier versions are
guarded throughout, which `is_guarded` tells.

A cell that begins with = + - @, their full-width forms, a tab or a line break
gets an apostrophe in front (the rule of OWASP's page on CSV injection). A cell
that already has apostrophes before such a character gets one more, so taking
one away always gives back what was there.
"""

import re
from collections.abc import Iterable

DANGEROUS = re.compile("'*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
FIRST = frozenset("'=+-@\uff1d\uff0b\uff0d\uff20\t\r\n")  # what a match begins with: most cells need no further look
NEUTRALISED = re.compile("'+[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")


def neutralised(cell: str) -> str:
    """*cell* so that no spreadsheet runs it; `restored` undoes it exactly."""
    return "'" + cell if cell[:1] in FIRST and DANGEROUS.match(cell) else cell


def restored(cell: str) -> str:
    """*cell* as it was before `neutralised`."""
    return cell[1:] if NEUTRALISED.match(cell) else cell


def is_guarded(cells: Iterable[str]) -> bool:
    """Whether the texts of a table are guarded: some look so, and none stands bare that would have been."""
    guarded = False
    for cell in cells:
        if cell[:1] in FIRST:
            if cell[0] != "'" and DANGEROUS.match(cell):
                return False
            guarded = guarded or NEUTRALISED.match(cell) is not None
    return guarded
