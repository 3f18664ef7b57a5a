"""Shared by all commands: the database, the answer, the meter of a run, its output, passwords."""

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import spreadsheet_copy
from evenhand.core.language import columns_wide
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
JSON = "evenhand.json"
Function = TypeVar("Function", bound=Callable[..., Any])
Settings = TypeVar("Settings")


def existing_store(db: str) -> Store:
    """Open the database at *db*, for commands that do not create it. Raises NotFound if the file is missing."""
    return Store.open_existing(db)


def settings_from(kind: type[Settings], options: Mapping[str, Any]) -> Settings:
    """Return the settings given by the parameters of a command; those that are not fields of *kind* are ignored."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return from_json(kind, to_json({name: value for name, value in options.items() if name in names}))


@contextmanager
def opened_project(db: str, name: str, uid: str | None = None) -> Iterator[tuple[Store, Project]]:
    """Open the database at *db* and its project *name*, or the one with the id *uid*. Raises NotFound."""
    from evenhand.annotations.projects.projects import project, project_by_uid  # brings numpy along

    with existing_store(db) as store:
        yield store, project_by_uid(store, uid) if uid else project(store, name)


def option(*names: str, **settings: Any) -> Callable[[Function], Function]:
    """Return click's option; its help shows the default if there is one."""
    return click.option(*names, **{"show_default": settings.get("default") not in (None, "")} | settings)


def options(*single: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return several options as one decorator, in their order."""

    def decorate(function: Function) -> Function:
        return reduce(lambda decorated, decorator: decorator(decorated), reversed(single), function)

    return decorate


def _keep_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[JSON] = value


def wants_json() -> bool:
    """Return whether the command that runs has the option --json."""
    return bool(click.get_current_context().meta.get(JSON))


NO_DRAWS = "Without effect since version 2 of the method: its intervals need no draws."
SPREADSHEET = (
    "Write the table to this file too (CSV), with an apostrophe before each text that a spreadsheet would run."
)
db_option = option("--db", envvar="EVENHAND_DB", default="evenhand.db", help="The database file.")
json_option = option("--json", is_flag=True, expose_value=False, callback=_keep_json, help="Print one JSON object.")
answer_options = options(db_option, json_option)
spreadsheet_option = option("--spreadsheet", type=click.Path(dir_okay=False, path_type=Path), help=SPREADSHEET)
seeds_options = options(
    option(
        "--seeds", multiple=True, metavar="NAME=A,B,C",
        help="A, B and C are seeds of one model. Names that end in a seed (bert-seed1, bert_s2) are grouped anyway.",
    ),
    option("--no-seed-names", is_flag=True, help="Group only what --seeds names; ignore the names of models."),
)  # fmt: skip


def margin_option(scale: "Scale", name: str = "--margin", *, of: str = "difference") -> Callable[[Function], Function]:
    """Return the option for the margin of a scale: the largest difference that counts as none; 0 for no margin."""
    from evenhand.core.statistics.equivalence import MARGINS

    default = MARGINS[scale] or 0.0
    unit = {"auc": "AUC, 0 to 1", "share": "share, 0 to 1"}.get(scale, scale)
    help = f"Largest {of} ({unit}) that counts as none; 0: no margin, so nothing is decided."
    return option(name, type=click.FloatRange(min=0), default=default, help=help)


def write_spreadsheet(table: Path | None, copy: Path | None) -> None:
    """Write the copy for `--spreadsheet`. Raises Refused without a table, or if the copy would replace the table."""
    if copy is None:
        return
    if table is None:
        raise Refused(NO_TARGET)
    if copy.resolve() == table.resolve():
        raise Refused(N_("{file} cannot be both the table and its copy."), file=table.name)
    with whole_file(copy) as write:
        write(spreadsheet_copy(table))


def finite(value: Any) -> Any:
    """Return *value* with None in place of NaN and infinities, which JSON cannot hold."""
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


def answer(data: object, text: str | Iterable[str | None]) -> None:
    """Print *data*, a report or its JSON, as one JSON object with --json, or *text* for people.

    *text* is a string, or its parts, of which empty ones are left out. What has columns is a part made by
    `commands.tables.table`.
    """
    if wants_json():
        click.echo(json.dumps(finite(to_json(data)), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text if isinstance(text, str) else "\n".join(filter(None, text)))


class Meter:
    """The progress of a run: the job's row, and a line on stderr with rate and time left.

    On a terminal the line is rewritten twice a second, in a log there is one every half a minute. *unit*: what is
    counted; "MB" means bytes. `with Meter() as meter:` clears the line at the end.
    """

    def __init__(self, unit: str = "rows") -> None:
        self._unit = unit
        self._first: tuple[float, int] | None = None  # when the run could begin, and what an earlier start had done
        self._written = 0.0
        self._alive = sys.stderr.isatty()

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        """Report `done` of `total`; `message` names the model."""
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
    """Return "12,300 of 20,000 rows, 410 a second, about 19 s left (demo-zh)". *before*: done by an earlier start."""
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
    """Return the password of archives in the environment, or None; it is never on the command line."""
    return os.environ.get(VARIABLE) or None


def ask_password(*, new: bool) -> str | None:
    """Return the password in the environment, else one typed at a terminal; a new one is typed twice."""
    if known := environment_password():
        return known
    if not sys.stdin.isatty():
        return None
    typed: str = click.prompt("Password of the archive", hide_input=True, confirmation_prompt=new, err=True)
    return typed


if TYPE_CHECKING:  # it brings numpy along, which takes long to import
    from evenhand.core.statistics.estimate import Estimate

DASH = "—"
Cell = object  # a number, an Estimate, None, a tuple of one of these and its format, or what str writes
NUMBER = re.compile(r"[-+±]?[\d,.]+(?:e[-+]\d+)?%?(?:/h)?|—|nan|-?inf")


def number(value: float | None, form: str = ".3f") -> str:
    """Return *value* in *form*, or a dash if it is None or NaN."""
    return DASH if value is None or value != value else format(value, form)


def table(rows: Iterable[Sequence[Cell]], head: Sequence[str] = (), *, form: str = ".3f", indent: str = "") -> str:
    """Return *rows* as lines of aligned columns under *head*; numbers to the right, an estimate with its interval.

    Floats and estimates have *form*, or that of a tuple (value, form); counts have commas, None is a dash. Why a value
    or an interval is missing, or what it rests on, follows the row in brackets. Columns without a text below their
    head are left out.
    """
    parts = [[_parts(cell, form) for cell in row] for row in rows]
    lines = [[text for cell in row for text in cell[:2]] for row in parts]
    if head:
        lines.insert(0, [text for name in head for text in (name, "")])
    first = 1 if head and parts else 0
    columns = [_aligned(column, first) for column in zip_longest(*lines, fillvalue="") if any(column[first:])]
    notes = ["; ".join(dict.fromkeys(note for *_, note in row if note)) for row in parts]
    ends = ["" for _ in head[:1]] + [f"({note})" if note else "" for note in notes]
    return "\n".join(indent + "  ".join(cells).rstrip() for cells in zip(*columns, ends, strict=True))


def _parts(cell: Cell, form: str) -> tuple[str, str, str]:
    """Return the text of a cell, its interval, and the note that follows the row."""
    if isinstance(cell, tuple):
        return _parts(*cell)
    if cell is None or isinstance(cell, int | float):
        return number(cell, "," if isinstance(cell, int) else form), "", ""
    if not hasattr(cell, "interval_text"):
        return str(cell), "", ""
    estimate = cast("Estimate", cell)
    note = estimate.missing_text(form) if estimate.value is None else str(estimate.note or "")
    return number(estimate.value, form), estimate.interval_text(form), note


def _aligned(column: Sequence[str], head: int) -> list[str]:
    """Return the texts of a column as wide as the widest; to the right if all below the *head* lines are numbers."""
    wide = max(map(columns_wide, column))
    right = all(NUMBER.fullmatch(text) for text in column[head:] if text)
    spaces = (" " * (wide - columns_wide(text)) for text in column)
    return [space + text if right else text + space for text, space in zip(column, spaces, strict=True)]
