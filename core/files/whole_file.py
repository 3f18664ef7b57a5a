"""The files of a run: written beside their place under a hidden name, and put there when they are whole."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

from core.errors import N_, BadFile

CANNOT_WRITE = N_("{file} cannot be written: {why}.")


@contextmanager
def whole_file(path: Path) -> Iterator[IO[str]]:
    """A file to write that takes the place of *path* at the end, or is removed where anything goes wrong.

    A run that is killed leaves what was at *path* before, and a hidden part
    that the next run removes. Raises BadFile where the folder cannot be written
    or the disk is full.
    """
    _remove_left_over(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise BadFile(CANNOT_WRITE, file=str(path), why=error.strerror or str(error)) from error
    finally:
        part.unlink(missing_ok=True)


class Lines:
    """Writes one candidate a line (JSON). The last one is held back: it carries the facts of the whole run."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._last: Mapping[str, Any] | None = None

    def __call__(self, line: Mapping[str, Any]) -> None:
        """The next candidate."""
        self.end()
        self._last = line

    def end(self, run: Mapping[str, Any] | None = None) -> None:
        """Write what was held back, with the facts of the *run* under `run` where they are given."""
        if self._last is not None:
            line = self._last if run is None else {**self._last, "run": run}
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._last = None


@contextmanager
def candidates_file(path: Path) -> Iterator[Lines]:
    """What writes candidates to what becomes *path*."""
    with whole_file(path) as file:
        lines = Lines(file)
        yield lines
        lines.end()


def _remove_left_over(path: Path) -> None:
    for left in path.parent.glob(f".{path.name}.*.part"):
        number = left.name.split(".")[-2]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            left.unlink(missing_ok=True)
