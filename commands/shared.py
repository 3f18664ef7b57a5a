"""What every command has in common: where the database is, and how an answer is printed."""

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from annotations.database.store import Store
from annotations.items.recount_mark import unsettled
from annotations.types import Project
from core.errors import N_, EvenhandError, NotFound, Notice

HALF_SETTLED = (
    "A setting has changed and the items are being counted anew: these numbers are partly those of before. "
    "The app, the next change, import, export or release goes on with it."
)
Function = TypeVar("Function", bound=Callable[..., Any])


def existing_store(db: str) -> Store:
    """The database at *db*, for commands that make none. Raises NotFound where there is no file."""
    if not Path(db).is_file():
        raise NotFound(N_("There is no database {path}: check --db and EVENHAND_DB."), path=db)
    return Store.open(db)


def db_option(function: Function) -> Function:
    """`--db PATH`: the database; EVENHAND_DB, else evenhand.db."""
    option = click.option(
        "--db", envvar="EVENHAND_DB", default="evenhand.db", show_default=True, help="The database file."
    )
    return option(function)


def json_option(function: Function) -> Function:
    """`--json`: one JSON object on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def finite(value: Any) -> Any:
    """*value* with None in place of NaN and infinities: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value


def warn(notices: Iterable[Notice], failed: Iterable[tuple[str, EvenhandError]] = ()) -> None:
    """Say on stderr what a run has to tell, and which models could not be used."""
    for notice in notices:
        click.echo(notice.text, err=True)
    for _, error in failed:
        click.echo(str(error), err=True)


def say_unsettled(store: Store, project: Project) -> None:
    """Say on stderr where a change of settings has not reached every item: numbers are partly of before."""
    if unsettled(store, project) is not None:
        click.echo(HALF_SETTLED, err=True)


def answer(data: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print *data* as one JSON object, or *text* for people."""
    click.echo(json.dumps(finite(data), ensure_ascii=False, allow_nan=False) if as_json else text)
