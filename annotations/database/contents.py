"""Entries of the log with a hash over rows that have no entries of their own: imported items, a study's test and codes.

An entry for each item would double what an import writes. So each import gets one entry over its items as it is
published, and each study one as it is made. Older databases get the entry of an import at their next release.
"""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from evenhand.annotations.database.chain import append_start, canonical

ITEMS, STUDY = "items of import", "test and codes of study"  # how such entries begin: then their batch, or their study
# What never changes of an item; ids of rows have no part in it, but for their order.
_COLUMNS = (
    "item.uid, item.hash, item.text, item.second, item.context, item.start, item.stop, item.stem_start, item.stem_stop,"
    " item.keyword, item.counterpart, item.file, item.line, item.extra, cell.pair, cell.side"
)
_ITEMS = f"""
SELECT {_COLUMNS} FROM item JOIN cell ON cell.id = item.cell
WHERE item.id IN (SELECT id FROM item WHERE batch = ? UNION SELECT value FROM json_each(?)) ORDER BY item.id
"""
_QUESTIONS = "SELECT text, context, start, stop, answer FROM study_question WHERE study = ? ORDER BY id"
_CODES = "SELECT id, code_finished, code_screened_out, code_withdrew FROM study WHERE uid = ?"
_UNDONE = (  # events of a package are of another database
    "SELECT 1 FROM event WHERE project = ? AND action = 'import_undone' AND data ->> 'batch' = ?"
    " AND data ->> 'at' = (SELECT uid FROM database)"
)


def hash_of_items(db: sqlite3.Connection, batch: int, also: Collection[int] = ()) -> dict[str, Any]:
    """Return the number of items of an import and a SHA-256 over them; *also*: items (row ids) that it restores.

    One item at a time is in memory; half a second for 100,000.
    """
    number, digest = 0, hashlib.sha256()
    for row in db.execute(_ITEMS, (batch, json.dumps([*also]))):
        number += 1
        digest.update(f"{canonical(*row)}\n".encode())
    return {"rows": number, "hash": digest.hexdigest()}


def record_items(db: sqlite3.Connection, batch: int, created: str, hashed: Mapping[str, Any]) -> None:
    """Append the entry of an import, inside the transaction that publishes it."""
    append_start(db, {f"{ITEMS} {batch} {created}": hashed})


def imports_without_entry(db: sqlite3.Connection, project: int) -> list[tuple[int, str]]:
    """Return row id and moment of the published imports of a project that are older than these entries."""
    names: set[str] = set()
    for (body,) in db.execute("SELECT body FROM log WHERE kind = 'start'"):
        names.update(json.loads(body))
    query = "SELECT id, created FROM published_batch WHERE project = ?"
    return [row for row in db.execute(query, (project,)).fetchall() if f"{ITEMS} {row[0]} {row[1]}" not in names]


def record_study(db: sqlite3.Connection, uid: str) -> None:
    """Append the entry of a study (public id), inside the transaction that makes it.

    The hash has a salt, since a code has eight letters.
    """
    salt = secrets.token_hex(16)
    append_start(db, {f"{STUDY} {uid}": {"salt": salt, "hash": _hash_of_study(db, uid, salt)}})


def _hash_of_study(db: sqlite3.Connection, uid: str, salt: str) -> str:
    row, *codes = db.execute(_CODES, (uid,)).fetchone() or (0,)
    return hashlib.sha256(canonical(salt, codes, db.execute(_QUESTIONS, (row,)).fetchall()).encode()).hexdigest()


def differs(db: sqlite3.Connection, name: str, hashed: Mapping[str, Any]) -> bool:
    """Return whether the rows of an entry are others by now, or are gone without an event that says so."""
    if name.startswith(STUDY):
        return _hash_of_study(db, name.removeprefix(f"{STUDY} "), hashed["salt"]) != str(hashed["hash"])
    batch, _, created = name.removeprefix(f"{ITEMS} ").partition(" ")
    query = "SELECT id, published, project FROM batch WHERE id = ? AND created = ?"
    row = db.execute(query, (int(batch), created)).fetchone()
    if row is None:
        return True
    if row[1] == 0:
        return db.execute(_UNDONE, (row[2], row[0])).fetchone() is None
    return hash_of_items(db, row[0]) != hashed
