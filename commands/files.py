"""`import` and `export`: sentences, generations and labels in; releases, labels and packages out."""

from pathlib import Path
from typing import Any

import click

from annotations.formats import exporting, labels_in, packages
from annotations.formats.archives import Member
from annotations.formats.columns import FIXED, KEYS, Columns
from annotations.formats.importing import Examined, ImportReport, english, import_examined, look_through
from annotations.formats.layouts import FORMATS
from annotations.formats.opening import examine_tables
from annotations.formats.wishes import needs_password
from annotations.job_process import progress
from annotations.mining import PATIENCE_S
from annotations.projects import create_project, project, project_by_uid
from annotations.store import Store
from annotations.types import Kind, Project
from commands.bringing import bring_labels
from commands.passwords import asked_for, opened
from commands.shared import answer, db_option, existing_store, json_option
from core.errors import N_, BadFile, NotFound, Refused

SHOWN = 20  # problems printed for people; --json lists them all


@click.command("import")
@click.argument("name", metavar="PROJECT")
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    "layout",
    type=click.Choice(["auto", *FORMATS, *labels_in.FORMATS]),
    default="auto",
    show_default=True,
    help="slguset: the released columns, positions repaired. sentences: any table, JSON lines or a sentence a line. "
    "candidates: what `mine` writes. generations: context and completion, or a published sample. labels: an export "
    "of labels (CSV or JSON lines) of items that are in the project. package: a whole project.",
)
@click.option("--column", help="The column that holds the sentences, where its name does not say so.")
@click.option(
    "--map",
    "named",
    multiple=True,
    metavar="NAME=COLUMN",
    help="generations: the column that holds NAME (" + ", ".join(KEYS) + "); once for each.",
)
@click.option(
    "--set",
    "fixed",
    multiple=True,
    metavar="NAME=VALUE",
    help="generations: one value for all rows without their own, of " + ", ".join(FIXED) + ".",
)
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs; it is never created.")
@db_option
@json_option
def import_file(
    name: str,
    file: str,
    layout: str,
    column: str | None,
    named: tuple[str, ...],
    fixed: tuple[str, ...],
    uid: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Bring the lines of FILE (.csv, .tsv, .jsonl, .xlsx, .txt, or a .zip of them) into PROJECT.

    An unknown project is created. Lines that cannot be used are reported with
    their reason, the rest goes in. Importing the same file twice adds nothing.
    The password of a locked .zip is taken from EVENHAND_PASSWORD, or asked for.
    """
    wished = Columns(_pairs(named, "--map", KEYS), _pairs(fixed, "--set", FIXED)) if named or fixed else None
    with opened(file) as members:
        if layout in labels_in.FORMATS or (layout == "auto" and _comes_back(members)):
            bring_labels(name, members, Path(file).name, uid=uid, layout=layout, db=db, as_json=as_json)
            return
        layout = _format_for(name, uid, db) if layout == "auto" else layout
        examined = examine_tables(members, format=layout, column=column, wished=wished)
        with Store.open(db) as store:
            found = project_by_uid(store, uid) if uid else _project(store, name, examined)
            report = _imported(store, found, examined, Path(file).name) if found else look_through(examined)
    for problem in [] if as_json else report.errors[:SHOWN]:
        click.echo(f"{problem.file}:{problem.line}: {problem.reason}: {english(problem)}", err=True)
    answer(report.as_json(), _summary(report), as_json=as_json)
    if report.rejected and report.rejected == report.rows:
        message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
        first = report.errors[0]
        raise BadFile(message, rows=report.rows, file=first.file, line=first.line, why=english(first))


def _comes_back(members: list[Member]) -> bool:
    return packages.is_package(members) or labels_in.is_labels(members[0])


def _format_for(name: str, uid: str | None, db: str) -> str:
    """How a file is read that goes into this project: what the project holds says more than a header.

    The database is not made for it: a file that turns out to be none leaves nothing behind.
    """
    if not Path(db).is_file():
        return "auto"
    with Store.open(db) as store:
        try:
            found = project_by_uid(store, uid) if uid else project(store, name)
        except NotFound:
            return "auto"
    return "generations" if found.kind == "generations" else "auto"


def _pairs(given: tuple[str, ...], option: str, known: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE from the command line. Raises BadFile where it is no such pair."""
    pairs = [text.partition("=") for text in given]
    for key, sign, _value in pairs:
        if not sign or key.strip() not in known:
            message = N_("{option} takes NAME=VALUE, with a name of {known}.")
            raise BadFile(message, option=option, known=", ".join(known))
    return {key.strip(): value.strip() for key, _sign, value in pairs}


def _imported(store: Store, project: Project, examined: list[Examined], file: str) -> ImportReport:
    # Two jobs may mine for the same project; a person at the terminal would rather be told than wait.
    patience_s = PATIENCE_S if examined[0].layout.format == "candidates" else 0.0
    return import_examined(store, project, examined, progress=progress(), patience_s=patience_s, file=file)


def _project(store: Store, name: str, examined: list[Examined]) -> Project | None:
    """The project, made where it is unknown; None where it is unknown and the file has nothing to put into it."""
    try:
        return project(store, name)
    except NotFound:
        kind = examined[0].layout.kind
        usable = any(one.usable for one in examined)
        return create_project(store, name, kind=kind, **BEGUN[kind]) if usable else None


# How a project begins that an import makes: models are judged on English (SPEC 4)
BEGUN: dict[Kind, dict[str, Any]] = {"sentences": {}, "generations": {"language": "en"}}


def _summary(report: ImportReport) -> str:
    text = (
        f"{report.rows} rows read ({report.encoding}): {report.imported} imported, "
        f"{report.duplicates} duplicates, {report.rejected} rejected"
    )
    if report.reasons:
        text += " (" + ", ".join(f"{reason} {count}" for reason, count in report.reasons.most_common()) + ")"
    if report.spans:
        text += "\npositions: " + ", ".join(f"{status} {count}" for status, count in report.spans.most_common())
    return text


@click.command("export")
@click.argument("name", metavar="PROJECT")
@click.argument("out", type=click.Path())
@click.option(
    "--format",
    "layout",
    type=click.Choice(exporting.EXPORT_FORMATS),
    required=True,
    help="slguset: as published. jsonl: every item, can be imported again. labels: who chose what (labels-wide: a row "
    "per item; labels-jsonl: with all that was recorded). published: generations as the published samples. "
    "label-studio: tasks with annotations, and a labelling configuration beside them. doccano: JSON lines, a file for "
    "each annotator. package: the whole project, can be imported again. datasheet: what the project is, as Markdown.",
)
@click.option(
    "--items", type=click.Choice(["all", "accepted"]), default="all", show_default=True, help="A release: accepted."
)
@click.option("--names", is_flag=True, help="labels, package: the annotators' names instead of A1, A2, ...")
@click.option("--history", is_flag=True, help="labels: every operation, replaced and taken-back ones too.")
@click.option(
    "--password",
    "lock",
    is_flag=True,
    help="Encrypt (AES-256 ZIP) with the password in EVENHAND_PASSWORD, or one that is asked for. The text of "
    "generations leaves only so, unless the project's settings open it.",
)
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Of the data sheet.")
@db_option
@json_option
def export_file(
    name: str,
    out: str,
    layout: str,
    items: str,
    names: bool,
    history: bool,
    lock: bool,
    lang: str,
    db: str,
    as_json: bool,
) -> None:
    """Write the items or labels of PROJECT to OUT."""
    with existing_store(db) as store:
        found = project(store, name)
        password = asked_for(new=True) if lock or needs_password(found, layout) else None
        if lock and password is None:
            raise Refused(N_("Give the password of the archive in EVENHAND_PASSWORD."))
        report = exporting.export_file(
            store, found, out, format=layout, items=items, names=names, history=history, password=password,
            language=lang,
        )  # fmt: skip
    data: dict[str, Any] = {"rows": report.rows}
    if report.out != Path(out) or report.encrypted:
        data |= {"out": str(report.out), "encrypted": report.encrypted}
    locked = ", encrypted" if report.encrypted else ""
    answer(data, f"{report.rows} rows written to {report.out}{locked}", as_json=as_json)
