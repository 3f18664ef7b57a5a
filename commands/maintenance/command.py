"""`backup`, `restore`, `doctor`: keep the database safe and find out what is wrong."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from annotations.database import backup as snapshots
from commands.maintenance.doctor import examine
from commands.shared import answer, db_option, existing_store, json_option

SIGNS = {"ok": "ok     ", "warning": "warning", "problem": "PROBLEM"}


@click.command()
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
@db_option
@json_option
def backup(out: Path, db: str, as_json: bool) -> None:
    """Copy the whole database to OUT, also while people are labelling.

    The copy is what the database was at one moment. It is checked from end to
    end before it gets its name, and never replaces a file.
    """
    with existing_store(db) as store:
        made = snapshots.backup(store, out)
    _report(made, "Saved {path}: {contents}.", as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Also where there is a database; the old one is kept beside it.")
@db_option
@json_option
def restore(file: Path, force: bool, db: str, as_json: bool) -> None:
    """Replace the database by the backup FILE. Stop the app first.

    FILE is checked from end to end before anything is changed.
    """
    _report(snapshots.restore(file, Path(db), force=force), "Restored {path}: {contents}.", as_json)


@click.command()
@click.option("--worker/--no-worker", default=True, show_default=True, help="Start the inference worker and ask it.")
@db_option
@json_option
def doctor(worker: bool, db: str, as_json: bool) -> None:
    """Check whether everything that the app needs is present; exit code 1 if something has to be done."""
    findings = examine(Path(db), worker=worker)
    bad = any(finding.state == "problem" for finding in findings)
    lines = [f"{SIGNS[finding.state]}  {finding.name:<9} {finding.text}" for finding in findings]
    rows = [{"name": each.name, "state": each.state, "message": each.text} for each in findings]
    answer({"ok": not bad, "findings": rows}, "\n".join(lines), as_json=as_json)
    if bad:
        sys.exit(1)


def _contents(made: snapshots.Snapshot) -> str:
    return f"{made.projects} projects, {made.items} items, {made.labels} labels, {made.bytes / 1e6:.1f} MB"


def _report(made: snapshots.Snapshot, text: str, as_json: bool) -> None:
    data = asdict(made) | {"path": str(made.path)}
    answer(data, text.format(path=made.path, contents=_contents(made)), as_json=as_json)
