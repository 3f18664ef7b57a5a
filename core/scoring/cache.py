"""Remembered scores: one SQLite file that can be thrown away at any time, and never answers for another model.

Key = hash of the scorer's cache key (method, model, full hash of the weights,
joint, precision, version) and of the probe; so no entry ever has to be
invalidated. Several processes may use one file at once. Scoring continues when
the file is damaged or cannot be written: `CachedScorer.notices` reports it.
"""

import fcntl
import os
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, Notice
from evenhand.core.files.atomic_file import PRIVATE, make_folder, new_file
from evenhand.core.files.sqlite_wal import write_ahead
from evenhand.core.types import Filler, MaskedSentence, Score, Scorer

FILE = "scores.db"
APPLICATION = 0x45564853  # "EVHS" in the header of the file: ours, and of this layout
LAYOUT = 1
BUSY_MS = 30_000  # how long a writer waits for another one
AT_ONCE = 1_000  # keys of one look-up; measured: more are not faster
NAMES = (".db", ".sqlite", ".sqlite3")  # a damaged file with another ending may not be a cache: it is not moved

SET_ASIDE = N_("The score cache {file} was damaged. The damaged file is kept as {aside}, and a new cache was started.")
FOREIGN = N_("{file} is not a score cache. The file was left unchanged, and scores of this run are not cached.")
NEWER = N_(
    "{file} was written by a newer version of Evenhand. The file was left unchanged, and scores of this run"
    " are not cached."
)
UNUSABLE = N_("{file} cannot be used ({why}), so scores are not cached. The results are not affected.")
FULL = N_(
    "New scores could not be written to the cache {file} ({why}). The results are not affected, but a"
    " repeated run computes these scores again. Free some disk space first."
)


def cache_path(database: Path | str) -> Path:
    """Return the default place of the cache: scores.db in the folder of the database."""
    return Path(database).resolve().parent / FILE


class CachedScorer:
    """A `core.types.Scorer` that asks *scorer* only for answers that are not stored yet.

    *scorer* should have a `cache_key` (the signature with the full hash of the weights), else its signature is
    used. *path* None: remembers in a private temporary file, for this object only. Every call of `score` is one
    transaction: what it returned is remembered. `hits` counts probes that were answered from the file, `misses`
    those that were asked (equal ones once), `repeated` those equal to another one of the same call.
    """

    def __init__(self, scorer: Scorer, path: Path | str | None) -> None:
        self.scorer = scorer
        self.path = None if path is None else Path(path)
        self.notices: list[Notice] = []
        self.hits = self.misses = self.repeated = 0
        identity = str(getattr(scorer, "cache_key", scorer.signature))
        self._hash = blake2b(identity.encode(), digest_size=16)
        self._db: sqlite3.Connection | None = None
        self._inode: int | None = None  # of the file that is open
        self._writable = True
        self._open()

    @property
    def signature(self) -> str:
        """The signature of the scorer that is cached."""
        return self.scorer.signature

    @property
    def cache_key(self) -> str:
        """The cache key of the scorer that is cached; its signature where it has none."""
        return str(getattr(self.scorer, "cache_key", self.scorer.signature))

    def key(self, probe: MaskedSentence) -> bytes:
        """Return the 16 bytes under which the answer to *probe* is remembered."""
        hashed = self._hash.copy()
        hashed.update(probe_identity(probe).encode("utf-8", "surrogatepass"))
        return hashed.digest()

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order; new ones are on disk when this returns."""
        keys = [self.key(probe) for probe in probes]
        known = self.remembered(keys)
        values = {}
        if len(known) < len(keys):  # some are new, or equal
            values = {key: probe for key, probe in zip(keys, probes, strict=True) if key not in known}
            self.repeated += len(keys) - len(set(keys))
            self.hits += sum(key in known for key in keys)
        else:
            self.hits += len(keys)
        if values:
            self.misses += len(values)
            new = dict(zip(values, self.scorer.score(list(values.values())), strict=True))
            self._remember(new)
            known |= new
        return [known[key] for key in keys]

    def remembered(self, keys: Sequence[bytes]) -> dict[bytes, Score]:
        """Return the stored answers for these keys; a damaged file is set aside and reported."""
        result: dict[bytes, Score] = {}
        signature = self.signature
        wanted = sorted(set(keys))  # in the order of the tree, which is read once from left to right
        for i in range(0, len(wanted), AT_ONCE):
            if self._db is None:
                break
            some = wanted[i : i + AT_ONCE]
            query = f"SELECT key, answer, reason FROM score WHERE key IN ({','.join('?' * len(some))})"
            try:
                for key, answer, reason in self._db.execute(query, some).fetchall():
                    result[key] = Score(_unpacked(key, answer), signature, reason)
            except sqlite3.OperationalError as error:  # locked, or the disk fails: ask the model
                self._give_up(UNUSABLE, why=error)
            except (sqlite3.DatabaseError, Damaged):
                self._set_aside()
                return {}
        return result

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Ask the scorer each time: fillers are not stored."""
        return self.scorer.fillers(probe, top=top, words=words)

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def __enter__(self) -> "CachedScorer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _remember(self, new: dict[bytes, Score]) -> None:
        if self._db is None or not self._writable:
            return
        rows = [(key, _packed(key, score.logprobs), score.reason) for key, score in sorted(new.items())]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO score (key, answer, reason) VALUES (?, ?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.OperationalError as error:  # full, read-only, or kept busy for too long
            self._roll_back()
            self._writable = False  # stored scores can still be read
            self._say(FULL, why=error)
        except sqlite3.DatabaseError:
            self._roll_back()
            self._set_aside()

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._db is not None and self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _open(self) -> None:
        try:
            self._inode = _inode(self.path)
            self._db = _connect(self.path)
            self._inode = self._inode or _inode(self.path)
        except sqlite3.OperationalError as error:
            self._give_up(UNUSABLE, why=error)
        except (sqlite3.DatabaseError, Damaged):
            self._set_aside()
        except OSError as error:
            self._give_up(UNUSABLE, why=error.strerror or error)
        except _Foreign as error:
            self._give_up(error.message)

    def _give_up(self, message: str, **values: Any) -> None:
        self.close()
        self._say(message, **values)

    def _say(self, message: str, **values: Any) -> None:
        file = self.path.name if self.path is not None else FILE
        notice = Notice(message, {"file": file} | {key: str(value) for key, value in values.items()})
        if notice not in self.notices:
            self.notices.append(notice)

    def _set_aside(self) -> None:
        """Rename the damaged file and begin a new one; only once if several processes notice the damage."""
        self.close()
        path = self.path
        if path is None or path.suffix not in NAMES:
            self._say(FOREIGN)
            return
        aside = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}")
        try:
            with _alone(path):
                if _inode(path) == self._inode:  # else another process has set it aside meanwhile
                    for end in ("", "-wal", "-shm"):
                        with suppress(FileNotFoundError):
                            path.with_name(path.name + end).replace(aside.with_name(aside.name + end))
                    self._say(SET_ASIDE, aside=aside.name)
                self._db = _connect(path)
                self._inode = _inode(path)
        except (OSError, sqlite3.Error, Damaged, _Foreign) as error:
            self._give_up(UNUSABLE, why=error)


class Damaged(Exception):
    """An error for a stored answer that differs from the one that was written."""


class _Foreign(Exception):
    """The file is a healthy database of something else; the argument says what to tell."""

    @property
    def message(self) -> str:
        return str(self.args[0])


def _connect(path: Path | None) -> sqlite3.Connection:
    """Open the file, and create it if it is missing. Raises sqlite3.DatabaseError or Damaged for damage, _Foreign."""
    if path is not None:
        make_folder(path.parent)
        with suppress(FileExistsError):
            new_file(path).close()
        with suppress(OSError):  # a file of another user
            path.chmod(PRIVATE)  # files of earlier versions were for everybody
    # "" is a private temporary database that spills to disk, so memory stays flat without a file too.
    db = sqlite3.connect(path or "", timeout=BUSY_MS / 1000, isolation_level=None)
    try:
        db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        _recognise(db)
        if path is not None:
            write_ahead(db, BUSY_MS / 1000)
        db.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last chunk, never the file
        db.execute("PRAGMA cache_size = -16000")
    except BaseException:
        db.close()
        raise
    return db


def _recognise(db: sqlite3.Connection) -> None:
    """Make the table in an empty file; refuse a database of something else."""
    application, layout = _header(db)
    if application == APPLICATION and layout == LAYOUT:
        return
    db.execute("BEGIN IMMEDIATE")  # another process may be making it at this moment
    application, layout = _header(db)
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == APPLICATION and layout == LAYOUT:
        db.execute("ROLLBACK")
        return
    if application == APPLICATION:
        raise _Foreign(NEWER)
    if tables or application:
        raise _Foreign(FOREIGN)
    db.execute("CREATE TABLE score (key BLOB PRIMARY KEY, answer BLOB NOT NULL, reason TEXT) STRICT, WITHOUT ROWID")
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {LAYOUT}")
    db.execute("COMMIT")


def _header(db: sqlite3.Connection) -> tuple[int, int]:
    return int(db.execute("PRAGMA application_id").fetchone()[0]), int(db.execute("PRAGMA user_version").fetchone()[0])


def _inode(path: Path | None) -> int | None:
    """Return the inode of the file at *path*; None where there is none. A renamed file keeps its inode."""
    return path.stat().st_ino if path is not None and path.exists() else None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let only one process at a time set a file aside."""
    lock = path.with_name(f".{path.name}.lock")
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def probe_identity(probe: MaskedSentence) -> str:
    """Return what a model sees of a probe: equal for a sentence with 他 and the same sentence with 她.

    The word in the slot is hidden, so it does not count. The text around it, options and hidden parts count.
    """
    if probe.hidden:  # rare, and their places depend on the length of the word in the slot
        return repr((probe.text, probe.start, probe.end, probe.options, probe.hidden, *probe.agreeing))
    if probe.agreeing:  # the words of the text do not count, only what is around the places and what fits in them
        places = probe.places()
        ends = [0, *(place.end for place in places)]
        starts = [*(place.start for place in places), len(probe.text)]
        outside = [probe.text[end:start] for end, start in zip(ends, starts, strict=True)]
        return repr((outside, [place.options for place in places]))
    return repr((probe.text[: probe.start], probe.text[probe.end :], probe.start < probe.end, probe.options))


_PAIR = struct.Struct("<ddI")  # nearly every answer: two options and the checksum


def _packed(key: bytes, logprobs: Sequence[float | None]) -> bytes:
    """Return the numbers of an answer as bytes, None as NaN."""
    # SQLite does not notice a flipped bit inside a value; the sum over key and value does.
    numbers = struct.pack(f"<{len(logprobs)}d", *(float("nan") if p is None else p for p in logprobs))
    return numbers + zlib.crc32(key + numbers).to_bytes(4, "little")


def _unpacked(key: bytes, answer: Any) -> tuple[float | None, ...]:
    """Return the numbers of an answer, exactly. Raises Damaged where they are not the numbers that were written."""
    if not isinstance(answer, bytes) or len(answer) % 8 != 4:
        raise Damaged
    numbers = answer[:-4]
    if len(answer) == _PAIR.size:
        first, second, check = _PAIR.unpack(answer)
        if zlib.crc32(key + numbers) == check and first == first and second == second:
            return first, second
    if zlib.crc32(key + numbers).to_bytes(4, "little") != answer[-4:]:
        raise Damaged
    return tuple(None if p != p else p for p in struct.unpack(f"<{len(numbers) // 8}d", numbers))
