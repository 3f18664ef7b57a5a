"""`undo` and `conflicts`: undo of imports, and conflicts between files."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.conflicts import conflicts, exported_row, keep_first, take_second
from evenhand.annotations.files.undo import Import, Settings, UndoEffect, find_import, imports, run, undo_effect
from evenhand.annotations.projects.projects import named_project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, opened_project
from evenhand.commands.tables import table
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.csv_out import csv_line
from evenhand.core.runs.kinds import Place

SHOWN = 20  # conflicts printed for people; --json and --csv have them all
COLUMNS = ("key", "kind", "item", "text", "annotator", "first", "first_file", "second", "second_file")


@click.command("undo")
@click.argument("name", metavar="PROJECT")
@click.argument("key", metavar="[IMPORT]", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--author", default="", help="Who undoes it, for the record.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("import_files", "name", by_uid=True)
def undo(name: str, key: str | None, yes: bool, author: str, uid: str | None, db: str, as_json: bool) -> None:
    """Undo an import of PROJECT; without IMPORT, list the imports and their names.

    Untouched items are deleted; the others are hidden with their labels, and an import of the same text restores them.
    Valid labels of a file of labels are undone.
    """
    with existing_store(db) as store:
        found = named_project(store, name, uid)
        if key is None:
            listed = imports(store, found)
            answer({"imports": [asdict(one) for one in listed]}, _listed(listed), as_json=as_json)
            return
        wanted = find_import(store, found, key)
        if not yes and not as_json and not wanted.undone:
            click.confirm(
                f"{wanted.file}: {_undo_sentence(wanted, undo_effect(store, found, wanted))}. Undo this import?",
                abort=True,
            )
        elif not yes and as_json:
            raise Refused(N_("Undoing an import without a terminal to confirm requires --yes."))
    done = run(Settings(name, key, yes=True, author=author, uid=uid), Place(Path(db)))
    answer(
        {"import": key, "file": wanted.file} | asdict(done),
        f"{wanted.file}: {_undo_sentence(wanted, done)}",
        as_json=as_json,
    )


def _undo_sentence(wanted: Import, done: UndoEffect) -> str:
    if wanted.gold:
        return f"{done.labels} gold labels removed; the labels and decisions in the project decide again"
    if wanted.kind == "labels":
        stay = f"; {done.chosen} that the lead let count where files disagree still count" if done.chosen else ""
        return f"{done.labels} labels undone; {done.kept} that were already replaced or undone stay as they are{stay}"
    return f"{done.deleted} items deleted, {done.hidden} hidden with {done.labels} labels"


def _listed(found: list[Import]) -> str:
    rows = []
    for one in found:
        state = "" if one.undone is None else f"undone {one.undone[:16]}"
        state += ", interrupted: run it again" if one.unfinished else ""
        rows.append((one.key, one.created[:16], one.rows, one.kind, one.file, state))
    return table(rows) or "No file was imported into this project."


@click.command("conflicts")
@click.argument("name", metavar="PROJECT")
@click.option("--take", "taken", metavar="KEY", help="Let the second of this conflict count.")
@click.option("--keep", "kept", metavar="KEY", help="Keep the first as it is, and remove the conflict from the list.")
@click.option("--author", default="", help="Who decides, for the record.")
@click.option("--csv", "out", type=click.Path(), help="Write the list to this file.")
@db_option
@json_option
@needs("import_files", "name")
def list_conflicts(
    name: str, taken: str | None, kept: str | None, author: str, out: str | None, db: str, as_json: bool
) -> None:
    """List the conflicts of PROJECT: two files, or a file and a desk, differ on an item.

    The first value is valid until the lead decides. Keywords and texts are listed only: items never change.
    """
    with opened_project(db, name) as (store, found):
        if taken:
            take_second(store, found, taken, author=author)
        if kept:
            keep_first(store, found, kept, author=author)
        listed = conflicts(store, found)
    rows = [exported_row(found, one) for one in listed]
    if out:
        _write(Path(out), rows)
    data: dict[str, Any] = {"conflicts": rows}
    answer(data, _conflicts(rows), as_json=as_json)


def conflict_lines(listed: list[dict[str, Any]]) -> str:
    """The list as CSV; no cell runs as a formula."""
    rows = [csv_line(COLUMNS), *(csv_line([one[key] for key in COLUMNS]) for one in listed)]
    return "".join(rows)


def _write(path: Path, listed: list[dict[str, Any]]) -> None:
    try:
        path.write_text(conflict_lines(listed), encoding="utf-8", newline="")
    except OSError as error:
        message = N_("{file} cannot be written: {why}.")
        raise BadFile(message, file=path.name, why=error.strerror or error) from error


def _side(one: dict[str, Any], which: str) -> str:
    if one[which] == "":
        return "no valid label"
    if one["kind"] in ("text", "word") and not one[f"{which}_file"]:  # of a package with codes
        return "not in this database" if one[which] is None else str(one[which])
    return f"{'—' if one[which] is None else one[which]} ({one[f'{which}_file'] or 'desk'})"


def _conflicts(listed: list[dict[str, Any]]) -> str:
    rows = [
        (
            one["key"], one["annotator"] or None, _side(one, "first"), _side(one, "second"),
            one["item"] if one["text"] is None else one["text"][:60],
        )
        for one in listed[:SHOWN]
    ]  # fmt: skip
    more = f"\n... and {len(listed) - SHOWN} more; --json or --csv has them all" if len(listed) > SHOWN else ""
    heads = ["conflict", "annotator", "first", "second", "item"]
    return table(rows, heads) + more if rows else "Nothing disagrees."
