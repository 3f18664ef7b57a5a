"""Items with the labels that stand on them, in the order of import: for files that hold both."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from annotations.database.store import Store
from annotations.files.export_formats import Wanted
from annotations.files.label_tables import codes_of
from annotations.items.items import items as stored_items
from annotations.types import Item, Project

PAGE = 500  # items whose labels are read at once
MADE = ("op_id", "guideline", "form_shown", "after_reveal", "desk", "revision")  # how a label came about
_NAMES = (
    *("row", "annotator", "choice", "reasons", "extraneous", "spans", "note", "seconds", "guideline", "after_reveal"),
    *("form_shown", "op_id", "desk", "revision", "created"),
)
_QUERY = """
SELECT label.item, annotator.name, label.choice, label.reasons, label.extraneous, label.spans, label.note,
       label.seconds, guideline.version, label.after_reveal, label.form_shown, label.op_id, label.desk, label.revision,
       label.created
FROM assignment JOIN label ON label.id = assignment.latest JOIN annotator ON annotator.id = label.annotator
     JOIN guideline ON guideline.id = label.guideline
WHERE assignment.item IN ({marks}) AND label.choice IS NOT NULL ORDER BY label.item, label.annotator
"""


def origin(row: dict[str, Any]) -> dict[str, Any]:
    """What another program has no place for, of a row of `labelled_items`: whose label it was and how it came about.

    What was said stands here too, so that the way back can tell whether somebody changed it there.
    """
    said = {"said": [row["choice"], *row["reasons"]], "note": row["note"], "spans": row["spans"]}
    keys = (*MADE, "extraneous", "seconds", "created")
    return {"annotator": row["annotator"]} | {key: row[key] for key in keys} | said


def labelled_items(store: Store, project: Project, wish: Wanted) -> Iterator[tuple[Item, list[dict[str, Any]]]]:
    """Every item of the wish with its standing labels, one per annotator, as dicts.

    `annotator` is a code (A1, A2, ...) unless the wish wants names; `note` is "" where texts may not leave.
    """
    codes = {} if wish.names else codes_of(store, project)
    with_notes = wish.with_text(project)
    source = stored_items(store, project, accepted_only=wish.items == "accepted")
    while some := list(islice(source, PAGE)):
        said: dict[int, list[dict[str, Any]]] = {}
        query = _QUERY.format(marks=", ".join("?" * len(some)))
        for values in store.db.execute(query, [one.id for one in some]).fetchall():
            row = dict(zip(_NAMES, values, strict=True))
            row |= {"reasons": json.loads(row["reasons"]), "spans": json.loads(row["spans"])}
            row["extraneous"] = None if row["extraneous"] is None else bool(row["extraneous"])
            row["after_reveal"] = bool(row["after_reveal"])
            row["annotator"] = row["annotator"] if wish.names else codes.get(row["annotator"], "A?")
            row["note"] = row["note"] if with_notes else ""
            said.setdefault(row["row"], []).append(row)
        for item in some:
            yield item, said.get(item.id, [])
