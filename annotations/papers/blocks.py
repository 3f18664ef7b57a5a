"""The parts of a short paper in any format: headings, paragraphs, lists, tables, verbatim text."""

from dataclasses import dataclass

from evenhand.core.text.sentences import control_character

LONGEST = 120  # characters of a cell
DASH = "—"


@dataclass(frozen=True, slots=True)
class Heading:
    """The title (level 1) or a section (2, 3)."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """A list without numbers."""

    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `right`: which columns are right-aligned; by default those in which every cell is a number."""

    heads: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    right: tuple[bool, ...] | None = None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Verbatim text, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A paragraph that begins with a question, in bold."""

    question: str
    answer: str


Block = Heading | Text | Points | Table | Verbatim | Answered

_BLANKS = str.maketrans("\t\n\r", "   ")


def one_line(text: str) -> str:
    """*text* on one line, without control characters."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """*text* without control characters, with plain blanks."""
    spaced = text.translate(_BLANKS)
    return "".join(sign for sign in spaced if not control_character(sign))


def cell(value: object) -> str:
    """A value as text of a table cell."""
    if value is None:
        return DASH
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def numbers(table: Table) -> list[bool]:
    """Whether each column holds only numbers."""
    if table.right is not None:
        return [bool(table.rows) and one for one in table.right]
    return [
        bool(table.rows) and all(row[at] is None or isinstance(row[at], int | float) for row in table.rows)
        for at in range(len(table.heads))
    ]
