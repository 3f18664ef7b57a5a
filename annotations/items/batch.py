"""Items: storing the items of a file, invisible until the file is complete, and reading items."""

import hashlib
import json
import sqlite3
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Any, Literal, NamedTuple

from evenhand.annotations.database.bulk_writes import Disk, Pace, in_commits, pace_of, until_over
from evenhand.annotations.database.events import current_project, record
from evenhand.annotations.database.hash_chain import hash_of_items, record_items
from evenhand.annotations.database.store import Store, delete_rows, in_list, insert, update_rows
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.items.wanted_labels import (
    COUNT_SETTINGS,
    RECOUNTING,
    is_shared,
    open_recount,
    redraw_sample,
    wanted_at_first,
)
from evenhand.annotations.items.withdrawn import (
    ABANDONED_S,
    BEING_WITHDRAWN,
    add_to_census,
    clear_withdrawn,
    restore_items,
)
from evenhand.annotations.types import FIRST_SIGN, SECOND_SIGN, Item, Project
from evenhand.core.errors import N_, Busy, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.processes import is_alive, this_process
from evenhand.core.text.sentences import text_hash
from evenhand.core.types import Candidate, Side

# A running import. A withdrawn batch, and that of withdrawn items, are not published either.
BEING_IMPORTED = "published = 0 AND withdrawn = 0 AND undone IS NULL"
CHUNK = 1_000  # rows read at once
MOST_WAITING = 20_000  # rows that an import makes ready ahead of a commit; a quiet machine stores them in half a second
SILENT_S = 600.0  # an unpublished batch without a sign of life for so long is abandoned
LOOK_S = 0.2  # poll interval while another import runs
LATE = 1 << 62  # ranks from here on come after all others of their cell, in any batch

# Events of an import whose file contradicts a stored item. Items are never changed: the lead finds the other value in
# the list of conflicts.
OTHER_WORD = "conflict_word"  # the same text, with another keyword or another place
OTHER_TEXT = "conflict_text"  # the same id, with another text

ITEM_COLUMNS = (
    "item.id, item.uid, cell.pair, cell.side, item.text, item.start, item.stop, item.stem_start, item.stem_stop,"
    " item.keyword, item.counterpart, item.file, item.line, item.extra, item.context, item.status,"
    " item.gold, item.second"
)
# The text of an item; of a comparison both, as `Item.whole_text`.
WHOLE_TEXT = (
    f"iif(item.second IS NULL, item.text, '{FIRST_SIGN} ' || item.text || char(10, 10) || '{SECOND_SIGN} '"
    " || item.second)"
)
ITEM_TABLES = "published_item AS item JOIN cell ON cell.id = item.cell"
# Where a statement names an index of `item`, or that it uses none, and so cannot read the view `published_item`.
PUBLISHED = "item.batch IN (SELECT id FROM published_batch WHERE project = :project)"
OF_PILOTS = "item.pilot IN (SELECT id FROM pilot WHERE project = :project)"
INSERT = (
    "INSERT INTO item (uid, project, batch, rank, hash, text, context, start, stop, stem_start, stem_stop, keyword,"
    " counterpart, file, line, extra, wanted, shared, second, cell)"
    f" VALUES ({', '.join('?' * 20)}) ON CONFLICT (project, hash) DO NOTHING"
)
_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item of a file.

    `candidate` None: a text without a keyword (a generation); then `context` is what it completes, `stratum` the cell
    it is drawn from, and `key` its identity (context, completion, model, setting and index in one string). `second`: of
    a comparison the other text; `key` is then the same for both orders. `uid`: the public id of an exported item.
    `late`: it comes last in its cell (mining flagged it). `counterpart`: the other word if its spelling differs from
    the pair (She of he/she).
    """

    text: str
    candidate: Candidate | None
    file: str
    line: int
    extra: dict[str, Any] = field(default_factory=dict)
    uid: str | None = None
    context: str | None = None
    key: str | None = None
    stratum: str = ""
    late: bool = False
    counterpart: str | None = None
    second: str | None = None


class ImportBusy(Refused):
    """Another import is running in the project."""


class AddedItems(NamedTuple):
    """How many rows became items, and how many were stored before."""

    added: int
    duplicates: int


class _Values(NamedTuple):
    """A row of a file as it is stored, but for the row id of its cell (pair or stratum, side)."""

    new: NewItem
    identity: bytes
    cell: tuple[str, str]
    row: tuple[Any, ...]


class Batch:
    """The items of one file, invisible until `publish`.

    `with Batch.begin(...) as batch:` deletes them if the block fails.
    """

    def __init__(self, store: Store, project: Project, batch_id: int, created: str) -> None:
        # SQLite reuses the row id of a deleted batch, so the moment is needed too to recognise this one.
        self.store, self.project, self.id, self.created = store, project, batch_id, created
        self._cells: dict[tuple[str, str], int] = {}
        self.turned = 0  # rows with the texts of a comparison that is stored, the other way round
        self._back: dict[int, None] = {}  # withdrawn items of the file, restored at its publication
        self._ranks = hashlib.blake2b(digest_size=8, key=str(project.seed).encode())

    @classmethod
    def begin(cls, store: Store, project: Project, file: str) -> "Batch":
        """Open a batch. Raises ImportBusy while another import or undo runs in the project."""
        discard_incomplete(store)
        with store.write() as db:
            if is_importing(store, project):
                message = N_("Another file is being imported into this project. Try again when the import is finished.")
                raise ImportBusy(message)
            if is_importing(store, project, BEING_WITHDRAWN):
                raise ImportBusy(N_("An import of this project is being undone. Try again when this is finished."))
            mark = open_recount(store, project)
            if mark is not None and mark.changed & COUNT_SETTINGS:
                raise ImportBusy(RECOUNTING)
            (pid, started), created = this_process(), timestamp()
            batch_id = insert(db, "batch", {
                "project": project.id, "file": file, "pid": pid, "started_process": started, "heard": time.time(),
                "created": created,
            })  # fmt: skip
            now = current_project(store, project)  # in this transaction the plan cannot change
        return cls(store, now, batch_id, created)

    @classmethod
    def begin_when_free(cls, store: Store, project: Project, file: str, patience_s: float) -> "Batch":
        """Open a batch as soon as no other import runs. Raises ImportBusy after *patience_s* seconds."""
        end = time.monotonic() + patience_s
        while True:
            try:
                return cls.begin(store, project, file)
            except ImportBusy:
                if time.monotonic() >= end:
                    raise
                time.sleep(LOOK_S)

    def add(self, rows: Iterable[NewItem]) -> AddedItems:
        """Store rows in short commits that do not delay other writers; known texts of the project are only counted."""
        source, waiting = map(self._values, rows), deque[_Values]()
        added = stored = 0
        size = CHUNK
        with ThreadPoolExecutor(1) as thread, self.store.bulk():
            disk = Disk(self.store, thread)
            while True:
                waiting.extend(islice(source, max(0, size - len(waiting))))  # while the disk has what was before
                if not waiting:
                    break
                pace = pace_of(self.store)
                time.sleep(max(0.0, disk.ready() + pace.pause - time.monotonic()))
                before, found = len(waiting), self._commit(waiting, pace)
                done = before - len(waiting)
                added, stored = added + found, stored + done
                size = max(CHUNK, done if waiting else min(MOST_WAITING, 2 * done))
                disk.write(done)
            disk.ready()
        return AddedItems(added, stored - added)

    def _commit(self, waiting: deque["_Values"], pace: Pace) -> int:
        """Store rows from the left of *waiting* until the time is over; returns how many became items."""
        added = 0

        def store_some(most: int) -> int:
            nonlocal added
            some = [waiting.popleft() for _ in range(min(most, len(waiting)))]
            added += self._insert(some) if some else 0
            return len(some)

        with self.store.write():
            self._touch()
            until_over(pace, store_some)
        return added

    def _touch(self) -> None:
        query = "UPDATE batch SET heard = ? WHERE id = ? AND created = ? AND published = 0 AND heard > 0"
        if self.store.db.execute(query, (time.time(), self.id, self.created)).rowcount != 1:
            raise Refused(N_("This import was cancelled, because it made no progress for a long time. Start again."))

    def _values(self, new: NewItem) -> _Values:
        """Return the stored values of a row except its cell, computed before others wait for the write lock."""
        candidate, identity, project = new.candidate, item_hash(new), self.project
        cell = (candidate.pair.name, candidate.side) if candidate else (new.stratum, "")
        word: tuple[Any, ...] = (None,) * 6
        if candidate:
            word = (candidate.start, candidate.end, candidate.stem_start, candidate.stem_end, candidate.keyword)
            word += (new.counterpart or candidate.counterpart,)
        rank = self._ranks.copy()  # 62 bits that depend only on the seed and the text: the same order in any database
        rank.update(identity)
        shared = project.share > 0 and is_shared(project.seed, identity, project.share)
        wanted = wanted_at_first(project.per_item, project.plan, shared)
        row = (
            new.uid or uuid.uuid4().hex, project.id, self.id,
            (int.from_bytes(rank.digest(), "big") >> 2) + (LATE if new.late else 0), identity, new.text, new.context,
            *word, new.file, new.line, _json(new.extra) if new.extra else "{}", wanted, int(shared), new.second,
        )  # fmt: skip
        return _Values(new, identity, cell, row)

    def _insert(self, part: Sequence[_Values]) -> int:
        """Store some rows; returns how many became items, or are back."""
        db = self.store.db
        last = self.store.newest("item")
        rows = [(*values.row, self._cell(*values.cell)) for values in part]
        try:
            with self.store.savepoint():
                added = db.executemany(INSERT, rows).rowcount
        except sqlite3.IntegrityError as error:
            if "item.uid" not in str(error):
                raise
            return sum(map(self._insert_one, part))
        if added == len(part):
            return added
        stored = {uid for (uid,) in db.execute("SELECT uid FROM item WHERE id > ?", (last,))}
        return added + sum(self._restores_withdrawn(values) for values in part if values.row[0] not in stored)

    def _insert_one(self, values: _Values) -> bool:
        """Store a row whose id may belong to an item of another project, or to another text of this one."""
        row = (*values.row, self._cell(*values.cell))
        try:
            added = self.store.db.execute(INSERT, row).rowcount == 1
        except sqlite3.IntegrityError as error:
            if "item.uid" not in str(error):
                raise
            self._note_other_text(values.new)
            added = self.store.db.execute(INSERT, (uuid.uuid4().hex, *row[1:])).rowcount == 1
        return added or self._restores_withdrawn(values)

    def _restores_withdrawn(self, values: _Values) -> bool:
        """Return whether a known text belongs to a withdrawn item, which this file restores."""
        row = self.store.db.execute(
            "SELECT item.id, batch.withdrawn, start, stop, keyword, cell.pair, text FROM item JOIN batch"
            " ON batch.id = item.batch JOIN cell ON cell.id = item.cell WHERE item.project = ? AND hash = ?",
            (self.project.id, values.identity),
        ).fetchone()
        self.turned += values.new.second is not None and row[6] != values.new.text
        if row[1] and row[0] not in self._back:
            self._back[row[0]] = None
            return True
        candidate = values.new.candidate
        if candidate is not None and (candidate.start, candidate.end, candidate.keyword, values.cell[0]) != row[2:6]:
            self._note_once(OTHER_WORD, row[0], {
                "start": candidate.start, "end": candidate.end, "keyword": candidate.keyword,
                "pair": candidate.pair.name,
                "file": values.new.file, "line": values.new.line,
            })  # fmt: skip
        return False

    def _note_other_text(self, new: NewItem) -> None:
        """Record that the id is stored with another text; the new item gets a new id."""
        query = "SELECT id, text, second FROM item WHERE uid = ? AND project = ?"
        row = self.store.db.execute(query, (new.uid, self.project.id)).fetchone()
        if row is not None and row[1:] != (new.text, new.second):
            self._note_once(OTHER_TEXT, row[0], {"text": new.text, "file": new.file, "line": new.line})

    def _note_once(self, action: str, item: int, data: dict[str, Any]) -> None:
        # A file imported twice makes one conflict; `record` writes its data in this form.
        text = json.dumps(data, ensure_ascii=False, sort_keys=True)
        if not self.store.has("event WHERE item = ? AND action = ? AND data = ?", (item, action, text)):
            record(self.store, self.project, action, item=item, **data)

    def _cell(self, pair: str, side: str) -> int:
        if (pair, side) not in self._cells:
            row = {"project": self.project.id, "pair": pair, "side": side}
            insert(self.store.db, "cell", row, "ON CONFLICT DO NOTHING")
            query = "SELECT id FROM cell WHERE project = :project AND pair = :pair AND side = :side"
            self._cells[pair, side] = self.store.value(query, row)
        return self._cells[pair, side]

    def publish(self, also: Callable[[], object] | None = None) -> None:
        """Make all items visible at once; *also* runs in the same transaction."""
        # No item of this batch has been handed out, so the partial index on open items holds them all.
        stock = self.store.db.execute(
            "SELECT cell, count(*) FROM item WHERE batch = ? AND taken < wanted AND aside = 0 GROUP BY cell", (self.id,)
        ).fetchall()
        hashed = hash_of_items(self.store.db, self.id, self._back)  # nothing of it changes before it is published
        with self.store.write() as db:
            self._touch()
            for cell, number in stock:
                insert(db, "stock", {"batch": self.id, "cell": cell, "items": number})
                add_to_census(db, (cell, 0, "pending", 0), number)
            restore_items(self.store, self.project, self.id, list(self._back))
            # After the withdrawn items are restored: the doubly labelled sample is drawn from all.
            recount_items(self.store, redraw_sample(self.store, self.project, self.id))
            db.execute(
                "UPDATE batch SET published = 1 + (SELECT max(published) FROM batch WHERE project = ?) WHERE id = ?",
                (self.project.id, self.id),
            )
            record_items(db, self.id, self.created, hashed)
            if also is not None:
                also()

    def discard(self) -> None:
        """Delete the items in short transactions. Does nothing to a published batch."""
        delete_items(self.store, self.id, self.created)

    def __enter__(self) -> "Batch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            with suppress(Busy):  # on a full disk for instance: the next import cleans up
                self.discard()


def discard_incomplete(store: Store) -> int:
    """Delete the batches of failed imports and finish interrupted undos; returns how many."""
    rows = store.db.execute(
        f"SELECT id, pid, started_process, heard + iif(withdrawn, {ABANDONED_S}, {SILENT_S}), withdrawn, created"
        f" FROM batch WHERE {BEING_WITHDRAWN} OR published = 0 AND withdrawn = 0"
        " AND (undone IS NULL OR EXISTS (SELECT 1 FROM item WHERE item.batch = batch.id))"
    ).fetchall()
    dead = [row for row in rows if row[3] < time.time() or not is_alive(row[1], row[2])]
    for batch_id, *_, half_out, created in dead:
        clear_withdrawn(store, batch_id) if half_out else delete_items(store, batch_id, created)
    return len(dead)


def items(store: Store, project: Project, *, accepted_only: bool = False) -> Iterator[Item]:
    """Yield every published item in the order of import; read in pages, so no read transaction stays open."""
    kept = "AND item.status = 'accepted'" if accepted_only else ""
    for batch_id in complete_batches(store, project):
        last = 0
        page = f"item.batch = ? AND item.id > ? {kept} ORDER BY item.id LIMIT {CHUNK}"
        while some := items_where(store.db, page, (batch_id, last)):
            yield from some
            last = some[-1].id


def item(store: Store, project: Project, uid: str) -> Item:
    """Return the published item of that public id. Raises NotFound."""
    named = items_where(store.db, "item.uid = ? AND item.project = ?", (uid, project.id))
    if not named:
        raise NotFound(N_("This project has no item {uid}."), uid=uid)
    return named[0]


def items_with_ids(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Item]:
    """Return the published items with these row ids, by row id."""
    return {one.id: one for one in items_where(db, f"item.id {in_list('?')}", (json.dumps(ids),))}


def items_where(db: sqlite3.Connection, which: str, values: Sequence[Any]) -> list[Item]:
    """Return the published items for which an SQL condition holds, which may end with their order."""
    return [as_item(row) for row in db.execute(f"SELECT {ITEM_COLUMNS} FROM {ITEM_TABLES} WHERE {which}", values)]


def item_id(store: Store, project: Project, uid: str) -> int | None:
    """Return the row id of the item with a public id, also of a withdrawn one; None without one."""
    return store.value("SELECT id FROM item WHERE uid = ? AND project = ?", (uid, project.id))  # type: ignore[no-any-return]


def stored_hashes(store: Store, project: Project, hashes: Sequence[bytes]) -> set[bytes]:
    """Return those of *hashes* that a project has an item of; withdrawn items do not count, as imports restore them."""
    query = (
        f"SELECT hash FROM item WHERE project = ? AND hash IN ({', '.join('?' * len(hashes))})"
        " AND batch NOT IN (SELECT id FROM batch WHERE withdrawn = 1)"
    )
    return set(store.column(query, (project.id, *hashes)))


def complete_batches(store: Store, project: Project) -> list[int]:
    """Return the published batches (row ids) of a project in the order of import."""
    query = "SELECT id FROM published_batch WHERE project = ? ORDER BY published"
    return store.column(query, (project.id,))


def pairs_of_cells(store: Store, project: Project) -> dict[int, str]:
    """Return the pair (of generations: the stratum) of each cell (row id) of a project."""
    return dict(store.db.execute("SELECT id, pair FROM cell WHERE project = ?", (project.id,)).fetchall())


def items_after(store: Store, batch: int, after: int = 0, most: int = -1) -> list[int]:
    """Return up to *most* items (row ids) of a batch with row ids above *after*, in their order; -1: all."""
    query = "SELECT id FROM item WHERE batch = ? AND id > ? ORDER BY id LIMIT ?"
    return store.column(query, (batch, after, most))


def id_and_length(store: Store, project: Project, uid: str) -> tuple[int, int] | None:
    """Return the row id and the length of the text of the published item with a public id; None without one."""
    query = "SELECT id, length(text) FROM published_item WHERE uid = ? AND project = ?"
    result: tuple[int, int] | None = store.db.execute(query, (uid, project.id)).fetchone()
    return result


def uid_of_hash(store: Store, project: Project, identity: bytes) -> str | None:
    """Return the public id of the published item with that hash (`item_hash`); None without one."""
    query = "SELECT uid FROM published_item WHERE project = ? AND hash = ?"
    uid: str | None = store.value(query, (project.id, identity))
    return uid


def is_importing(store: Store, project: Project, state: str = BEING_IMPORTED) -> bool:
    """Return whether a file is being imported into a project, or whether it has a batch in another *state* (SQL)."""
    return store.has(f"batch WHERE project = ? AND {state}", (project.id,))


def as_item(row: tuple[Any, ...]) -> Item:
    """Return an item from a row of ITEM_COLUMNS."""
    item_id, uid, pair, side, text, start, stop, stem_start, stem_stop, *rest = row
    keyword, counterpart, file, line, extra, *last = rest
    word, stem = ((start, stop), (stem_start, stem_stop)) if start is not None else (None, None)
    kind: Side | Literal[""] = side
    return Item(item_id, uid, pair, kind, text, word, stem, keyword, counterpart, file, line, json.loads(extra), *last)


def item_hash(new: NewItem) -> bytes:
    """Return the hash that identifies an item in its project, of its text or its key."""
    return text_hash(new.text if new.key is None else new.key)


def delete_items(store: Store, batch_id: int, created: str) -> None:
    """Delete the items of an unpublished batch in short transactions, and the batch, unless it was withdrawn."""
    this = "batch.id = ? AND batch.created = ? AND published = 0"
    # First mark it as abandoned, so that an import that wakes up cannot publish the rest.
    with store.write() as db:
        update_rows(db, "batch", {"heard": 0}, id=batch_id, created=created, published=0)
    some = f"SELECT item.id FROM batch JOIN item ON item.batch = batch.id WHERE {this} LIMIT ?"

    def delete(most: int) -> int:
        return store.db.execute(f"DELETE FROM item WHERE id IN ({some})", (batch_id, created, most)).rowcount

    in_commits(store, delete)
    with store.write() as db:
        delete_rows(db, "batch", id=batch_id, created=created, published=0, undone=None)
