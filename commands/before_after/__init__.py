"""`before-after`, `-runs`, `-people`: a model before and after a change on the same items, with placebos and seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from evenhand.annotations.before_after.blind import judgements, mixed_project
from evenhand.annotations.before_after.runs import compare_models
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import enter_project, enter_texts, guarded, own_new_project
from evenhand.commands.shared import Meter, answer, existing_store, margin_option, option, settings_from
from evenhand.core.before_after.appendix import appendix, runs_appendix
from evenhand.core.before_after.report import COST_MARGIN, ModelsReport, RunsReport
from evenhand.core.before_after.settings import Settings
from evenhand.core.before_after.two_runs import RunKind, Side, several_runs, usual_margin
from evenhand.core.errors import N_, NotFound
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import Run, run_file, runs_folder, runs_in, target_or_none
from evenhand.core.typed_json import to_json


@click.command("before-after")
@click.argument("items")
@option("--before", "--model", "before", required=True, help="The model before the change.")
@option("--after", multiple=True, required=True, help="The model after it; several: the seeds of one change.")
@option("--placebo", multiple=True, help="A placebo for each of these, in the same order.")
@option("--text", type=click.Path(exists=True, path_type=Path),
        help="Text that no change has seen, one text per line: what the change cost.")  # fmt: skip
@margin_option("log10", of="change")
@option("--cost-margin", type=click.FloatRange(min=0), default=COST_MARGIN,
        help="Largest rise of the held-out loss (ln) that counts as no cost.")  # fmt: skip
@option("--language", help="The language of the items; default: recognised.")
@option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A table of every item and model (CSV).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page lists.")
@option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@option("--no-cache", is_flag=True, help="Do not cache scores.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("start_jobs")
def before_after(items: str, db: str, **options: Any) -> None:
    """Measure what a change to a model moved on ITEMS, what it did not move, and what it lost.

    ITEMS: as for `score`, a file or project:NAME, or built-in: neutral sentences in the language of the model before
    (built-in:zh, built-in:en: in that language). The verdict is on the size of Bias_c (log10): below 0 leans less.
    With placebos it is on what exceeds theirs; with several seeds these are the unit.
    """
    enter_texts(db, items, options["uid"])
    with Meter() as meter:
        report = compare_models(settings_from(Settings, {"items": items, **options}), Place(Path(db), meter))
    answer_with_appendix(report, appendix(report), options["report"])


def answer_with_appendix(report: ModelsReport | RunsReport, text: str, file: Path | None) -> None:
    """Print *report* as JSON or as *text*, which is also written to *file* if one is given."""
    if file is not None:
        file.write_text(text, encoding="utf-8")
    kind = "change" if isinstance(report, ModelsReport) else f"compared {report.kind}"
    answer(to_json(report) | {"quantities": run_json(kind, report)}, text)


NO_MIX = N_("There is no run of mixed generations {name}.")


@click.group("before-after-people")
def before_after_people() -> None:
    """Have people judge generations of before and after a change, without knowing which model wrote them."""


@before_after_people.command("mix")
@click.argument("before", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option("--project", "name", required=True, help="The project to make.")
@option("--run", "run_name", required=True, help="The name of the run that holds the key.")
@option("--annotators", default="", help="Their names, separated by commas.")
@option("--per-item", type=click.IntRange(1, 100), default=3, help="People for each text.")
@option("--per-context", type=click.IntRange(1), default=5, help="Texts of a context from either model at most.")
@option("--language", type=click.Choice(["en", "zh"]), default="en", help="The language of the guideline.")
@option("--seed", type=int, default=0, help="Start of the random choice and order.")
@guarded("create_projects")
def mix(before: Path, after: Path, name: str, run_name: str, db: str, **options: Any) -> None:
    """Make a project of the generations in BEFORE and AFTER, as many of each context from either.

    The project does not show which model wrote a text; the key is stored next to the database as the name of the run.
    """
    out = run_file(runs_folder(db, "comparisons"), run_name)
    people = [entry.strip() for entry in options.pop("annotators").split(",") if entry.strip()]
    with Store.open(db) as store:
        made, mixed = mixed_project(store, name, (before, after), out, annotators=people, **options)
        own_new_project(store, made)
    data = {"project": made.name, "run": run_name, "generations": len(mixed.rows), "contexts": mixed.contexts}
    text = f"{len(mixed.rows):,} generations of {mixed.contexts:,} contexts in {made.name}, half of each model"
    left = f"{mixed.left:,} without a counterpart or beyond --per-context left out"
    answer(data | {"left": mixed.left}, f"{text}; {left}")


@before_after_people.command("result")
@click.argument("run_name", metavar="RUN")
@margin_option("share", of="change")
@option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@guarded("start_jobs")
def result(run_name: str, margin: float, report: Path | None, db: str) -> None:
    """Print the difference between the two models of RUN, by the labels so far, with its interval over contexts."""
    with existing_store(db) as store:
        run = _run(db, run_name)
        project = project_by_uid(store, str(run.facts("project").get("uid")))
        enter_project(store, project.name, None)
        judged = judgements(store, run, margin=margin or None)
    answer_with_appendix(judged, runs_appendix(judged), report)


def _run(db: str, name: str) -> Run:
    found = next((run for run in runs_in(runs_folder(db, "comparisons")) if run.name == name), None)
    if found is None or found.record.get("kind") != "people":
        raise NotFound(NO_MIX, name=name)
    return found


KINDS = ("associations", "nli", "misgendering")
NO_RUN = N_("There is no run or file {name}.")


@click.command("before-after-runs")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("before")
@click.argument("after", nargs=-1, required=True)
@option("--before-model", default="", help="The model of a run before that has several.")
@option("--after-model", multiple=True,
        help="The model of a run after that has several; once for each seed.")  # fmt: skip
@option("--placebo", multiple=True, help="A run of a model that was trained on unswapped text; once for each.")
@option("--placebo-model", multiple=True,
        help="The placebo of a run of several models; without --placebo, of the runs after.")  # fmt: skip
@option("--margin", type=click.FloatRange(min=0),
        help="Largest change (ln for associations, else share) that counts as none; 0: not decided.")  # fmt: skip
@option("--out", type=click.Path(dir_okay=False), help="A table of every item that both answered (CSV).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page lists.")
@option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@guarded("measure")
def before_after_runs(kind: str, before: str, after: tuple[str, ...], db: str, **options: Any) -> None:
    """Compare finished runs of KIND over the same items: BEFORE a change, and AFTER it.

    BEFORE, AFTER: names of finished runs of this database, or tables that `association`, `nli` or `misgendering score`
    wrote. Several runs or models AFTER are seeds of one change; with placebos the change is the part that exceeds
    theirs, and the seed is the unit (three of each for an interval). Items that are missing in a run are left out and
    counted.
    """
    of = cast(RunKind, kind)
    out, _ = target_or_none(db, "comparisons", options["out"], options["run_name"])
    first = _side(of, db, before, options["before_model"])
    afters = _sides(of, db, after, options["after_model"])
    runs = options["placebo"] or (after if options["placebo_model"] else ())
    placebos = _sides(of, db, runs, options["placebo_model"])
    margin = usual_margin(of) if options["margin"] is None else options["margin"] or None
    report = several_runs(of, first, afters, placebos, margin=margin, out=out)
    answer_with_appendix(report, runs_appendix(report), options["report"])


def _sides(kind: RunKind, db: str, names: Sequence[str], models: Sequence[str]) -> list[Side]:
    """Return one side for each run and model of *models*; without *models* one for each run."""
    return [_side(kind, db, name, model) for name in names for model in models or ("",)]


def _side(kind: RunKind, db: str, name: str, model: str) -> Side:
    values = {run.name: run for run in runs_in(runs_folder(db, kind))}
    if name in values:
        return Side.of(values[name], model)
    if not Path(name).is_file():
        raise NotFound(NO_RUN, name=name)
    beside = {run.table: run for run in runs_in(Path(name).resolve().parent)}
    return Side.of(beside.get(Path(name).resolve(), Run("", Path(name), {})), model)
