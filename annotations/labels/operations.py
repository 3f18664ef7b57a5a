"""What a desk sends, checked for its form and turned into the columns that every table of labels has."""

import json
from collections.abc import Mapping
from sqlite3 import Connection
from typing import Any

from annotations.database.store import columns_and_marks
from annotations.guideline.free_tags import cleaned
from annotations.types import Guideline, Operation
from core.errors import N_, Refused
from core.text.sentences import control_character

LONGEST_NOTE = 4_000
LONGEST_ID = 100
MOST_SECONDS = 1e9  # on a text: with more, sums of many labels would not be numbers any more


def columns(operation: Operation, guideline: Guideline, superseded: bool, created: str) -> dict[str, Any]:
    """What the tables of first and of second labels both say of an operation; of one that takes back, nothing."""
    empty = operation.choice in (None, "skip")
    return {
        "op_id": operation.op_id,
        "guideline": guideline.id,
        "choice": None if empty else operation.choice,
        "reasons": json.dumps([] if empty else list(dict.fromkeys(operation.reasons))),
        "tags": json.dumps([] if empty else cleaned(operation.tags), ensure_ascii=False),
        "extraneous": None if empty or operation.extraneous is None else int(operation.extraneous),
        "spans": json.dumps([] if empty else sorted(operation.spans)),
        "note": "" if empty else operation.note.strip(),
        "seconds": operation.seconds,
        "form_shown": operation.form_shown,
        "desk": operation.desk,
        "revision": operation.revision,
        "base": operation.base,
        "superseded": int(superseded),
        "created": created,
    }


def insert_label(db: Connection, values: Mapping[str, Any]) -> int:
    """Append a label, a column each of *values*; returns its row id."""
    cursor = db.execute(f"INSERT INTO label {columns_and_marks(values)}", dict(values))
    return int(cursor.lastrowid or 0)


def check_ids(op_id: str, desk: str, revision: int) -> None:
    """Raise Refused where the ids of an operation or its revision cannot be stored."""
    for value in (op_id, desk):
        if not value or len(value) > LONGEST_ID or control_character(value):
            raise Refused(N_("An operation and its desk need an id of 1 to {most} characters."), most=LONGEST_ID)
    if not -(2**62) < revision < 2**62:
        raise Refused(N_("The revision of an operation is out of range."))


def check_form(operation: Operation) -> None:
    """Raise Refused where ids, note, time or revision cannot be stored."""
    check_ids(operation.op_id, operation.desk, operation.revision)
    if len(operation.note) > LONGEST_NOTE:
        raise Refused(N_("A note has at most {most} characters."), most=LONGEST_NOTE)
    try:
        operation.note.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(N_("The note holds half a character and cannot be stored.")) from error
    seconds = operation.seconds
    if seconds is not None and not 0 <= seconds < MOST_SECONDS:
        raise Refused(N_("The time on a sentence is a number of seconds, 0 or more."))
