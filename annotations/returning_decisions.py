"""Settlements and comments that leave with a package and come back with it."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotations.gold import settle
from annotations.people import annotators
from annotations.returning import insert
from annotations.store import Store
from annotations.types import Project
from core.errors import N_, Refused

SETTLEMENT = ("op_id", "adjudicator", "action", "choice", "reasons", "extraneous", "spans", "why", "seen", "created")
COMMENT = ("op_id", "author", "text", "created")
LISTS = ("reasons", "spans", "seen")  # JSON in the database, lists in a file


def each_decision(store: Store, project: Project, codes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Every settlement and comment of a project, oldest first, as flat dicts with `kind` and the item's public id.

    `codes`: what stands for a name; adjudicators without one become J1, J2, ...
    """
    named = dict(codes)
    for kind, names in (("settlement", SETTLEMENT), ("comment", COMMENT)):
        columns = ", ".join(f"{kind}.{name}" for name in names)
        who = "annotator.name" if kind == "comment" else "NULL"
        joined = "LEFT JOIN annotator ON annotator.id = comment.annotator" if kind == "comment" else ""
        for uid, person, *rest in store.db.execute(
            f"SELECT item.uid, {who}, {columns} FROM {kind} JOIN item ON item.id = {kind}.item {joined}"
            f" WHERE {kind}.project = ? ORDER BY {kind}.id",
            (project.id,),
        ):
            row: dict[str, Any] = {"kind": kind, "item": uid} | dict(zip(names, rest, strict=True))
            for key in row.keys() & set(LISTS):
                row[key] = json.loads(row[key])
            if codes:
                key = "author" if kind == "comment" else "adjudicator"
                row[key] = named.setdefault(row[key], f"J{len(named) - len(codes) + 1}")
            yield row | ({"annotator": named.get(person, person)} if person else {})


def store_decisions(store: Store, project: Project, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append settlements and comments that `each_decision` gave, after the labels; returns how many are new.

    Raises Refused for a row that the database does not take; then none of them is stored.
    """
    new = 0
    people = {one.name: one.id for one in annotators(store, project, active=False)}
    with store.write():
        for row in rows:
            try:
                new += _stored(store, project, row, people)
            except (sqlite3.IntegrityError, sqlite3.ProgrammingError, TypeError) as error:
                raise Refused(N_("The database refused this decision ({why})."), why=str(error)) from error
        _point_to_settlements(store, project)
    return new


def _stored(store: Store, project: Project, row: Mapping[str, Any], people: Mapping[str, int]) -> bool:
    kind = row.get("kind")
    if kind not in ("settlement", "comment"):
        raise Refused(N_("A decision is a settlement or a comment."))
    if store.db.execute(f"SELECT 1 FROM {kind} WHERE op_id = ?", (row.get("op_id"),)).fetchone():
        return False
    query = "SELECT id FROM item WHERE uid = ? AND project = ?"
    item = store.db.execute(query, (row.get("item"), project.id)).fetchone()
    if item is None:
        return False
    names = SETTLEMENT if kind == "settlement" else COMMENT
    values = {name: json.dumps(row.get(name)) if name in LISTS else row.get(name) for name in names}
    if kind == "comment":
        values["annotator"] = people.get(str(row.get("annotator")))
    insert(store, kind, {"project": project.id, "item": item[0]} | values)
    return True


def _point_to_settlements(store: Store, project: Project) -> None:
    found = store.db.execute(
        "SELECT item, id, action FROM settlement WHERE project = ? ORDER BY id", (project.id,)
    ).fetchall()
    for item, row in {item: None if action == "reopen" else row for item, row, action in found}.items():
        store.db.execute("UPDATE item SET settlement = ? WHERE id = ? AND settlement IS NOT ?", (row, item, row))
        settle(store, item)
