"""Reading files of labels that `export` wrote, CSV or JSON lines, row by row."""

import json
import math
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.annotations.files.detect import bad
from evenhand.annotations.files.label_files import CameWith
from evenhand.annotations.guideline.comparison import Place
from evenhand.annotations.guideline.free_tags import clean_tags
from evenhand.annotations.guideline.scheme import FIRST, SECOND
from evenhand.annotations.labels.checks import parse_marks
from evenhand.annotations.labels.operations import MOST_SECONDS
from evenhand.annotations.types import Form, Mark
from evenhand.core.errors import N_, BadFile, BadLine, EvenhandError
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import Row, Source, open_source, rows
from evenhand.core.files.timestamps import moment

FORMATS = ("labels", "package")
NEEDED = ("item", "annotator", "choice")
PLACES: dict[str, Place] = {FIRST: FIRST, SECOND: SECOND}
FORMS: dict[str, Form | None] = {"original": "original", "masked": "masked", "": None}


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One operation in a file of labels, for `import_labels`.

    `guideline` None: the newest version. `form_shown` None: the file does not say. `origin`, `app`, `came`: where the
    label came from, as a package records it ("", "", None: it does not).
    """

    line: int
    item: str
    annotator: str
    op_id: str
    choice: str | None
    reasons: tuple[str, ...] = ()
    extraneous: bool | None = None
    spans: tuple[Mark, ...] = ()
    note: str = ""
    seconds: float | None = None
    guideline: int | None = None
    after_reveal: bool = False
    form_shown: Form | None = None
    desk: str = ""
    revision: int = 0
    base: str | None = None
    superseded: bool = False
    created: str = ""
    tags: tuple[str, ...] = ()
    origin: str = ""
    app: str = ""
    came: CameWith | None = None
    left: Place | None = None  # of a comparison: which text was on the left; None: the file does not say


def is_labels(member: Member) -> bool:
    """Whether a table holds labels: it has their columns, and no text to judge or position in it."""
    columns = set(open_source(member.path, member.name).columns)
    return {*NEEDED, "op_id"} <= columns and not {"completion", "sentence", "句子"} & columns


def open_labels(path: Path | str, name: str | None = None) -> Source:
    """The file, if it holds labels. Raises BadFile if columns are missing."""
    source = open_source(path, name)
    missing = [column for column in NEEDED if column not in source.columns]
    if missing and source.columns:
        message = N_("{file} is not a file of labels: it needs the columns {needed}. Its columns: {found}.")
        raise BadFile(message, file=source.name, needed=", ".join(NEEDED), found=", ".join(source.columns[:20]))
    return source


def label_rows_in(source: Source) -> Iterator[LabelRow | BadLine]:
    """Each row as a value, or its problem with file, line and a reason code."""
    for row in rows(source):
        try:
            if row.problem is not None:
                raise row.problem
            yield _label(row)
        except BadLine as error:
            yield error.at(source.name, row.line)


def _label(row: Row) -> LabelRow:
    values = row.values
    item, annotator = (_text_value(values, key) for key in ("item", "annotator"))
    if not item or not annotator:
        bad("label", N_("A label needs an item and an annotator."))
    choice, written = _text_value(values, "choice") or None, _text_value(values, "created")
    # A hand-made file has no ids of operations; the same row always gets the same id.
    known = json.dumps([item, annotator, choice, written])
    base = _text_value(values, "base") or None
    return LabelRow(
        line=row.line, item=item, annotator=annotator, choice=choice, created=_moment(written), base=base,
        desk=_text_value(values, "desk"),
        op_id=_text_value(values, "op_id") or uuid.uuid5(uuid.NAMESPACE_OID, known).hex,
        reasons=_reasons(values.get("reasons")),
        extraneous=_flag(values, "extraneous"),
        spans=_spans(values.get("spans")),
        note=values["note"] if isinstance(values.get("note"), str) else "",
        seconds=_seconds(values.get("seconds")),
        guideline=_whole_number(values, "guideline"),
        after_reveal=bool(_flag(values, "after_reveal")),
        form_shown=_form(values),
        revision=_whole_number(values, "revision") or 0,
        superseded=bool(_flag(values, "superseded")),
        tags=_tags(values.get("tags")),
        origin=_text_value(values, "origin"),
        app=_text_value(values, "app"),
        came=_came(values),
        left=_left(values),
    )  # fmt: skip


def _text_value(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _left(values: Mapping[str, Any]) -> Place | None:
    text = _text_value(values, "left")
    if text and text not in PLACES:
        bad("label", N_("left must be first, second or empty, not {value}."), value=text[:40])
    return PLACES.get(text)


def _flag(values: Mapping[str, Any], key: str) -> bool | None:
    text = _text_value(values, key).lower()
    if text not in ("", "0", "1", "true", "false"):
        bad("label", N_("{key} must be 0, 1 or empty, not {value}."), key=key, value=text[:40])
    return None if not text else text in ("1", "true")


def _whole_number(values: Mapping[str, Any], key: str) -> int | None:
    text = _text_value(values, key)
    if text and not (text.removeprefix("-").isdecimal() and len(text) < 19):
        bad("label", N_("{key} must be a whole number, not {value}."), key=key, value=text[:40])
    return int(text) if text else None


def _reasons(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(one) for one in value)
    return tuple(part.strip() for part in str(value or "").split(";") if part.strip())


def _tags(value: Any) -> tuple[str, ...]:
    try:
        return clean_tags(_reasons(value))
    except EvenhandError as error:
        bad("label", error.message, **error.values)


def _spans(value: Any) -> tuple[Mark, ...]:
    try:
        return parse_marks(json.loads(value) if isinstance(value, str) and value.strip() else value or [])
    except (ValueError, RecursionError):
        bad("label", N_("The marks of a text must be a list such as {example}."), example='[[3, 6, "pronoun"]]')
    except EvenhandError as error:
        bad("label", error.message, **error.values)


def _seconds(value: Any) -> float | None:
    if value is None or value == "":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 <= seconds < MOST_SECONDS:
        bad("label", N_("The time on a text must be a number of seconds, at least 0 and below one billion."))
    return seconds


def _came(values: Mapping[str, Any]) -> CameWith | None:
    """Only a package says when its file was imported."""
    if _text_value(values, "origin") != "imported" or not _text_value(values, "label_file_created"):
        return None
    program, file, sha256 = (_text_value(values, key) for key in ("program", "label_file", "label_file_sha256"))
    created, undone = (_moment(_text_value(values, f"label_file_{key}")) for key in ("created", "undone"))
    return CameWith(program, file, sha256, created, undone or None)


def _form(values: Mapping[str, Any]) -> Form | None:
    text = _text_value(values, "form_shown")
    if text not in FORMS:
        bad("label", N_("Items must be shown as original or masked, not {value}."), value=text[:40])
    return FORMS[text]


def _moment(text: str) -> str:
    found = moment(text)
    if text and found is None:
        message = N_("{value} is not a time between 1970 and 2099 such as 2026-01-31T09:30:00+00:00.")
        bad("label", message, value=text[:40])
    return found or ""
