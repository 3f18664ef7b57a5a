"""Lines of a concordance as rows of a file and as text for a terminal."""

import csv
import io
import re
from collections.abc import Iterable

from evenhand.core.concordance.counting import concordance
from evenhand.core.concordance.question import Line, Passage, Question
from evenhand.core.files.csv_out import neutralised
from evenhand.core.language import columns_wide

COLUMNS = ("document", "place", "left", "word", "right", "near")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def row(line: Line, asked: Question) -> tuple[str, int, str, str, str, str]:
    """One line as cells in the order of COLUMNS; several near words are joined by spaces, as they stand."""
    left, word, right = line.parts
    near = " ".join(line.sentence[start:end] for start, end, _ in line.near)
    return line.document, line.place, left, word, right, near


def lines_csv(texts: Iterable[Passage], asked: Question) -> str:
    """Every line of *texts* as a table (CSV) with COLUMNS; no spreadsheet runs a cell of it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)

    def write(line: Line) -> None:
        writer.writerow([neutralised(str(cell)) for cell in row(line, asked)])

    concordance(texts, asked, on_line=write, listed=0)
    return text.getvalue()


def terminal_line(line: Line, width: int) -> str:
    """One line with the word in the middle of *width* columns; nothing in it can steer a terminal."""
    left, word, right = (CONTROL.sub(" ", part) for part in line.parts)
    room = max(4, (width - columns_wide(word) - 4) // 2)
    while columns_wide(left) > room:
        left = left[1:]
    while columns_wide(right) > room:
        right = right[:-1]
    return " " * (room - columns_wide(left)) + f"{left} [{word}] {right}"
