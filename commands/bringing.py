"""`import` of labels and of whole projects: what was exported comes back."""

from collections.abc import Sequence
from typing import Any

import click

from annotations.formats import packages
from annotations.formats.archives import Member
from annotations.formats.importing import english
from annotations.projects import project as find_project
from annotations.projects import project_by_uid
from annotations.returning import Returned
from annotations.store import Store
from commands.shared import answer, existing_store
from core.errors import N_, BadFile

SHOWN = 20  # problems printed for people; --json lists them all


def bring_labels(
    name: str, members: Sequence[Member], file: str, *, uid: str | None, layout: str, db: str, as_json: bool
) -> None:
    """Import labels into a project that is there, or a package into a project that may be new; print what came back."""
    if layout == "package" or packages.is_package(members):
        with Store.open(db) as store:
            brought = packages.bring_package(store, name, members, file)
        labels = brought.labels
        items = {} if brought.items is None else {"items": brought.items.as_json()}
        text = (
            ""
            if brought.items is None
            else f"{brought.items.imported} items imported, {brought.items.duplicates} duplicates; "
        )
    else:
        with existing_store(db) as store:
            found = project_by_uid(store, uid) if uid else find_project(store, name)
            labels = Returned()
            for member in members:
                labels.add(packages.bring_labels(store, found, member, file if len(members) == 1 else member.name))
        items, text = {}, ""
    for problem in [] if as_json else labels.errors[:SHOWN]:
        click.echo(f"{problem.file}:{problem.line}: {problem.reason}: {english(problem)}", err=True)
    answer(_described(labels) | items, text + _summary(labels), as_json=as_json)
    if labels.rejected and labels.rejected == labels.rows:
        message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
        first = labels.errors[0]
        raise BadFile(message, rows=labels.rows, file=first.file, line=first.line, why=english(first))


def _described(labels: Returned) -> dict[str, Any]:
    errors = [
        {"file": one.file, "line": one.line, "reason": one.reason, "message": english(one)} for one in labels.errors
    ]
    numbers = ("rows", "imported", "duplicates", "beside", "rejected", "decisions")
    return {key: getattr(labels, key) for key in numbers} | {"errors": errors}


def _summary(labels: Returned) -> str:
    text = (
        f"{labels.rows} labels read: {labels.imported} imported, {labels.duplicates} here already, "
        f"{labels.rejected} rejected; {labels.decisions} decisions and comments"
    )
    return text + (f"; {labels.beside} kept beside a label that was here first" if labels.beside else "")
