"""`people PROJECT [add|rename|deactivate|replace|consent|give-back|record]`: the annotators of a project."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects import projects
from evenhand.annotations.projects.annotators import participants
from evenhand.annotations.projects.consent import TEXTS, USES, Use, answer_consent, answer_for_everybody, consents
from evenhand.annotations.record.files import record_csv, record_json
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import answer, db_option, opened_project, option, options, table
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.language import Language

_changing = options(
    option("--author", default="", help="Who does this; kept with the time."),
    click.pass_obj,
    guarded("change_projects", "project"),
)


class _OfProject(click.Group):
    """A group whose options may follow the project when there is not a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_interspersed_args = not set(args[1:]) & set(self.commands)
        return super().parse_args(ctx, args)


@click.group("people", cls=_OfProject, invoke_without_command=True)
@click.argument("project")
@click.pass_context
@guarded("see_names", "project")
def people(context: click.Context, project: str, db: str) -> None:
    """Manage the annotators of PROJECT; without a command, list present and former ones.

    --db and --json come last.
    """
    context.obj = project
    if context.invoked_subcommand is None:
        with opened_project(db, project) as (store, stored_project):
            _print_people(store, stored_project)


def _print_people(store: Store, project: Project, **more: Any) -> None:
    active = {annotator.id for annotator in projects.annotators(store, project)}
    everybody = projects.annotators(store, project, active=False)
    by_link = participants(store, project)
    rows = [
        {
            "name": annotator.name,
            "id": annotator.uid,
            "active": annotator.id in active,
            "participant": annotator.id in by_link,
        }
        for annotator in everybody
    ]
    lines = [
        (row["name"], "participant of a study" if row["participant"] else "", "" if row["active"] else "has left")
        for row in rows
    ]
    answer({"annotators": rows, **more}, table(lines) or "Nobody yet.")


@people.command()
@click.argument("names", nargs=-1, required=True)
@_changing
def add(project: str, names: tuple[str, ...], author: str, db: str) -> None:
    """Add annotators, or reactivate those who had left."""
    with opened_project(db, project) as (store, stored_project):
        projects.add_annotators(store, stored_project, names, author=author)
        _print_people(store, stored_project)


@people.command()
@click.argument("old")
@click.argument("new")
@_changing
def rename(project: str, old: str, new: str, author: str, db: str) -> None:
    """Give an annotator another name, here and in every other project; labels stay."""
    with opened_project(db, project) as (store, stored_project):
        person = projects.annotator(store, stored_project, old)
        others = projects.other_projects(store, stored_project, person)
        projects.rename_annotator(store, stored_project, person, new, author=author)
        if others:
            click.echo(f"Renamed in these projects too: {', '.join(others)}", err=True)
        _print_people(store, stored_project, also_in=others)


@people.command()
@click.argument("name")
@_changing
def deactivate(project: str, name: str, author: str, db: str) -> None:
    """Deactivate NAME: leases end, labels stay and count."""
    with opened_project(db, project) as (store, stored_project):
        projects.remove_annotator(store, stored_project, projects.annotator(store, stored_project, name), author=author)
        _print_people(store, stored_project)


@people.command()
@click.argument("old")
@click.argument("new")
@_changing
def replace(project: str, old: str, new: str, author: str, db: str) -> None:
    """Replace OLD by NEW: open items move; OLD is deactivated and keeps the labels."""
    with opened_project(db, project) as (store, stored_project):
        projects.replace_annotator(
            store, stored_project, projects.annotator(store, stored_project, old), new, author=author
        )
        _print_people(store, stored_project)


@people.command()
@click.argument("name", required=False)
@option("--use", type=click.Choice(USES), help="The use; needed to store an answer. Default: all uses.")
@option("--give/--withdraw", "given", default=None, help="Store NAME's answer, given to you in writing.")
@option("--give-all", is_flag=True, help="Store that all who have not answered consent, as you have in writing.")
@option("--lang", type=click.Choice(["en", "zh"]), default="en", help="The language of the text that they read.")
@click.pass_obj
@guarded("change_projects", "project")
def consent(
    project: str, name: str | None, use: Use | None, given: bool | None, give_all: bool, lang: Language, db: str,
) -> None:  # fmt: skip
    """List who consents to each use of single labels; with NAME and --give or --withdraw, store an answer.

    Uses: release (single labels in releases, with notes and times), disaggregated (the export of that name, without
    them), training (of models on single labels). Answers are appended, and the newest counts. Annotators
    give and withdraw consent on the page My record.
    """
    if (name is None) != (given is None):
        raise Refused(N_("Give a name together with --give or --withdraw."))
    if use is None and (given is not None or give_all):
        raise Refused(N_("Give the use with --use: {uses}."), uses=", ".join(USES))
    with opened_project(db, project) as (store, stored_project):
        if name is not None and given is not None and use is not None:
            person = projects.annotator(store, stored_project, name)
            answer_consent(store, stored_project, person, use, given=given, language=lang, recorded_by="lead")
        if give_all and use is not None:
            answer_for_everybody(store, stored_project, use, language=lang)
        asked: tuple[Use, ...] = USES if use is None else (use,)
        every = [(each, stored_consent) for each in asked for stored_consent in consents(store, stored_project, each)]
    words = {True: "consents", False: "does not consent", None: "has not answered"}
    data = [
        {"annotator": one.annotator.name, "use": each, "given": one.given, "recorded_by": one.recorded_by,
         "created": one.created}
        for each, one in every
    ]  # fmt: skip
    lines = [(use, one.annotator.name, words[one.given]) for use, one in every]
    answer({"texts": {each: TEXTS[each] for each in asked}, "consents": data}, table(lines))


@people.command("give-back")
@click.argument("name")
@_changing
def give_back(project: str, name: str, author: str, db: str) -> None:
    """Release the items on NAME's desk for others, except those for relabelling."""
    with opened_project(db, project) as (store, stored_project):
        items = projects.give_back(
            store, stored_project, projects.annotator(store, stored_project, name), author=author
        )
    answer({"given_back": items}, f"{items} items were given back.")


@people.command()
@click.argument("name")
@option("--format", "kind", type=click.Choice(["json", "csv"]), default="json")
@option("--out", type=click.Path(path_type=Path), help="The file to write; without it the record is printed.")
@db_option
@click.pass_obj
@needs("see_names", "project")
def record(project: str, name: str, kind: str, out: Path | None, db: str) -> None:
    """Print the record of NAME in PROJECT, as NAME may see it."""
    with opened_project(db, project) as (store, stored_project):
        person = projects.annotator(store, stored_project, name)
        parts = (record_json if kind == "json" else record_csv)(store, stored_project, person)
        if out is None:
            # Read completely before printing: a pager would keep the read transaction open.
            click.echo("".join(parts), nl=False)
            return
        _write(out, parts)
    click.echo(str(out), err=True)


def _write(out: Path, parts: Iterable[str] | Iterator[str]) -> None:
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
    except OSError as error:
        raise BadFile(N_("{file} cannot be written: {why}."), file=str(out), why=error.strerror or error) from error
