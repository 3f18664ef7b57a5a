"""`before-after-people`: generations of two models blind in one project, and what people say of both."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.before_after.blind import judgements, mixed_project
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.commands.before_after.command import answer_with_appendix
from evenhand.commands.permissions import enter_project, needs, own_new_project
from evenhand.commands.shared import answer, db_option, existing_store, json_option, margin_option
from evenhand.core.before_after.appendix import runs_appendix
from evenhand.core.errors import N_, NotFound
from evenhand.core.runs.records import Run, run_file, runs_folder, runs_in

NO_MIX = N_("There is no run of mixed generations {name}.")


@click.group("before-after-people")
def before_after_people() -> None:
    """What people say of generations before and after a change, without knowing which model wrote them."""


@before_after_people.command("mix")
@click.argument("before", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--project", "name", required=True, help="The project to make.")
@click.option("--run", "run_name", required=True, help="The name of the run that holds the key.")
@click.option("--annotators", default="", help="Their names, separated by commas.")
@click.option("--per-item", type=click.IntRange(1, 100), default=3, show_default=True, help="People for each text.")
@click.option("--per-context", type=click.IntRange(1), default=5, show_default=True,
              help="Texts of a context from either model at most.")  # fmt: skip
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True,
              help="Of the guideline.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice and the order.")
@db_option
@json_option
@needs("create_projects")
def mix(before: Path, after: Path, name: str, run_name: str, db: str, as_json: bool, **options: Any) -> None:
    """Make a project of the generations in BEFORE and AFTER, as many of each context from either.

    Nothing in the project tells which model wrote a text; the key lies beside the database under the name of the run.
    """
    out = run_file(runs_folder(db, "comparisons"), run_name)
    people = [one.strip() for one in options.pop("annotators").split(",") if one.strip()]
    with Store.open(db) as store:
        made, mixed = mixed_project(store, name, (before, after), out, annotators=people, **options)
        own_new_project(store, made)
    data = {"project": made.name, "run": run_name, "generations": len(mixed.rows), "contexts": mixed.contexts}
    text = f"{len(mixed.rows):,} generations of {mixed.contexts:,} contexts in {made.name}, half of each model"
    left = f"{mixed.left:,} without a counterpart or beyond --per-context left out"
    answer(data | {"left": mixed.left}, f"{text}; {left}", as_json=as_json)


@before_after_people.command("result")
@click.argument("run_name", metavar="RUN")
@margin_option("share", of="change")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@db_option
@json_option
@needs("start_jobs")
def result(run_name: str, margin: float, report: Path | None, db: str, as_json: bool) -> None:
    """The difference between the two models of RUN, by the labels so far, with its interval over contexts."""
    with existing_store(db) as store:
        found = _run(db, run_name)
        project = project_by_uid(store, str(found.facts("project").get("uid")))
        enter_project(store, project.name, None)
        judged = judgements(store, found, margin=margin or None)
    answer_with_appendix(judged, runs_appendix(judged), report, as_json=as_json)


def _run(db: str, name: str) -> Run:
    found = next((run for run in runs_in(runs_folder(db, "comparisons")) if run.name == name), None)
    if found is None or found.record.get("kind") != "people":
        raise NotFound(NO_MIX, name=name)
    return found
