"""`import` and `export`: sentences in, releases and labels out."""

import click

from annotations.formats import exporting
from annotations.formats.importing import Examined, ImportReport, english, examine, import_examined, look_through
from annotations.formats.layouts import FORMATS
from annotations.job_process import progress
from annotations.mining import PATIENCE_S
from annotations.projects import create_project, project, project_by_uid
from annotations.store import Store
from annotations.types import Project
from commands.shared import answer, db_option, existing_store, json_option
from core.errors import N_, BadFile, NotFound

SHOWN = 20  # problems printed for people; --json lists them all


@click.command("import")
@click.argument("name", metavar="PROJECT")
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    "layout",
    type=click.Choice(["auto", *FORMATS]),
    default="auto",
    show_default=True,
    help="slguset: the released columns, positions repaired. sentences: any table, JSON lines or a "
    "sentence a line. candidates: what `mine` writes. generations: columns context and completion.",
)
@click.option("--column", help="The column that holds the sentences, where its name does not say so.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs; it is never created.")
@db_option
@json_option
def import_file(name: str, file: str, layout: str, column: str | None, uid: str | None, db: str, as_json: bool) -> None:
    """Bring the sentences of FILE (.csv, .tsv, .jsonl, .txt) into PROJECT; an unknown project is created.

    Lines that cannot be used are reported with their reason, the rest goes in.
    Importing the same file twice adds nothing.
    """
    examined = examine(file, format=layout, column=column)
    with Store.open(db) as store:
        found = project_by_uid(store, uid) if uid else _project(store, name, examined)
        report = _imported(store, found, examined) if found else look_through(examined)
    for problem in [] if as_json else report.errors[:SHOWN]:
        click.echo(f"{problem.file}:{problem.line}: {problem.reason}: {english(problem)}", err=True)
    answer(report.as_json(), _summary(report), as_json=as_json)
    if report.rejected and report.rejected == report.rows:
        message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
        first = report.errors[0]
        raise BadFile(message, rows=report.rows, file=first.file, line=first.line, why=english(first))


def _imported(store: Store, project: Project, examined: Examined) -> ImportReport:
    # Two jobs may mine for the same project; a person at the terminal would rather be told than wait.
    patience_s = PATIENCE_S if examined.layout.format == "candidates" else 0.0
    return import_examined(store, project, examined, progress=progress(), patience_s=patience_s)


def _project(store: Store, name: str, examined: Examined) -> Project | None:
    """The project, made where it is unknown; None where it is unknown and the file has nothing to put into it."""
    try:
        return project(store, name)
    except NotFound:
        return create_project(store, name, kind=examined.layout.kind) if examined.usable else None


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
    help="slguset: as published. jsonl: everything, can be imported again. labels: who chose what.",
)
@click.option(
    "--items", type=click.Choice(["all", "accepted"]), default="all", show_default=True, help="A release: accepted."
)
@click.option("--names", is_flag=True, help="labels: the annotators' names instead of A1, A2, ...")
@click.option("--history", is_flag=True, help="labels: every operation, replaced and taken-back ones too.")
@db_option
@json_option
def export_file(
    name: str, out: str, layout: str, items: str, names: bool, history: bool, db: str, as_json: bool
) -> None:
    """Write the items or labels of PROJECT to OUT."""
    with existing_store(db) as store:
        found = project(store, name)
        report = exporting.export_file(store, found, out, format=layout, items=items, names=names, history=history)
    answer({"rows": report.rows}, f"{report.rows} rows written to {out}", as_json=as_json)
