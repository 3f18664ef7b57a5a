"""The chain of hashes of the log: the functions that its triggers call, its heads, its start.

An entry's hash is the SHA-256 of the hash before it, a line end, and a line of JSON: number, kind, row, timestamp,
content of the row, data that goes with the row, hash in its annotator's own chain. An own chain has the labels of one
annotator in their order, so that this person can check them without a trace of other annotators' labels.

The items of an import and the test and codes of a study have no entries of their own: one entry holds a hash over them
(of an import as it is published, in an older database at the next release; of a study as it is made).
"""

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from evenhand.annotations.database.schema import statements
from evenhand.annotations.database.schema.log_kinds import EMPTY, KINDS, Kind, content, salts_of_rows, triggers

START = "start"  # the kind of an entry that begins the log of some tables, with a hash of all that is in them
DAY_MS = 86_400_000
_EMPTY_TEXTS = (None, *(text.strip("'") for text in EMPTY.strip("()").split(", ")))
# What JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=bytes.hex) makes for each text
# again, made once and without the search for circles: values of a row hold none.
_written = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, bytes.hex, json.encoder.encode_basestring, None, ":", ",", False, False, False
)


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of the log, or of a UTC day: its number, its time (UTC, ISO 8601), its hash in hex."""

    day: str
    entry: int
    at: str
    hash: str

    @property
    def number(self) -> int:
        """The day as a number: days since 1970-01-01."""
        return date.fromisoformat(self.day).toordinal() - date(1970, 1, 1).toordinal()


def _encode(value: Any) -> str:
    return "".join(_written(value, 0))


def canonical(*values: Any) -> str:
    """Return values as one line of JSON; bytes as hex."""
    return _encode(values)


def chained(before: bytes | None, *values: Any) -> bytes:
    """Return the SHA-256 of the previous hash, a line end, and *values*: a single text as it is, several as JSON."""
    line = values[0] if len(values) == 1 else _encode(values)
    return hashlib.sha256(f"{before.hex() if before else ''}\n{line}".encode()).digest()


def salted(salt: bytes | None, text: str | None) -> str:
    """Return the SHA-256 of a salt and a text, in hex; "" for an empty text."""
    if text in _EMPTY_TEXTS:
        return ""
    return hashlib.sha256((salt or b"") + str(text).encode()).hexdigest()


def _change(before: str | None, after: str | None) -> str:
    return "" if before == after else f"[{before or 'null'},{after or 'null'}]"


def now_ms() -> int:
    """Return the time in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def register(connection: sqlite3.Connection) -> None:
    """Let a connection write the log; without this the triggers refuse every label."""
    connection.create_function("log_row", -1, canonical, deterministic=True)
    connection.create_function("log_text", 2, salted, deterministic=True)
    connection.create_function("log_hash", -1, chained, deterministic=True)
    connection.create_function("log_change", 2, _change, deterministic=True)
    connection.create_function("log_now", 0, lambda: now_ms())


def begin(db: sqlite3.Connection, kinds: tuple[Kind, ...]) -> None:
    """Begin the log of some tables, inside the caller's transaction: one entry hashes all that is in them."""
    for statement in statements(salts_of_rows(kinds)):
        db.execute(statement)
    append_start(db, {kind.table: start_of(db, kind) for kind in kinds})
    columns = {
        kind.table: [row[1] for row in db.execute(f"PRAGMA table_info({kind.table})").fetchall()] for kind in kinds
    }
    for statement in statements(triggers(kinds, columns)):
        db.execute(statement)


def append_start(db: sqlite3.Connection, values: Mapping[str, Any]) -> int:
    """Append an entry that belongs to no row, inside the caller's transaction; returns its number.

    *values*: of a table, what it held when its log began; or any other name that no earlier such entry has.
    """
    body = canonical(values)[1:-1]
    before, at = last_entry(db), now_ms()
    entry, before_hash = (before.id + 1, before.hash) if before else (1, None)
    digest = chained(before_hash, entry, START, 0, at, body, None, None)
    db.execute(
        "INSERT INTO log (id, kind, row, at, body, hash) VALUES (?, ?, 0, ?, ?, ?)", (entry, START, at, body, digest)
    )
    return int(entry)


def start_of(db: sqlite3.Connection, kind: Kind) -> dict[str, Any]:
    """Return the first entry of a table: number of rows that count, last row id, hash over all of these rows."""
    result = [row_hash(key, text) for key, text in rows_of(db, kind)]
    last = f"SELECT max(id) FROM {kind.table}" if kind.key == "{r}.id" else "SELECT NULL"
    return {"rows": len(result), "last": db.execute(last).fetchone()[0], "hash": hash_of_rows(result)}


def rows_of(db: sqlite3.Connection, kind: Kind, *, scrubbed: bool = False) -> Iterator[tuple[Any, str]]:
    """Yield key and content of each current row of a table, if the log covers it."""
    key, text = kind.key.format(r=kind.table), content(kind, kind.table, scrubbed=scrubbed)
    beside = kind.beside.format(r=kind.table)
    for row in db.execute(f"SELECT {key}, {text}, {beside} FROM {kind.table}"):
        if row[1] is not None:
            yield row[0], row[1] if row[2] is None else f"{row[1]}{row[2]}"


def row_hash(key: Any, text: str) -> bytes:
    """Return the hash of one row that is older than the log."""
    return hashlib.sha256(f"{_encode(key)}\n{text}".encode()).digest()


def hash_of_rows(hashes: list[bytes]) -> str:
    """Return the hash over rows in any order."""
    return hashlib.sha256(b"".join(sorted(hashes))).hexdigest()


def scrub(db: sqlite3.Connection, kind: str, row: Any, part: str, text: str) -> bool:
    """Replace a text permanently by *text*, inside the caller's transaction; its hash is kept, its salt deleted.

    Returns whether there was a text to scrub. A text is scrubbed once.
    """
    of = next(log_kind for log_kind in KINDS if log_kind.table == kind)
    key = of.key.format(r=kind)
    found = db.execute(f"SELECT {part} FROM {kind} WHERE {key} = ?", (row,)).fetchone()
    where = "kind = ? AND row = ? AND part = ?"
    if found is None or found[0] == text or found[0] in _EMPTY_TEXTS:
        return False
    if db.execute(f"SELECT 1 FROM scrubbed WHERE {where}", (kind, row, part)).fetchone():
        return False
    salt = db.execute(f"SELECT salt FROM log_salt WHERE {where}", (kind, row, part)).fetchone()
    values = (kind, row, part, salted(salt[0] if salt else None, found[0]), text)
    db.execute("INSERT INTO scrubbed (kind, row, part, hash, text) VALUES (?, ?, ?, ?, ?)", values)
    return True


def forget_names(db: sqlite3.Connection, kind: str, row: int) -> None:
    """Destroy the salts of the names that an annotator or account had before the present one."""
    query = (
        f"DELETE FROM log_salt WHERE kind = ? AND row = ? AND part <> (SELECT 'name:' || name FROM {kind} WHERE id = ?)"
    )
    db.execute(query, (kind, row, row))


def forget_row(db: sqlite3.Connection, kind: str, row: int) -> None:
    """Destroy the salts of a row that was removed, so that its hashes in the log say nothing any more."""
    db.execute("DELETE FROM log_salt WHERE kind = ? AND row = ?", (kind, row))


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """An entry of an own chain: the operation, its time (unix ms), the line that is hashed, the hash in hex."""

    op_id: str
    at: int
    row: str
    hash: str


def own_chain(db: sqlite3.Connection, annotator: int) -> list[OwnEntry]:
    """Return the chain of one annotator (row id), oldest first: labels, second labels of retests, skips."""
    result: list[tuple[int, OwnEntry]] = []
    for kind in KINDS:
        if kind.own:
            key, line = kind.key.format(r=kind.table), content(kind, kind.table, scrubbed=True)
            query = (
                f"SELECT log.id, op_id, at, {line}, own FROM log JOIN {kind.table} ON {key} = log.row"
                f" WHERE log.annotator = ? AND log.kind = '{kind.table}'"
            )
            rows = db.execute(query, (annotator,))
            result += [(row[0], OwnEntry(row[1], row[2], row[3], row[4].hex())) for row in rows]
    return [one for _, one in sorted(result, key=lambda pair: pair[0])]


def own_days(db: sqlite3.Connection, annotator: int) -> set[int]:
    """Return the days since 1970 with an entry of an annotator (row id)."""
    query = f"SELECT DISTINCT at / {DAY_MS} FROM log WHERE annotator = ?"
    return {day for (day,) in db.execute(query, (annotator,))}


def moment_of(at: int) -> str:
    """Return Unix milliseconds as UTC, ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_DAYS = """
WITH RECURSIVE found(day) AS (
    SELECT min(at / 86400000) FROM log
    UNION ALL SELECT (SELECT min(at / 86400000) FROM log WHERE at / 86400000 > found.day) FROM found WHERE day NOT NULL
)
SELECT log.id, log.at, log.hash FROM found
JOIN log ON log.id = (SELECT max(id) FROM log WHERE at / 86400000 = found.day)
WHERE found.day NOT NULL AND found.day < :before ORDER BY found.day
"""


class LastEntry(NamedTuple):
    """The last entry of the log: its number, its time (unix milliseconds), its hash, and the table of its row."""

    id: int
    at: int
    hash: bytes
    kind: str


def last_entry(db: sqlite3.Connection) -> LastEntry | None:
    """Return the last entry of the log; None before the first."""
    row = db.execute("SELECT id, at, hash, kind FROM log ORDER BY id DESC LIMIT 1").fetchone()
    return row and LastEntry(*row)


def head(db: sqlite3.Connection) -> Head:
    """Return the last entry of the log, which every database has."""
    entry = last_entry(db)
    assert entry is not None
    return _head(entry[:3])


def daily_heads(db: sqlite3.Connection) -> list[Head]:
    """Return the last entry of each UTC day that is over, oldest first; days without an entry are left out."""
    return [_head(row) for row in db.execute(_DAYS, {"before": now_ms() // DAY_MS}).fetchall()]


def _head(row: tuple[int, int, bytes]) -> Head:
    at = moment_of(row[1])
    return Head(at[:10], row[0], at, row[2].hex())


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
    """Return row id and time of the published imports of a project that are older than these entries."""
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
