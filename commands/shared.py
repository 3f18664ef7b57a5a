"""Shared by all commands: the database, the answer, the meter of a run, its output, passwords."""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.csv_out import spreadsheet_copy
from evenhand.core.files.whole_file import whole_file
from evenhand.core.runs.records import NO_TARGET, Failure
from evenhand.core.typed_json import from_json, to_json

if TYPE_CHECKING:
    from evenhand.core.statistics.equivalence import Scale

RECOUNTING = (
    "A setting has changed and the items are being recounted: some of these numbers are old. "
    "The app, or the next change, import, export or release, finishes the recount."
)
EVERY_S, EVERY_LOGGED_S = 0.5, 30.0
VARIABLE = "EVENHAND_PASSWORD"
Function = TypeVar("Function", bound=Callable[..., Any])
Settings = TypeVar("Settings")


def existing_store(db: str) -> Store:
    """Open the database at *db*, for commands that do not create it. Raises NotFound if there is no file."""
    return Store.open_existing(db)


def settings_from(kind: type[Settings], options: Mapping[str, Any]) -> Settings:
    """Return the settings that the parameters of a command say; what is no field of *kind* is left out."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return from_json(kind, to_json({name: value for name, value in options.items() if name in names}))


@contextmanager
def opened_project(db: str, name: str, uid: str | None = None) -> Iterator[tuple[Store, Project]]:
    """Open the database at *db* and its project *name*, or the one with the id *uid*. Raises NotFound."""
    from evenhand.annotations.projects.projects import project, project_by_uid  # brings numpy along

    with existing_store(db) as store:
        yield store, project_by_uid(store, uid) if uid else project(store, name)


def db_option(function: Function) -> Function:
    """`--db PATH`: the database; EVENHAND_DB, else evenhand.db."""
    option = click.option(
        "--db", envvar="EVENHAND_DB", default="evenhand.db", show_default=True, help="The database file."
    )
    return option(function)


NO_DRAWS = "Without effect since version 2 of the method: its intervals need no draws."


def json_option(function: Function) -> Function:
    """`--json`: one JSON object on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def spreadsheet_option(function: Function) -> Function:
    """`--spreadsheet FILE`: a copy of the table for spreadsheet programs."""
    help = "Write the table to this file too (CSV), with an apostrophe before each text that a spreadsheet would run."
    return click.option("--spreadsheet", type=click.Path(dir_okay=False, path_type=Path), help=help)(function)


def margin_option(scale: "Scale", name: str = "--margin", *, of: str = "difference") -> Callable[[Function], Function]:
    """An option for the margin of a scale: up to which size a difference counts as none; 0 for no margin."""
    from evenhand.core.statistics.equivalence import MARGINS

    default = MARGINS[scale] or 0.0
    unit = {"auc": "AUC, 0 to 1", "share": "share, 0 to 1"}.get(scale, scale)
    help = f"Largest {of} ({unit}) that counts as none; 0: no margin, so nothing is decided."
    return click.option(name, type=click.FloatRange(min=0), default=default, show_default=True, help=help)


def seeds_options(function: Function) -> Function:
    """`--seeds NAME=A,B,C` and `--no-seed-names`: which models are seeds of one."""
    option = click.option(
        "--seeds", multiple=True, metavar="NAME=A,B,C",
        help="A, B and C are seeds of one model. Names that end in a seed (bert-seed1, bert_s2) are grouped anyway.",
    )  # fmt: skip
    other = click.option(
        "--no-seed-names", is_flag=True, help="Group only what --seeds names, whatever models are called."
    )
    return option(other(function))


def write_spreadsheet(table: Path | None, copy: Path | None) -> None:
    """Write what `--spreadsheet` asks for. Raises Refused where there is no table or the copy would replace it."""
    if copy is None:
        return
    if table is None:
        raise Refused(NO_TARGET)
    if copy.resolve() == table.resolve():
        raise Refused(N_("{file} cannot be both the table and its copy."), file=table.name)
    with whole_file(copy) as write:
        write(spreadsheet_copy(table))


def finite(value: Any) -> Any:
    """*value* with None in place of NaN and infinities: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value


def warn(notices: Iterable[Notice], failed: Iterable[Failure] = ()) -> None:
    """Print the notes of a run and the failed models on stderr."""
    for notice in notices:
        click.echo(notice.text, err=True)
    for failure in failed:
        click.echo(failure.text, err=True)


def say_unsettled(store: Store, project: Project) -> None:
    """Print a notice on stderr during a recount: some numbers are old."""
    if open_recount(store, project) is not None:
        click.echo(RECOUNTING, err=True)


def answer(data: object, text: str | Iterable[str | None], *, as_json: bool) -> None:
    """Print *data*, a report or its JSON, as one JSON object, or *text* for people.

    *text* is a string, or its parts, of which empty ones are left out. What has columns is a part made by
    `commands.tables.table`.
    """
    if as_json:
        click.echo(json.dumps(finite(to_json(data)), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text if isinstance(text, str) else "\n".join(filter(None, text)))


class Meter:
    """The progress of a run: the job's row, and a line on stderr with rate and time left.

    On a terminal the line is rewritten twice a second, in a log there is one every half a minute. *unit*: what is
    counted; "MB" stands for bytes. `with Meter() as meter:` clears the line at the end.
    """

    def __init__(self, unit: str = "rows") -> None:
        self._unit = unit
        self._first: tuple[float, int] | None = None  # when the run could begin, and what an earlier start had done
        self._written = 0.0
        self._alive = sys.stderr.isatty()

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """`done` of `total`; `message` names the model."""
        now = time.monotonic()
        if self._first is None:
            self._first, self._written = (now, done), now
        began, before = self._first
        if now - self._written < (EVERY_S if self._alive else EVERY_LOGGED_S) or not done:
            return
        self._written = now
        line = rate_line(done, total or done, now - began, message, unit=self._unit, before=before)
        click.echo(f"\r\033[K{line}" if self._alive else line, err=True, nl=not self._alive)

    def __enter__(self) -> "Meter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._alive:
            click.echo("\r\033[K", err=True, nl=False)


def rate_line(done: int, total: int, seconds: float, model: str = "", *, unit: str = "rows", before: int = 0) -> str:
    """12,300 of 20,000 rows, 410 a second, about 19 s left (demo-zh). *before*: done by an earlier start."""
    rate = (done - before) / seconds if seconds > 0 else 0.0
    if unit == "MB":
        text, speed = f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB", f"{rate / 1e6:,.1f} MB a second"
    else:
        text, speed = f"{done:,} of {total:,} {unit}", f"{rate:,.0f} a second"
    if rate:
        left = (total - done) / rate
        time_left = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min" if left < 5400 else f"{left / 3600:.1f} h"
        text += f", {speed}, about {time_left} left"
    return f"{text} ({model})" if model else text


def environment_password() -> str | None:
    """The password of archives in the environment, or None; never on the command line."""
    return os.environ.get(VARIABLE) or None


def ask_password(*, new: bool) -> str | None:
    """The password in the environment, else one typed at a terminal; a new one is typed twice."""
    if known := environment_password():
        return known
    if not sys.stdin.isatty():
        return None
    typed: str = click.prompt("Password of the archive", hide_input=True, confirmation_prompt=new, err=True)
    return typed
