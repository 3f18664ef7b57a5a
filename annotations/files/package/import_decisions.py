"""Export and import of settlements and comments in a package."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evenhand.annotations.adjudication.comments import insert_comment
from evenhand.annotations.adjudication.decisions import insert_settlement
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import NOT_TAKEN, check_shape
from evenhand.annotations.files.package.records import (
    COMMENT,
    JSON,
    SETTLEMENT,
    count_rows,
    last_settlements,
    records_of,
    row_id,
)
from evenhand.annotations.items.changes import set_settlement
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused


def each_decision(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Every settlement and comment of a project, oldest first, as flat dicts with `kind` and the item's public id.

    `codes`: name -> code; adjudicators without one become J1, J2, ... `private`: private threads too.
    """
    named = dict(codes)
    for row in records_of(store, project, "settlement"):
        yield row | {"adjudicator": _coded(named, codes, row["adjudicator"])}
    for row in records_of(store, project, "comment"):
        if row.get("thread") and not private:
            continue
        # The name may have changed since; only the present one has a code.
        row["author"] = _coded(named, codes, row.get("annotator") or row["author"]) if codes else row["author"]
        yield row | {key: named.get(row[key], row[key]) for key in ("annotator", "thread") if key in row}


def _coded(named: dict[str, str], codes: Mapping[str, str], name: str) -> str:
    return named.setdefault(name, f"J{len(named) - len(codes) + 1}") if codes else name


def store_decisions(store: Store, project: Project, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append settlements and comments of `each_decision`, after the labels; returns how many are new.

    Raises Refused for a row that the database refuses; then none is stored.
    """
    new = 0
    people = {one.name: one.id for one in annotators(store, project, active=False)}
    with store.write():
        for number, row in enumerate(rows, 1):
            try:
                check_shape(row)
                new += _stored(store, project, row, people)
            except NOT_TAKEN as error:
                message = N_("The database rejected decision {line} of this package ({why}).")
                raise Refused(message, line=number, why=repr(error)) from error
        _point_to_settlements(store, project)
    return new


def _stored(store: Store, project: Project, row: Mapping[str, Any], people: Mapping[str, int]) -> bool:
    kind = row.get("kind")
    if kind not in ("settlement", "comment"):
        raise Refused(N_("A decision is either a settlement or a comment."))
    item = row_id(store, project, "item", row.get("item"))
    if item is None or count_rows(store, kind, op_id=row.get("op_id")):
        return False
    names = SETTLEMENT if kind == "settlement" else COMMENT
    values = {name: json.dumps(row.get(name)) if name in JSON else row.get(name) for name in names}
    if kind == "comment":
        values |= {key: people.get(str(row.get(key))) for key in ("annotator", "thread")}
        if row.get("thread") and values["thread"] is None:
            raise Refused(N_("A private comment belongs to an annotator who is not in this package."))
    add: Callable[..., object] = insert_settlement if kind == "settlement" else insert_comment
    add(store.db, {"project": project.id, "item": item} | values)
    return True


def _point_to_settlements(store: Store, project: Project) -> None:
    last = last_settlements(store, project)
    for item, settlement in last:
        set_settlement(store.db, item, settlement)
    recount_items(store, [item for item, _ in last])
