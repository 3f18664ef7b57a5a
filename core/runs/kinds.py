"""Kinds of long work: typed settings in, typed report out.

A page, a command and the notebook build the same settings and call the same `run`. A page stores kind and settings as
a job (`evenhand.annotations.jobs`), whose process calls `run`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from evenhand.core.errors import N_, Notice

Settings = TypeVar("Settings")
Report = TypeVar("Report")
RESUMED = N_("Nothing is lost: resuming adds only what is still missing.")


class Progress(Protocol):
    """A function that receives the progress of some work."""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """Report *done* of *total* units; *message* names the current step."""


def _unwatched(done: int, total: int | None = None, message: str = "") -> None:
    pass


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a run: the database whose folder contains the runs, and the receiver of its progress.

    `password`: of archives that are read or written; it is never stored.
    """

    database: Path
    progress: Progress = _unwatched
    password: str | None = None


@dataclass(frozen=True, slots=True)
class UnusableLine:
    """A line of a file that could not be used: its number, the code of the reason, an English sentence, its text."""

    file: str
    line: int
    reason: str
    message: str
    sentence: str = ""


def _no_sentence(report: object) -> Sequence[Notice]:
    return ()


def _run_option(settings: Any) -> str:
    """Return the option --run of the command."""
    return getattr(settings, "run_name", None) or ""


def _no_lines(report: object) -> tuple[Sequence[UnusableLine], int]:
    return (), 0


def _no_file(settings: object, database: Path) -> Path | None:
    return None


@dataclass(frozen=True, slots=True)
class JobKind(Generic[Settings, Report]):
    """One kind of long work.

    `name`: the words of the command that does the same. `settings`, `report`: dataclasses that `core.typed_json` can
    convert; the fields of `settings` are named as the parameters of the command, and have its defaults. `summary`:
    sentences about a report, for the list of jobs. `unusable`: lines of a file that could not be used, the first ones,
    and how many in all. `unit`: what progress counts. `resuming`: says what is left of an
    interrupted job; `restarts`: such a job begins again. `run_name`: the name of the run that is written; "" for none.
    `partial_file`: the file, below the folder of a database, whose rows can be read before it is complete.
    """

    name: str
    settings: type[Settings]
    report: type[Report]
    run: Callable[[Settings, Place], Report]
    summary: Callable[[Report], Sequence[Notice]] = _no_sentence
    unusable: Callable[[Report], tuple[Sequence[UnusableLine], int]] = _no_lines
    unit: Literal["count", "bytes"] = "count"
    resuming: str = RESUMED
    restarts: bool = False
    run_name: Callable[[Settings], str] = _run_option
    partial_file: Callable[[Settings, Path], Path | None] = _no_file


AnyKind = JobKind[Any, Any]
