"""`import`, `undo`, `conflicts` and `export`: sentences, generations and labels in; labels and packages out."""

from dataclasses import asdict, replace
from getpass import getuser
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.files import export
from evenhand.annotations.files.detect import FIXED, FORMAT_NAMES, KEYS, english_problem
from evenhand.annotations.files.export_formats import EXPORT_FORMATS, needs_password
from evenhand.annotations.files.import_items import ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.other_tools.import_tasks import LEFT, TaskImport
from evenhand.annotations.files.package.write_package import NOT_STATED, GoldLabels
from evenhand.annotations.files.undo_import import (
    Import,
    UndoEffect,
    conflicts,
    exported_row,
    find_import,
    imports,
    keep_first,
    take_second,
    undo_effect,
)
from evenhand.annotations.files.undo_import import Settings as UndoSettings
from evenhand.annotations.files.undo_import import run as undo_import
from evenhand.annotations.imports.run import LabelsReport, Report, Settings, run
from evenhand.annotations.projects.projects import named_project
from evenhand.commands.permissions import guarded, own_new_project
from evenhand.commands.shared import (
    answer,
    ask_password,
    environment_password,
    existing_store,
    opened_project,
    option,
    settings_from,
    table,
    wants_json,
)
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.archives import NeedsPassword
from evenhand.core.files.csv_out import csv_line
from evenhand.core.language import Count
from evenhand.core.runs.kinds import Place
from evenhand.core.types import JsonObject

LEFT_IN_WORDS = {
    "skipped": "skipped", "empty": "without a choice", "drafts": "drafts", "predictions": "predictions",
    "ground_truth": "ground truth", "without_item": "on texts that could not be used",
    "other": "answers of other kinds",
}  # fmt: skip


def summary_of(report: Report) -> list[str]:
    """Return the lines of the report of an import; empty ones say nothing."""
    if isinstance(report, TaskImport):
        left = [f"{report.left[key]} {LEFT_IN_WORDS[key]}" for key in LEFT if report.left[key]]
        labels = _labels(report.labels) + _beside(report.labels)
        return [_items(report.items), labels, f"counted: {', '.join(left)}" if left else ""]
    return _labels_report(report) if isinstance(report, LabelsReport) else [_items(report)]


def _labels_report(report: LabelsReport) -> list[str]:
    items, labels = report.items, report.labels
    text = "" if items is None else f"{items.imported} items imported, {items.duplicates} duplicates; "
    text += f"{_labels(labels)}; {labels.decisions} decisions and comments{_beside(labels)}"
    return [text, "" if report.gold is None else _gold(report.gold)]


def _labels(labels: LabelImport) -> str:
    return (
        f"{labels.rows} labels read: {labels.imported} imported, {labels.duplicates} here already, "
        f"{labels.rejected} rejected"
    )


def _beside(labels: LabelImport) -> str:
    return f"; {labels.beside} kept beside a label that was here first" if labels.beside else ""


def _gold(gold: GoldLabels) -> str:
    """Return the numbers of the gold labels of a package, and of what it lacks, for the terminal."""
    if not gold.rows and not gold.withheld and not gold.left_out:
        return ""
    text = (
        f"{gold.rows} gold labels: {gold.here} from labels and decisions, {gold.imported} imported without all of "
        f"their single labels, {gold.kept} differ from those here, which stay, {gold.rejected} rejected"
    )
    if gold.withheld:
        text += f"; {gold.withheld} items without a gold label, although the labels in the package agree"
    if gold.left_out and any(gold.left_out.values()):
        text += (
            "\nnot in the package: {labels} {labels:label|labels} of {annotators} {annotators:annotator|annotators} "
            "who did not consent, {comments} {comments:comment|comments} "
            "(theirs and private ones), some labels of {open_cases} open {open_cases:case|cases}"
        ).format(**{name: Count(number) for name, number in gold.left_out.items()})
    elif gold.imported and gold.left_out is None:
        text += f"\n{NOT_STATED}"
    return text


def _items(report: ImportReport) -> str:
    """Return the report of an import in words."""
    text = (
        f"{report.rows} rows read ({report.encoding}): {report.imported} imported, "
        f"{report.duplicates} duplicates, {report.rejected} rejected"
    )
    if report.reasons:
        text += " (" + ", ".join(f"{reason} {count}" for reason, count in report.reasons.most_common()) + ")"
    if report.spans:
        text += "\npositions: " + ", ".join(f"{status} {count}" for status, count in report.spans.most_common())
    if report.repeated:
        text += f"\nleft out, the same rows again: {', '.join(report.repeated)}"
    if report.odd_signs:
        signs = ", ".join(f"{sign} in {count}" for sign, count in sorted(report.odd_signs.items()))
        text += f"\nkept as they are, texts with {signs}"
    if report.turned:
        text += f"\nduplicates with the two texts the other way round: {report.turned}"
    return text


LEFT_OUT = "; left out: {labels} labels of {annotators} annotators without consent"
SHOWN = 20  # problems and conflicts printed for people; --json lists them all


@click.command("import")
@click.argument("name", metavar="PROJECT")
@click.argument("file", type=click.Path())
@option(
    "--format",
    "layout",
    type=click.Choice(list(FORMAT_NAMES)),
    default="auto",
    help="slguset: the released columns, positions repaired. sentences: any table, JSON lines or one sentence per "
    "line. "
    "candidates: what `mine` writes. generations: context and completion, or a published sample. labels: an export "
    "of labels (CSV or JSON lines) of items that are in the project. package: a whole project. label-studio, doccano, "
    "argilla: tasks with annotations, as these programs export them.",
)
@option("--column", help="The column that holds the sentences, if its name does not show it.")
@option(
    "--map",
    "named",
    multiple=True,
    metavar="NAME=COLUMN",
    help="generations: the column that holds NAME ("
    + ", ".join(KEYS)
    + "); once for each. label-studio, doccano, argilla: "
    "the name here of the choice NAME of the file (accept, reject, a reason); empty: ignore it.",
)
@option(
    "--annotator",
    "people",
    multiple=True,
    metavar="FOUND=NAME",
    help="label-studio, doccano, argilla: who FOUND (a number, an e-mail, the name of a file) is here; NAME alone: "
    "who made the annotations without a name.",
)
@option("--ground-truth", "known", is_flag=True, help="label-studio: ground truth becomes known answers.")
@option(
    "--set",
    "fixed",
    multiple=True,
    metavar="NAME=VALUE",
    help="generations: one value for all rows without their own, of " + ", ".join(FIXED) + ".",
)
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs; it is never created.")
@guarded("import_files", "name", by_uid=True, creates=True)
def import_file(db: str, **options: Any) -> None:
    """Import the lines of FILE (.csv, .tsv, .jsonl, .xlsx, .txt, or a .zip of them) into PROJECT.

    An unknown project is created. Lines that cannot be used are reported with their reason; the others are imported.
    Importing the same file twice adds nothing. The password of a locked .zip is taken from EVENHAND_PASSWORD, or asked
    for.
    """
    settings = settings_from(Settings, options)
    place = Place(Path(db), password=environment_password())
    try:
        outcome = run(settings, place)
    except NeedsPassword:
        if place.password is not None or (typed := ask_password(new=False)) is None:
            raise
        outcome = run(settings, replace(place, password=typed))
    if outcome.created is not None:
        with Store.open(db) as store:
            own_new_project(store, outcome.created)
    for problem in [] if wants_json() else outcome.problems[:SHOWN]:
        click.echo(f"{problem.file}:{problem.line}: {problem.reason}: {english_problem(problem)}", err=True)
    answer(outcome.report.as_json(), summary_of(outcome.report))
    outcome.refuse_unusable(settings.file.name)


@click.command("export")
@click.argument("name", metavar="PROJECT")
@click.argument("out", type=click.Path())
@option(
    "--format",
    "layout",
    type=click.Choice(EXPORT_FORMATS),
    required=True,
    help="slguset: as published. jsonl: every item, can be imported again. labels: who chose what (labels-wide: a row "
    "per item; labels-jsonl: with all that was recorded). soft-labels: the share of each choice an item. "
    "disaggregated: one row a label, of annotators who consented (disaggregated-training: to the training of "
    "models). published: generations as the published samples. label-studio: tasks with annotations, and a labelling "
    "configuration next to them. doccano: JSON lines, a file for each "
    "annotator. package: the whole project, can be imported again. datasheet: what the "
    "project is, as Markdown (datasheet-tex: LaTeX).",
)
@option("--items", type=click.Choice(["all", "accepted"]), default="all", help="A release: accepted.")
@option("--names", is_flag=True, help="labels, package: the annotators' names instead of A1, A2, ...")
@option("--history", is_flag=True, help="labels: every operation, replaced and taken-back ones too.")
@option(
    "--spreadsheet",
    is_flag=True,
    help="A CSV for spreadsheet programs: an apostrophe before each text that they would run as a formula (= + - @). "
    "Without it texts are as they are, and offsets fit.",
)
@option(
    "--password",
    "lock",
    is_flag=True,
    help="Encrypt (AES-256 ZIP) with the password in EVENHAND_PASSWORD, or one that is asked for. The text of "
    "generations leaves only encrypted, unless the project's settings open it.",
)
@option("--lang", "language", type=click.Choice(["en", "zh"]), default="en", help="The language of the data sheet.")
@guarded("export_files", "name")
def export_file(name: str, out: str, layout: str, lock: bool, db: str, **options: Any) -> None:
    """Write the items or labels of PROJECT to OUT."""
    with opened_project(db, name) as (store, project):
        password = ask_password(new=True) if lock or needs_password(project, layout) else None
        if lock and password is None:
            raise Refused(N_("Set EVENHAND_PASSWORD to the password of the archive."))
        report = export.export_file(store, project, out, format=layout, password=password, author=getuser(), **options)
    data: JsonObject = {"rows": report.rows}
    if report.out != Path(out) or report.encrypted:
        data |= {"out": str(report.out), "encrypted": report.encrypted}
    locked = ", encrypted" if report.encrypted else ""
    if report.left_out is not None:
        data["left_out"] = {"labels": report.left_out.labels, "annotators": report.left_out.annotators}
        locked += LEFT_OUT.format(labels=report.left_out.labels, annotators=report.left_out.annotators)
    answer(data, f"{report.rows} rows written to {report.out}{locked}")


COLUMNS = ("key", "kind", "item", "text", "annotator", "first", "first_file", "second", "second_file")


@click.command("undo")
@click.argument("name", metavar="PROJECT")
@click.argument("key", metavar="[IMPORT]", required=False)
@option("--yes", is_flag=True, help="Do not ask.")
@option("--author", default="", help="Who undoes it, for the record.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("import_files", "name", by_uid=True)
def undo(name: str, key: str | None, yes: bool, author: str, uid: str | None, db: str) -> None:
    """Undo an import of PROJECT; without IMPORT, list the imports and their names.

    Untouched items are deleted; the others are hidden with their labels, and an import of the same text restores them.
    Valid labels of a file of labels are undone.
    """
    with existing_store(db) as store:
        project = named_project(store, name, uid)
        if key is None:
            listed = imports(store, project)
            answer({"imports": [asdict(import_) for import_ in listed]}, _listed(listed))
            return
        wanted = find_import(store, project, key)
        if not yes and not wants_json() and not wanted.undone:
            click.confirm(
                f"{wanted.file}: {_undo_sentence(wanted, undo_effect(store, project, wanted))}. Undo this import?",
                abort=True,
            )
        elif not yes and wants_json():
            raise Refused(N_("Without a terminal for confirmation, undoing an import requires --yes."))
    done = undo_import(UndoSettings(name, key, yes=True, author=author, uid=uid), Place(Path(db)))
    answer({"import": key, "file": wanted.file} | asdict(done), f"{wanted.file}: {_undo_sentence(wanted, done)}")


def _undo_sentence(wanted: Import, done: UndoEffect) -> str:
    if wanted.gold:
        return f"{done.labels} gold labels removed; the labels and decisions in the project decide again"
    if wanted.kind == "labels":
        stay = f"; {done.chosen} that the lead let count where files disagree still count" if done.chosen else ""
        return f"{done.labels} labels undone; {done.kept} that were already replaced or undone stay as they are{stay}"
    return f"{done.deleted} items deleted, {done.hidden} hidden with {done.labels} labels"


def _listed(found: list[Import]) -> str:
    rows = []
    for import_ in found:
        state = "" if import_.undone is None else f"undone {import_.undone[:16]}"
        state += ", interrupted: run it again" if import_.unfinished else ""
        rows.append((import_.key, import_.created[:16], import_.rows, import_.kind, import_.file, state))
    return table(rows) or "No file was imported into this project."


@click.command("conflicts")
@click.argument("name", metavar="PROJECT")
@option("--take", "taken", metavar="KEY", help="Let the second of this conflict count.")
@option("--keep", "kept", metavar="KEY", help="Keep the first as it is, and remove the conflict from the list.")
@option("--author", default="", help="Who decides, for the record.")
@option("--csv", "out", type=click.Path(), help="Write the list to this file.")
@guarded("import_files", "name")
def list_conflicts(name: str, taken: str | None, kept: str | None, author: str, out: str | None, db: str) -> None:
    """List the conflicts of PROJECT: two files, or a file and a desk, differ on an item.

    The first value is valid until the lead decides. Keywords and texts are listed only: items never change.
    """
    with opened_project(db, name) as (store, project):
        if taken:
            take_second(store, project, taken, author=author)
        if kept:
            keep_first(store, project, kept, author=author)
        listed = conflicts(store, project)
    rows = [exported_row(project, conflict) for conflict in listed]
    if out:
        _write(Path(out), rows)
    data: JsonObject = {"conflicts": rows}
    answer(data, _conflicts(rows))


def conflict_lines(listed: list[JsonObject]) -> str:
    """Return the list as CSV; no cell runs as a formula."""
    rows = [csv_line(COLUMNS), *(csv_line([json_object[key] for key in COLUMNS]) for json_object in listed)]
    return "".join(rows)


def _write(path: Path, listed: list[JsonObject]) -> None:
    try:
        path.write_text(conflict_lines(listed), encoding="utf-8", newline="")
    except OSError as error:
        message = N_("{file} cannot be written: {why}.")
        raise BadFile(message, file=path.name, why=error.strerror or error) from error


def _side(one: JsonObject, which: str) -> str:
    if one[which] == "":
        return "no valid label"
    if one["kind"] in ("text", "word") and not one[f"{which}_file"]:  # of a package with codes
        return "not in this database" if one[which] is None else str(one[which])
    return f"{'—' if one[which] is None else one[which]} ({one[f'{which}_file'] or 'desk'})"


def _conflicts(listed: list[JsonObject]) -> str:
    rows = [
        (
            json_object["key"], json_object["annotator"] or None, _side(json_object, "first"), _side(json_object,
            "second"),
            json_object["item"] if json_object["text"] is None else json_object["text"][:60],
        )
        for json_object in listed[:SHOWN]
    ]  # fmt: skip
    more = f"\n... and {len(listed) - SHOWN} more; --json or --csv has them all" if len(listed) > SHOWN else ""
    heads = ["conflict", "annotator", "first", "second", "item"]
    return table(rows, heads) + more if rows else "Nothing disagrees."
