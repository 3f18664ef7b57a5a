"""Releases in the database: written in short transactions, visible when complete, never changed after that.

Their files are written line by line, and stored compressed with length and SHA-256.
"""

import hashlib
import json
import sqlite3
import time
import uuid
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from evenhand.annotations.database.bulk_writes import in_commits
from evenhand.annotations.database.events import record
from evenhand.annotations.database.hash_chain import DAY_MS
from evenhand.annotations.database.store import Store, delete_rows, insert, update_rows
from evenhand.annotations.items.batch import PUBLISHED
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, EvenhandError, NotAllowed, NotFound
from evenhand.core.files.timestamps import timestamp
from evenhand.core.processes import is_alive, this_process

PART_BYTES = 1 << 20  # of a row in the database
READ_AT_ONCE = 1 << 14
PACKED_AT_ONCE = 1 << 16
MOST_GIVEN = 16  # pieces of a file that wait for the thread that packs


@dataclass(frozen=True, slots=True)
class FrozenFile:
    """One file of a release. `size`: its bytes, `deflated`: its content as zlib packs it."""

    name: str
    sha256: str
    size: int
    deflated: bytes

    def parts(self) -> list[bytes]:
        """Return the packed content in pieces of at most 1 MB; an empty file has one."""
        return [self.deflated[at : at + PART_BYTES] for at in range(0, len(self.deflated), PART_BYTES)]

    def content(self) -> bytes:
        """Return the content of the file."""
        return zlib.decompress(self.deflated)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a file of text with their ends; the whole file is never in memory."""
        unpacker, rest = zlib.decompressobj(), b""
        for at in range(0, len(self.deflated), READ_AT_ONCE):
            *whole, rest = (rest + unpacker.decompress(self.deflated[at : at + READ_AT_ONCE])).split(b"\n")
            yield from (line.decode() + "\n" for line in whole)
        if rest:
            yield rest.decode()


class Freezing:
    """A file of text in UTF-8 that is being written; lines hold their own line ends.

    The second argument is one thread that packs while the caller writes further lines, if another core is free for it.
    """

    def __init__(self, name: str, beside: ThreadPoolExecutor | None = None) -> None:
        self.name, self._packed, self._size = name, bytearray(), 0
        self._packer, self._digest = zlib.compressobj(6), hashlib.sha256()
        self._held: list[str] = []
        self._length = 0
        self._beside, self._given = beside, deque[Future[None]]()

    def add(self, lines: Iterable[str]) -> None:
        """Write further lines; they are read once."""
        for line in lines:
            self._held.append(line)
            self._length += len(line)
            if self._length >= PACKED_AT_ONCE:
                self._pack()

    def done(self) -> FrozenFile:
        """Return the complete file."""
        self._pack()
        self._wait(0)
        self._packed += self._packer.flush()
        return FrozenFile(self.name, self._digest.hexdigest(), self._size, bytes(self._packed))

    def _pack(self) -> None:
        content = "".join(self._held).encode()
        self._held, self._length = [], 0
        if self._beside is None:
            self._take(content)
        else:
            self._given.append(self._beside.submit(self._take, content))
            self._wait(MOST_GIVEN)

    def _take(self, content: bytes) -> None:
        self._digest.update(content)
        self._size += len(content)
        self._packed += self._packer.compress(content)

    def _wait(self, most: int) -> None:
        """Wait until at most *most* pieces are not packed."""
        while len(self._given) > most:
            self._given.popleft().result()


def freeze(name: str, lines: Iterable[str], beside: ThreadPoolExecutor | None = None) -> FrozenFile:
    """Return a complete file of these lines; the last argument is the thread of `Freezing`."""
    file = Freezing(name, beside)
    file.add(lines)
    return file.done()


def freeze_bytes(name: str, content: bytes) -> FrozenFile:
    """Return a complete file with this content."""
    return FrozenFile(name, hashlib.sha256(content).hexdigest(), len(content), zlib.compress(content, 6))


def pretty(values: Mapping[str, Any]) -> str:
    """Return one JSON object for people to read, with its line end."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


_ITEM = "INSERT INTO release_item (release, item, status, gold) VALUES (?, ?, ?, ?)"
_THIS = "release = (SELECT id FROM release WHERE id = ? AND uid = ?)"
# Of files up to 1 MB at once.
_DELETE_FILES = f"""DELETE FROM release_file WHERE rowid IN (
    SELECT rowid FROM release_file WHERE {_THIS} LIMIT min(1, ?))"""
_DELETE_ITEMS = f"""DELETE FROM release_item WHERE (release, item) IN (
    SELECT release, item FROM release_item WHERE {_THIS} LIMIT ?)"""
PAUSE_S = 0.01  # between commits of files, so that labels get their turn
UNPACKED_AT_ONCE = 1 << 20
DAMAGED = N_("{file} of release {version} is damaged in the database; restore it from a backup.")
LOG_HEAD = "log_head.json"  # written with the snapshot of a release
ReleaseItem = tuple[int, str, str | None]  # row id, status, gold


# Items with an entry after that of a release. What is logged of an assignment is "item/annotator".
_TOUCHED = " UNION ".join(
    f"SELECT {kind}.item FROM log JOIN {kind} ON {kind}.id = log.row WHERE log.id > :entry AND log.kind = '{kind}'"
    for kind in ("label", "settlement", "known")
) + (
    " UNION SELECT CAST(substr(row, 1, instr(row, '/') - 1) AS INTEGER) FROM log"
    " WHERE id > :entry AND kind = 'assignment'"
)


class LogHead(NamedTuple):
    """The last entry of the log when a release was made; `entry` None: the log does not hold it any more."""

    entry: int | None


@dataclass(frozen=True, slots=True)
class Release:
    """A frozen state of a project.

    `items`: number of kept ones; `labels`: number of valid ones; `facts`: for its papers.
    """

    id: int
    uid: str
    version: str
    hash: str
    items: int
    labels: int
    facts: dict[str, Any]
    author: str
    created: str


@dataclass(frozen=True, slots=True)
class FileFact:
    """A file of a release without its content."""

    name: str
    sha256: str
    size: int


def releases(store: Store, project: Project) -> list[Release]:
    """Return the releases of a project, oldest first."""

    def frozen(facts: str, **columns: Any) -> Release:
        return Release(facts=json.loads(facts), **columns)

    query = (
        "SELECT id, uid, version, hash, items, labels, facts, author, created FROM frozen_release"
        " WHERE project = ? ORDER BY id"
    )
    return store.rows(frozen, query, (project.id,))


def release(store: Store, project: Project, version: str) -> Release:
    """Return the release with that version. Raises NotFound."""
    stored_releases = [
        stored_release for stored_release in releases(store, project) if stored_release.version == version.strip()
    ]
    if not stored_releases:
        raise NotFound(N_("{project} has no release {version}."), project=project.name, version=version)
    return stored_releases[0]


def file_facts(store: Store, release: Release) -> list[FileFact]:
    """Return name, hash and length of every file, by name, without reading any content."""
    query = "SELECT name, sha256, bytes AS size FROM release_file WHERE release = ? AND part = 0 ORDER BY name"
    return store.rows(FileFact, query, (release.id,))


def release_files(store: Store, release: Release) -> dict[str, bytes]:
    """Return the content of every file by name. Raises BadFile if the content differs from the frozen one."""
    return {file_fact.name: release_file(store, release, file_fact.name) for file_fact in file_facts(store, release)}


def release_file(store: Store, release: Release, name: str) -> bytes:
    """Return one file. Raises NotFound, and BadFile if its content differs from the frozen one."""
    return b"".join(_content(store, release, name))


def release_lines(store: Store, release: Release, name: str) -> Iterator[bytes]:
    """Yield the lines of one file without their ends; the whole file is never in memory.

    Raises as `release_file`, but only after the last line if the content differs from the frozen one.
    """
    rest = b""
    for content in _content(store, release, name):
        *whole, rest = (rest + content).split(b"\n")
        yield from whole
    yield from (line for line in (rest,) if line)


def _content(store: Store, release: Release, name: str) -> Iterator[bytes]:
    query = "SELECT sha256, content FROM release_file WHERE release = ? AND name = ? ORDER BY part"
    unpacker, digest, frozen = zlib.decompressobj(), hashlib.sha256(), ""
    try:
        for sha256, packed in store.db.execute(query, (release.id, name)):
            frozen = sha256
            while packed:
                content = unpacker.decompress(packed, UNPACKED_AT_ONCE)
                packed = unpacker.unconsumed_tail
                digest.update(content)
                yield content
        content = unpacker.flush()
    except zlib.error as error:
        raise BadFile(DAMAGED, file=name, version=release.version) from error
    if not frozen:
        raise NotFound(N_("Release {version} has no file {file}."), version=release.version, file=name)
    digest.update(content)
    if digest.hexdigest() != frozen or not unpacker.eof:
        raise BadFile(DAMAGED, file=name, version=release.version)
    yield content


def damaged_files(store: Store) -> Iterator[tuple[str, str]]:
    """Yield version and name of each file whose content differs from what its release froze."""
    query = "SELECT release.id, release.uid, version, name FROM frozen_release AS release JOIN release_file AS file"
    query += " ON file.release = release.id WHERE part = 0 ORDER BY release.id, name"
    for row_id, uid, version, name in store.db.execute(query).fetchall():
        try:
            release_file(store, Release(row_id, uid, version, "", 0, 0, {}, "", ""), name)
        except BadFile:
            yield version, name


def refuse_taken(store: Store, project: Project, version: str) -> None:
    """Raise NotAllowed if a release with that version exists or is being written."""
    discard_broken(store)
    whole = store.value("SELECT whole FROM release WHERE project = ? AND version = ?", (project.id, version))
    if whole:
        message = N_("Release {version} already exists, and a release never changes. Choose another version.")
        raise NotAllowed(message, version=version)
    if whole is not None:
        raise NotAllowed(N_("Release {version} is already being created."), version=version)


def store_release(
    store: Store,
    project: Project,
    made: Mapping[str, Any],
    files: Sequence[FrozenFile],
    items: Iterable[ReleaseItem],
) -> Release:
    """Store a release: files in commits of at most 1 MB, items in short ones, then one that makes it visible.

    `made`: version, hash, items, labels, facts, author. Raises NotAllowed if the version was taken meanwhile.
    """
    uid = uuid.uuid4().hex
    row_id = _begin(store, project, uid, made)
    try:
        for file in files:
            for part, content in enumerate(file.parts()):
                row = {"release": row_id, "name": file.name, "part": part, "sha256": file.sha256, "bytes": file.size}
                _insert_file(store, row | {"content": content})
        rows = ((row_id, *item) for item in items)

        def insert(most: int) -> int:
            some = list(islice(rows, most))
            store.db.executemany(_ITEM, some)
            return len(some)

        in_commits(store, insert)
        with store.write() as db:
            update_rows(db, "release", {"whole": 1, "pid": None, "started_process": None}, id=row_id)
            values = {key: made[key] for key in ("version", "hash", "items", "labels")}
            record(store, project, "release", author=made["author"], **values)
    except BaseException:
        _discard(store, row_id, uid)
        raise
    return release(store, project, made["version"])


def _begin(store: Store, project: Project, uid: str, made: Mapping[str, Any]) -> int:
    pid, started = this_process()
    values = {
        **made, "facts": json.dumps(made["facts"], ensure_ascii=False, allow_nan=False), "uid": uid,
        "project": project.id, "created": timestamp(), "pid": pid, "started_process": started,
    }  # fmt: skip
    try:
        with store.write() as db:
            return insert(db, "release", values)
    except sqlite3.IntegrityError as error:
        refuse_taken(store, project, made["version"])
        raise NotAllowed(N_("Release {version} is already being created."), version=made["version"]) from error


def _insert_file(store: Store, values: Mapping[str, Any]) -> None:
    with store.unsynced(), store.write() as db:  # of use once the release is whole, whose commit waits for the disk
        insert(db, "release_file", values)
    time.sleep(PAUSE_S)


def discard_broken(store: Store) -> int:
    """Delete incomplete releases of dead processes; returns how many."""
    rows = store.db.execute("SELECT id, uid, pid, started_process FROM release WHERE whole = 0").fetchall()
    dead = [(row_id, uid) for row_id, uid, pid, started in rows if not is_alive(pid, started)]
    for row_id, uid in dead:
        _discard(store, row_id, uid)
    return len(dead)


def _discard(store: Store, row_id: int, uid: str) -> None:
    # Another process may delete it too, and its row id may belong to another release by now.
    this = (row_id, uid)
    for delete in (_DELETE_FILES, _DELETE_ITEMS):

        def remove(most: int, delete: str = delete) -> int:
            return store.db.execute(delete, (*this, most)).rowcount

        in_commits(store, remove)
    with store.write() as db:
        delete_rows(db, "release", id=row_id, uid=uid, whole=0)


def reviewed_items(store: Store, project: Project) -> Iterator[ReleaseItem]:
    """Yield the published items of a project that are decided or have a gold label, in the order of their row ids."""
    query = (
        f"SELECT id, status, gold FROM item NOT INDEXED WHERE {PUBLISHED}"
        " AND (status <> 'pending' OR gold IS NOT NULL) ORDER BY id"
    )
    yield from store.db.execute(query, {"project": project.id})


def frozen_state(store: Store, release: Release, item: int) -> tuple[str, str | None] | None:
    """Return status and gold label of an item (row id) in a release; None if it is not in the release."""
    query = "SELECT status, gold FROM release_item WHERE release = ? AND item = ?"
    state: tuple[str, str | None] | None = store.db.execute(query, (release.id, item)).fetchone()
    return state


def project_of(store: Store, release: Release) -> Project:
    """Return the project of a release."""
    query = "SELECT project.uid FROM release JOIN project ON project.id = release.project WHERE release.id = ?"
    return project_by_uid(store, store.value(query, (release.id,)))


def log_head_of(store: Store, release: Release) -> LogHead | None:
    """Return the head of the log that a release names; None for a release that is older than the log."""
    try:
        head = json.loads(release_file(store, release, LOG_HEAD))["log_head"]
        hashed, at = bytes.fromhex(head["hash"]), str(head["at"])
    except (EvenhandError, KeyError, TypeError, ValueError):
        return None
    query = f"SELECT id FROM log WHERE at / {DAY_MS} = unixepoch(?) / 86400 AND hash = ?"
    return LogHead(store.value(query, (at[:10], hashed)))


def touched_items(store: Store, entry: int) -> set[int]:
    """Return the items (row ids) with an entry of the log after *entry*."""
    return {item for (item,) in store.db.execute(_TOUCHED, {"entry": entry})}


def has_changed_pilot(store: Store, project: Project, entry: int) -> bool:
    """Return whether a pilot of a project has changed after an entry of the log."""
    pilots = "JOIN pilot ON pilot.id = log.row AND pilot.project = ?"
    return any(_changes(store, "pilot", entry, pilots, project))


def project_changes(store: Store, project: Project, entry: int) -> Iterator[tuple[list[Any] | None, list[Any]]]:
    """Yield the columns of a project that the log watches before and after each change since an entry."""
    changes = _changes(store, "project", entry, "JOIN project ON project.id = log.row AND project.id = ?", project)
    yield from (json.loads(body) for _, body in changes)


def assignment_changes(store: Store, project: Project, entry: int) -> Iterator[tuple[str, Any, Any]]:
    """Yield assignment ("item/annotator") and its valid label before and after each change since an entry of the log.

    Of published items.
    """
    items = "JOIN published_item AS item ON item.id = CAST(log.row AS INTEGER) AND item.project = ?"
    for slot, body in _changes(store, "assignment", entry, items, project):
        before, after = ((row or [None])[0] for row in json.loads(body))
        yield slot, before, after


def _changes(store: Store, kind: str, entry: int, of: str, project: Project) -> Iterator[tuple[Any, str]]:
    """Yield row and body of each entry of a kind after *entry*. *of*: the join that leaves those of a project."""
    query = f"SELECT log.row, log.body FROM log {of} WHERE log.kind = ? AND log.id > ? ORDER BY log.id"
    yield from store.db.execute(query, (project.id, kind, entry))
