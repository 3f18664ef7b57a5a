"""Verification of the log: every entry is computed again from the tables, and every row must have its entry.

The chain proves order: an entry cannot be changed, removed, inserted or moved without changing every hash after it.
The owner of the file could still compute all hashes again. So releases and the records of annotators hold the head of
each day: compare it with `python cli.py log head`.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from evenhand.annotations.database.hash_chain import (
    ITEMS,
    START,
    STUDY,
    chained,
    differs,
    hash_of_rows,
    moment_of,
    row_hash,
    rows_of,
)
from evenhand.annotations.database.migrations import RESTORED
from evenhand.annotations.database.schema.log_kinds import KINDS, Kind, content
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.items.check_derived import StaleItem, stale_counts, stale_items
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.release.stored_releases import damaged_files
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError

CHANGED = N_("Log entry {entry} is invalid: the row {row} of {kind}, or the entry itself, was changed.")
CHANGED_ENTRY = N_("Log entry {entry} ({kind} {row}) is invalid: it was changed.")
MISSING = N_("Log entry {entry} is missing.")
MISSING_ROW = N_("Row {row} of {kind} is missing, although log entry {entry} refers to it.")
MOVED = N_("Log entry {entry} is out of order: its original position was {place}.")
TWICE = N_("Log entry {entry} refers to row {row} of {kind}, which already has an entry.")
UNKNOWN = N_("Log entry {entry} refers to {kind}, which this version does not know.")
NO_ENTRY = N_("Row {row} of {kind} has no log entry: it was added outside the app, or its entry is missing.")
LATER = N_("Row {row} of {kind} does not match its last log entry ({entry}): it was changed outside the app.")
OLDER = N_("Rows of {kind} older than the log do not match their state when the log began (entry 1).")
TEXT = N_("Text {row} of {kind} was scrubbed, but other content is in its place.")
SALT = N_("Row {row} of {kind} has a salt but no text: it was added outside the app.")
CHANGED_ITEMS = N_(
    "Items of the import {name} do not match log entry {entry}: an item was changed, added or removed outside the app."
)
CHANGED_STUDY = N_("The test or the codes of the study {name} do not match log entry {entry}: they were changed.")
REFERENCE = N_("Row {row} of {kind} refers to a row of {other} that does not exist: it was changed outside the app.")
FILE = N_("File {row} of a release does not match what was frozen (entry {entry}).")

_KINDS = {kind.table: kind for kind in KINDS}
_ENTRIES = "SELECT id, kind, row, at, body, annotator, own, hash FROM log ORDER BY id"
Row = tuple[int, str, Any, int, str | None, int | None, bytes | None, bytes]


class Broken(EvenhandError):
    """The log does not hold; the message names the first row."""


@dataclass(frozen=True, slots=True)
class Verified:
    """What holds: the number of entries by kind, the last hash in hex, the moment of the first entry (unix ms).

    `restored`: number of an entry -> names of triggers that were missing or changed, and that the app restored then.
    """

    entries: int
    kinds: dict[str, int]
    head: str
    began: int
    restored: dict[int, list[str]]


@dataclass(frozen=True, slots=True)
class Derived:
    """The check of what is derived in one project.

    `items`: those whose stored gold label, status or split does not follow from their labels and decisions. `counts`:
    derived counts that are wrong, with the number of their wrong rows. `recounting`: whether the project is being
    recounted after a change of settings, so that its items were not checked.
    """

    project: str
    items: tuple[StaleItem, ...]
    counts: dict[str, int]
    recounting: bool

    @property
    def holds(self) -> bool:
        """Tell whether no problem was found."""
        return not self.items and not self.counts


@dataclass(slots=True)
class _Seen:
    """What the entries say: rows that were appended, and the last state of those that change."""

    appended: dict[str, set[Any]] = field(
        default_factory=lambda: {log_kind.table: set() for log_kind in KINDS if not log_kind.watched}
    )
    # The digest of the content after the last entry (None: no row), its number, and the content before the first one.
    states: dict[str, dict[Any, tuple[bytes | None, int, str | None]]] = field(
        default_factory=lambda: {log_kind.table: {} for log_kind in KINDS if log_kind.watched}
    )
    own: dict[int, bytes] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)


@consistent_read
def verify(store: Store) -> Verified:
    """Check the whole log. Raises Broken with a sentence that names the first row that does not hold."""
    seen, before, began, expected = _Seen(), None, 0, 1
    start: dict[str, Any] = {}
    restored: dict[int, list[str]] = {}
    names: dict[str, int] = {}
    try:
        for row in store.db.execute(_ENTRIES):
            if row[0] != expected:
                raise Broken(MISSING, entry=expected)
            if row[1] == START:
                names |= dict.fromkeys(_check_start(store.db, row, before, start, restored), row[0])
                began = began or row[3]
            else:
                _check_entry(store.db, row, before, seen)
            before, expected = row[7], expected + 1
            seen.kinds[row[1]] = seen.kinds.get(row[1], 0) + 1
        if before is None or not start:
            raise Broken(MISSING, entry=1)
        for kind in KINDS:
            # Every row of a table has its entry, or was there before the log and has not changed since.
            first = start.get(kind.table) or {}
            of_kind = _appended_rows(store.db, kind, seen, first)
            older = list(_changed_rows(store.db, kind, seen) if kind.watched else of_kind)
            if len(older) != first.get("rows", 0) or hash_of_rows(older) != first.get("hash", hash_of_rows([])):
                raise Broken(OLDER, kind=kind.table)
        # Items of imports, and tests and codes of studies, are what one entry for all of them says.
        for name, entry in names.items():
            if name.startswith((ITEMS, STUDY)) and differs(store.db, name, start[name]):
                message = CHANGED_ITEMS if name.startswith(ITEMS) else CHANGED_STUDY
                raise Broken(message, entry=entry, name=name.removeprefix(ITEMS).removeprefix(STUDY).strip())
        _check_scrubbed(store.db)
        # A hash over a public id does not tell a reference to a row that is not there from none.
        if reference := store.db.execute("PRAGMA foreign_key_check").fetchone():
            raise Broken(REFERENCE, kind=reference[0], row=reference[1], other=reference[2])
        _check_files(store)
    except (ValueError, TypeError, LookupError, OverflowError, sqlite3.DataError) as error:
        raise Broken(CHANGED_ENTRY, entry=expected, kind="", row=str(error)[:80]) from error
    return Verified(expected - 1, seen.kinds, before.hex(), began, restored)


def _check_start(
    db: sqlite3.Connection, row: Row, before: bytes | None, start: dict[str, Any], restored: dict[int, list[str]]
) -> list[str]:
    """Check an entry that belongs to no row; return the names that it has something to say of.

    These are tables whose log it begins, imports and studies, and triggers that were restored. What it says goes into
    *start* and *restored*.
    """
    entry, kind, key, _at, body, who, own, _hash = row
    if (key, who, own) != (0, None, None) or not _fits(row, before, body, None):
        place = _place(db, row, body, None)
        if place is not None:
            raise Broken(MOVED, entry=entry, place=place)
        raise Broken(CHANGED_ENTRY, entry=entry, kind=kind, row=key)
    data = json.loads(body or "{}")
    if start.keys() & data.keys():
        raise Broken(CHANGED_ENTRY, entry=entry, kind=kind, row=key)
    start |= data
    for name in data:
        if name.startswith(RESTORED):
            restored[entry] = [*data[name]["missing"], *data[name]["changed"]]
    return list(data)


def _check_entry(db: sqlite3.Connection, row: Row, before: bytes | None, seen: _Seen) -> None:
    entry, name, key, _at, body, who, own, _hash = row
    kind = _KINDS.get(name)
    if kind is None:
        raise Broken(UNKNOWN, entry=entry, kind=str(name)[:40])
    text, beside, whose = (body, None, None) if kind.watched else _content(db, kind, key, entry)
    if not _fits(row, before, text, beside):
        place = _place(db, row, text, beside)
        if place is not None:
            raise Broken(MOVED, entry=entry, place=place)
        raise Broken(CHANGED_ENTRY if kind.watched else CHANGED, entry=entry, kind=name, row=key)
    if kind.own:
        if whose is None or whose != who or own != chained(seen.own.get(whose), text):
            raise Broken(CHANGED, entry=entry, kind=name, row=key)
        seen.own[whose] = own
    elif who is not None or own is not None:
        raise Broken(CHANGED_ENTRY, entry=entry, kind=name, row=key)
    if kind.watched:
        _follow(seen.states[name], row)
    elif body is not None:
        raise Broken(CHANGED_ENTRY, entry=entry, kind=name, row=key)
    elif key in seen.appended[name]:
        raise Broken(TWICE, entry=entry, kind=name, row=key)
    else:
        seen.appended[name].add(key)


def _fits(row: Row, before: bytes | None, text: Any, beside: Any, place: int | None = None) -> bool:
    entry, kind, key, at, _body, _who, own, data = row
    return chained(before, place or entry, kind, key, at, text, beside, own) == data


def _place(db: sqlite3.Connection, row: Row, text: Any, beside: Any) -> int | None:
    """Return the place at which an entry was hashed, if it is not its own."""
    before: bytes | None = None
    for place, found in db.execute("SELECT id, hash FROM log ORDER BY id").fetchall():
        # If two neighbours have swapped places, the hash before this entry is at the former place of this entry.
        if place != row[0] and (_fits(row, before, text, beside, place) or _fits(row, found, text, beside, place)):
            return int(place)
        before = found
    return None


def _content(db: sqlite3.Connection, kind: Kind, key: Any, entry: int) -> tuple[str, str | None, int | None]:
    """Return the present content of an appended row, the values hashed with it, and whose own chain it is in."""
    row = db.execute(_query(kind), (key,)).fetchone()
    if row is None or row[0] is None:
        raise Broken(MISSING_ROW, entry=entry, kind=kind.table, row=key)
    return row[0], row[1], row[2]


@cache
def _query(kind: Kind) -> str:
    row, own = kind.table, kind.own.format(r=kind.table) or "NULL"
    where = f"{kind.key.format(r=row)} = ?1"
    if row == "label_of_file":  # its key in parts, so that the index serves
        where = "file = substr(?1, 1, instr(?1, '/') - 1) AND label = substr(?1, instr(?1, '/') + 1)"
    text = content(kind, row, scrubbed=True)
    return f"SELECT {text}, {kind.beside.format(r=row)}, {own} FROM {row} WHERE {where}"


def _follow(states: dict[Any, tuple[bytes | None, int, str | None]], row: Row) -> None:
    """Advance to the state after an entry of a changeable row; the state before it must be the last known one."""
    entry, name, key, _at, body, *_rest = row
    parts = json.loads(body or "")
    if not isinstance(parts, list) or len(parts) != 2:
        raise Broken(CHANGED_ENTRY, entry=entry, kind=name, row=key)
    before, after = (None if part is None else _digest(_compact(part)) for part in parts)
    if key in states:
        last, _entry, first = states[key]
        if last != before:
            raise Broken(LATER, entry=states[key][1], kind=name, row=key)
        states[key] = (after, entry, first)
    else:
        states[key] = (after, entry, None if parts[0] is None else _compact(parts[0]))


def _compact(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _appended_rows(db: sqlite3.Connection, kind: Kind, seen: _Seen, start: Mapping[str, Any]) -> Iterator[bytes]:
    entries, last, number = seen.appended[kind.table], start.get("last"), start.get("rows", 0)
    for key, text in rows_of(db, kind, scrubbed=True):
        if key in entries:
            continue
        if not number or (last is not None and key > last):
            raise Broken(NO_ENTRY, kind=kind.table, row=key)
        yield row_hash(key, text)


def _changed_rows(db: sqlite3.Connection, kind: Kind, seen: _Seen) -> Iterator[bytes]:
    states = seen.states[kind.table]
    there = set()
    for key, text in rows_of(db, kind):
        there.add(key)
        if key not in states:
            yield row_hash(key, text)
        elif states[key][0] != _digest(text):
            raise Broken(LATER, kind=kind.table, row=key, entry=states[key][1])
    for key, (last, entry, first) in states.items():
        if last is not None and key not in there:
            raise Broken(MISSING_ROW, kind=kind.table, row=key, entry=entry)
        if first is not None:
            yield row_hash(key, first)


def _check_scrubbed(db: sqlite3.Connection) -> None:
    """Check that a scrubbed text holds the recorded replacement, and that only texts have salts."""
    for kind in KINDS:
        for text in kind.texts if not kind.watched else []:
            part, row = text.partition(".")[2], kind.table
            now = text.format(r=row)
            for table, wrong, message in (
                ("scrubbed", f"{now} IS NOT scrubbed.text", TEXT),
                ("log_salt", f"ifnull({now}, '') IN ('', '[]', '{{}}')", SALT),
            ):
                query = (
                    f"SELECT {table}.row FROM {table} LEFT JOIN {row} ON {kind.key.format(r=row)} = {table}.row"
                    f" WHERE kind = '{row}' AND part = '{part}' AND {wrong} LIMIT 1"
                )
                if found := db.execute(query).fetchone():
                    raise Broken(message, kind=row, row=found[0])


def _check_files(store: Store) -> None:
    """Raise Broken if a file of a release does not match its hash in the log."""
    for version, name in damaged_files(store):
        query = (
            "SELECT ifnull(max(log.id), 1) FROM log JOIN release ON release.id = log.row"
            " WHERE log.kind = 'release' AND release.version = ?"
        )
        entry = store.db.execute(query, (version,)).fetchone()[0]
        raise Broken(FILE, row=name, entry=entry)


def verify_project(store: Store, uid: str) -> tuple[Verified, int]:
    """Check the log, one chain through every project; return the result and the number of a project's labels in it."""
    verified = verify(store)
    rows = (
        "log JOIN label ON label.id = log.row JOIN project ON project.id = label.project"
        " WHERE log.kind = 'label' AND project.uid = ?"
    )
    return verified, store.count(rows, (uid,))


def verify_derived(store: Store, only: Project | None = None) -> list[Derived]:
    """Decide gold label, status and split of every item again, and count again; one result for each project.

    `only`: this project alone. The log covers labels, decisions and settings; what follows from them has no entry.
    """
    every = [only] if only else [*projects(store), *projects(store, archived=True)]
    return [_derived(store, project) for project in every]


@consistent_read
def _derived(store: Store, project: Project) -> Derived:
    recounting = open_recount(store, project) is not None
    return Derived(project.name, tuple(stale_items(store, project)), stale_counts(store, project), recounting)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry: its number, its time (UTC), the table and the row it is about, [before, after] as JSON or None."""

    entry: int
    at: str
    kind: str
    row: Any
    body: str | None
    hash: str


def entries(store: Store, *, kind: str | None = None, last: int = 20) -> list[LogEntry]:
    """Return the newest entries, in their order."""
    rows = store.db.execute(
        "SELECT id, at, kind, row, body, hash FROM log WHERE :kind IS NULL OR kind = :kind"
        " ORDER BY id DESC LIMIT :last",
        {"kind": kind, "last": last},
    ).fetchall()
    return [LogEntry(row[0], moment_of(row[1]), row[2], row[3], row[4], row[5].hex()) for row in reversed(rows)]
