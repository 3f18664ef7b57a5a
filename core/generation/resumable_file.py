"""A file of generations while it grows: finished lines are never written again, and a torn last line is dropped.

Until FILE is whole, its folder also holds `.FILE.begun` (a line per text: [place, {row}], in the order in which the
texts came) and `.FILE.settings` (the request of the run: only the same request may continue it). All of these files
are readable by their owner only, because texts of models about people may be upsetting.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.atomic_file import whole_file

PRIVATE = 0o600


def begun_of(path: Path) -> Path:
    """Return the path that holds the lines of *path* until it is whole."""
    return path.with_name(f".{path.name}.begun")


class GrowingFile:
    """Lines by place, appended and put on disk at once. `with GrowingFile(path, request) as file:`."""

    def __init__(self, path: Path, request: Mapping[str, Any]) -> None:
        """Begin, or go on with what was begun. Raises Refused where *request* is another than it was begun with, or
        where another program is writing it; BadFile where it cannot be read or written.
        """
        self.path = path
        self.begun = begun_of(path)
        self._settings = path.with_name(f".{path.name}.settings")
        self._places: dict[int, tuple[int, int]] = {}  # place -> where its line begins, how long it is
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(self.begun, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b")
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            self._lock()
            self._check(request)
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Lock it: two jobs with one name would write everything twice."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = N_("Another program is writing {file}. Wait for it, or choose another name.")
            raise Refused(message, file=self.path.name) from error

    def _check(self, request: Mapping[str, Any]) -> None:
        wanted = json.loads(json.dumps(request))
        if self._file.seek(0, os.SEEK_END) and self._settings.is_file():
            try:
                before = json.loads(self._settings.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                before = {}
            differing = sorted(key for key in {*before, *wanted} if before.get(key) != wanted.get(key))
            if differing:
                message = N_(
                    "{file} was started with another request (differences: {differing}). Repeat that"
                    " request to continue, or choose another name."
                )
                raise Refused(message, file=self.path.name, differing=", ".join(differing))
            return
        self._file.truncate(0)
        try:
            with os.fdopen(os.open(self._settings, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w") as file:
                json.dump(wanted, file)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _read(self) -> None:
        self._file.seek(0)
        at = 0
        for line in self._file:
            if not line.endswith(b"\n") or (place := _place(line)) is None:
                break  # torn: the process was killed while it wrote
            self._places.setdefault(place, (at, len(line)))
            at += len(line)
        self._file.truncate(at)
        self._file.seek(at)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def places(self) -> frozenset[int]:
        """The places of the stored texts."""
        return frozenset(self._places)

    def append(self, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> int:
        """Store missing rows; returns how many. On return they are on disk."""
        at = self._file.seek(0, os.SEEK_END)
        lines = []
        for place, row in rows:
            if place not in self._places:
                line = json.dumps([place, row], ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
                self._places[place] = (at, len(line))
                lines.append(line)
                at += len(line)
        try:
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return len(lines)

    def finish(self) -> None:
        """Write the file itself, a JSON line per text in the order of places, and delete the side files."""
        with whole_file(self.path) as write:
            for place in sorted(self._places):
                start, size = self._places[place]
                self._file.seek(start)
                write(json.dumps(json.loads(self._file.read(size))[1], ensure_ascii=False) + "\n")
        self._file.close()
        self.begun.unlink(missing_ok=True)
        self._settings.unlink(missing_ok=True)

    def __enter__(self) -> "GrowingFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _place(line: bytes) -> int | None:
    try:
        place, row = json.loads(line)
    except (ValueError, TypeError):
        return None
    return place if isinstance(place, int) and isinstance(row, dict) else None


def _unwritable(path: Path, error: OSError) -> BadFile:
    return BadFile(N_("{file} cannot be written: {why}."), file=path.name, why=error.strerror or error)
