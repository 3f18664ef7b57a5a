"""Export and import of settlements and comments in a package."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evenhand.annotations.adjudication.comments import insert_comment
from evenhand.annotations.adjudication.decisions import insert_settlement
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import NOT_TAKEN, check_shape
from evenhand.annotations.items.changes import set_settlement
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused

SETTLEMENT = ("op_id", "adjudicator", "action", "choice", "reasons", "extraneous", "spans", "why", "seen", "created")
COMMENT = ("op_id", "author", "text", "created")
LISTS = ("reasons", "spans", "seen")  # JSON in the database, lists in a file
COMMENTS = (
    "SELECT item.uid, annotator.name, whose.name, {columns} FROM comment"
    " JOIN published_item AS item ON item.id = comment.item"
    " LEFT JOIN annotator ON annotator.id = comment.annotator"
    " LEFT JOIN annotator AS whose ON whose.id = comment.thread WHERE comment.project = ? ORDER BY comment.id"
)


def each_decision(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Every settlement and comment of a project, oldest first, as flat dicts with `kind` and the item's public id.

    `codes`: name -> code; adjudicators without one become J1, J2, ... `private`: private threads too.
    """
    named = dict(codes)
    query = (
        "SELECT item.uid, {columns} FROM settlement JOIN published_item AS item ON item.id = settlement.item"
        " WHERE settlement.project = ? ORDER BY settlement.id"
    )
    columns = ", ".join(f"settlement.{name}" for name in SETTLEMENT)
    for uid, *rest in store.db.execute(query.format(columns=columns, kind="settlement"), (project.id,)):
        row = {"kind": "settlement", "item": uid} | dict(zip(SETTLEMENT, rest, strict=True))
        row |= {key: json.loads(row[key]) for key in LISTS}
        yield row | {"adjudicator": _coded(named, codes, row["adjudicator"])}
    columns = ", ".join(f"comment.{name}" for name in COMMENT)
    for uid, person, thread, *rest in store.db.execute(COMMENTS.format(columns=columns), (project.id,)):
        if thread and not private:
            continue
        row = {"kind": "comment", "item": uid} | dict(zip(COMMENT, rest, strict=True))
        # The name may have changed since; only the present one has a code.
        author = _coded(named, codes, person or row["author"]) if codes else row["author"]
        row |= {"author": author}
        row |= {key: named.get(name, name) for key, name in (("annotator", person), ("thread", thread)) if name}
        yield row


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
    if store.db.execute(f"SELECT 1 FROM {kind} WHERE op_id = ?", (row.get("op_id"),)).fetchone():
        return False
    query = "SELECT id FROM imported_item WHERE uid = ? AND project = ?"
    item = store.db.execute(query, (row.get("item"), project.id)).fetchone()
    if item is None:
        return False
    names = SETTLEMENT if kind == "settlement" else COMMENT
    values = {name: json.dumps(row.get(name)) if name in LISTS else row.get(name) for name in names}
    if kind == "comment":
        values |= {key: people.get(str(row.get(key))) for key in ("annotator", "thread")}
        if row.get("thread") and values["thread"] is None:
            raise Refused(N_("A private comment belongs to an annotator who is not in this package."))
    add: Callable[..., object] = insert_settlement if kind == "settlement" else insert_comment
    add(store.db, {"project": project.id, "item": item[0]} | values)
    return True


def _point_to_settlements(store: Store, project: Project) -> None:
    found = store.db.execute(
        "SELECT item, id, action FROM settlement WHERE project = ? ORDER BY id", (project.id,)
    ).fetchall()
    for item, row in {item: None if action == "reopen" else row for item, row, action in found}.items():
        set_settlement(store.db, item, row)
    recount_items(store, list({item for item, *_ in found}))
