"""Files of other labelling programs: tasks, each a text with its annotations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.annotations.labels.operations import MOST_SECONDS
from evenhand.core.files.timestamps import moment

TaskFormat = Literal["label-studio", "doccano", "argilla"]
TASKS: tuple[TaskFormat, ...] = ("label-studio", "doccano", "argilla")
PROGRAMS = {"label-studio": "Label Studio", "doccano": "doccano", "argilla": "Argilla"}  # as they write their names
OWN = "evenhand"  # with an annotation: data that the other program has no field for


@dataclass(slots=True)
class TaskLabel:
    """One annotation of a text, in the words of the file.

    `who`: the annotator in the file, or "". `names`: choices and reasons. `marks`: (start, end, name), half-open code
    points. `flag`: extraneous gendered language. `seconds`: time on the text. `key`: distinguishes annotations of the
    same annotator. `truth`: it is the file's ground truth. `other`: number of answers of unsupported kinds (ratings,
    relations). `made`: the data that this app exported with the annotation.
    """

    who: str = ""
    names: list[str] = field(default_factory=list)
    marks: list[tuple[int, int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    flag: bool | None = None
    seconds: float | None = None
    created: str = ""
    key: str = ""
    skipped: bool = False
    truth: bool = False
    other: int = 0
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """All notes in one."""
        return "\n".join(self.notes)


@dataclass(frozen=True, slots=True)
class Task:
    """One text: `values` as a row of a table would have them, and the labels on it.

    `predictions`, `drafts`: their numbers; they are not imported.
    """

    values: dict[str, Any]
    labels: tuple[TaskLabel, ...] = ()
    predictions: int = 0
    drafts: int = 0

    @property
    def words(self) -> set[tuple[int, int]]:
        """All marked places."""
        return {(start, end) for label in self.labels for start, end, _name in label.marks}


def whole_number(value: Any) -> int | None:
    """Return *value* if it is a whole number of 0 or more (12, 12.0, "12"), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else None


def span_in_text(text: str, start: Any, end: Any, quoted: Any = None) -> tuple[int, int] | None:
    """Return the marked place in code points, or None.

    *quoted* is the marked text in the file. If it is not at that place, the numbers are UTF-16 units of a browser,
    which count characters beyond the basic plane (emoji, rare characters) twice.
    """
    first, last = whole_number(start), whole_number(end)
    if first is None or last is None or not first < last:
        return None
    if isinstance(quoted, str) and quoted and text[first:last] != quoted:
        units = text.encode("utf-16-le", "surrogatepass")
        cut = units[2 * first : 2 * last].decode("utf-16-le", "replace")
        if cut == quoted:
            first = len(units[: 2 * first].decode("utf-16-le", "replace"))
            last = first + len(cut)
    return (first, last) if last <= len(text) else None


def strings(value: Any) -> tuple[str, ...]:
    """Return the names in a value: a string, or the strings and numbers of a list."""
    if isinstance(value, str):
        return (value.strip(),) if value.strip() else ()
    if isinstance(value, list):
        return tuple(str(entry).strip() for entry in value if isinstance(entry, str | int) and str(entry).strip())
    return ()


def seconds_of(value: Any) -> float | None:
    """Return a time in seconds, or None for another value."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < MOST_SECONDS else None


def moment_of(value: Any) -> str:
    """Return a time in the format of the database, or "" for another value."""
    return moment(value) or ""
