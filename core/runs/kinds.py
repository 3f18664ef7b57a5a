"""Kinds of long work: typed settings in, typed report out.

A page, a command and the notebook build the same settings and call the same `run`. A page stores kind and settings as
a job (`evenhand.annotations.jobs`), whose process calls `run`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from evenhand.core.errors import Notice

Settings = TypeVar("Settings")
Report = TypeVar("Report")


class Progress(Protocol):
    """Receives how much of the work is done."""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """`done` of `total` units; `message` names the current step."""


def _unwatched(done: int, total: int | None = None, message: str = "") -> None:
    pass


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run works: the database whose folder holds the runs, and what receives its progress."""

    database: Path
    progress: Progress = _unwatched


@dataclass(frozen=True, slots=True)
class JobKind(Generic[Settings, Report]):
    """One kind of long work.

    `name`: the command that does the same. `settings`, `report`: dataclasses that `core.typed_json` can convert; the
    fields of `settings` are named as the options of the command. `summary`: one sentence about a report, for the list
    of jobs; None where there is nothing to say. `unit`: what progress counts.
    """

    name: str
    settings: type[Settings]
    report: type[Report]
    run: Callable[[Settings, Place], Report]
    summary: Callable[[Report], Notice | None]
    unit: str = "count"


AnyKind = JobKind[Any, Any]
