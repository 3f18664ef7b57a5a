"""`before-after-runs`: finished runs of different models over the same items, side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click

from evenhand.commands.before_after.command import answer_with_appendix
from evenhand.commands.permissions import needs
from evenhand.commands.shared import db_option, json_option
from evenhand.core.before_after.appendix import runs_appendix
from evenhand.core.before_after.two_runs import RunKind, Side, several_runs, usual_margin
from evenhand.core.errors import N_, NotFound
from evenhand.core.runs.records import Run, runs_folder, runs_in, target_or_none

KINDS = ("associations", "nli", "misgendering")
NO_RUN = N_("There is no run or file {name}.")


@click.command("before-after-runs")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("before")
@click.argument("after", nargs=-1, required=True)
@click.option("--before-model", default="", help="Of a run before of several models, the one that is meant.")
@click.option("--after-model", multiple=True,
              help="Of a run after of several models, the one that is meant; once for each seed.")  # fmt: skip
@click.option("--placebo", multiple=True, help="A run of a model that was trained on unswapped text; once for each.")
@click.option("--placebo-model", multiple=True,
              help="Of a run of several models, the placebo; without --placebo, of the runs after.")  # fmt: skip
@click.option("--margin", type=click.FloatRange(min=0),
              help="Largest change (ln for associations, else share) that counts as none; 0: not decided.")  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False), help="A table of every item that both answered (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page lists.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@db_option
@json_option
@needs("measure")
def before_after_runs(kind: str, before: str, after: tuple[str, ...], db: str, as_json: bool, **options: Any) -> None:
    """What differs between finished runs of KIND over the same items: BEFORE, and AFTER a change.

    BEFORE, AFTER: names of finished runs of this database, or tables that `association`, `nli` or `misgendering score`
    wrote. Several runs or models AFTER are seeds of one change; with placebos beside them the change is what exceeds
    theirs, and the seed is the unit (three of each for an interval). Items that not every run has are left out and
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
    answer_with_appendix(report, runs_appendix(report), options["report"], as_json=as_json)


def _sides(kind: RunKind, db: str, names: Sequence[str], models: Sequence[str]) -> list[Side]:
    """Every model that is meant of every run; without *models* that of each run."""
    return [_side(kind, db, name, model) for name in names for model in models or ("",)]


def _side(kind: RunKind, db: str, name: str, model: str) -> Side:
    found = {run.name: run for run in runs_in(runs_folder(db, kind))}
    if name in found:
        return Side.of(found[name], model)
    if not Path(name).is_file():
        raise NotFound(NO_RUN, name=name)
    beside = {run.table: run for run in runs_in(Path(name).resolve().parent)}
    return Side.of(beside.get(Path(name).resolve(), Run("", Path(name), {})), model)
