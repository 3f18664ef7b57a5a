"""`plan PROJECT`: how many labels its items get, and the work that this takes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.work import Forecast, forecast
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.types import Project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, json_option, opened_project, say_unsettled
from evenhand.commands.tables import table
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import to_json

SETTINGS = ("plan", "per_item", "share", "retest", "retest_hours")


@click.command("plan")
@click.argument("name", metavar="PROJECT")
@click.option("--set", "wanted", type=click.Choice(["all", "stop"]), help="All label every item, or stop at a reject.")
@click.option("--per-item", type=int, help="How many annotators label an item in full.")
@click.option("--share", type=float, help="Of the items that all label under stop, 0 to 1.")
@click.option("--retest", type=float, help="Share of an annotator's own items that are retested, 0 to 1.")
@click.option("--retest-hours", type=int, help="Not before this many hours.")
@click.option("--author", default="", help="Who changes it, for the record.")
@click.option("--candidates", type=click.IntRange(1), help="Forecast for this many candidates, without quotas.")
@click.option(
    "--on", type=click.Choice(["pilot", "all"]), help="What the forecast rests on (default: a pilot, if any)."
)
@db_option
@json_option
@needs("change_projects", "name")
def plan(
    name: str,
    wanted: str | None,
    per_item: int | None,
    share: float | None,
    retest: float | None,
    retest_hours: int | None,
    author: str,
    candidates: int | None,
    on: Any,
    db: str,
    as_json: bool,
) -> None:
    """Show or set the plan of labels of PROJECT, with a forecast of labels, hours and candidates under both plans.

    `stop`: no more labels after a first reject, except for a random share that all label. The forecast uses the pilot,
    or all fully labelled items.
    """
    asked = {"plan": wanted, "per_item": per_item, "share": share, "retest": retest, "retest_hours": retest_hours}
    fields = {field: value for field, value in asked.items() if value is not None}
    with opened_project(db, name) as (store, found):
        if fields:
            found = change_project(store, found, author=author, **fields)
        say_unsettled(store, found)
        _answer(store, found, candidates, on, as_json)


def _answer(store: Store, found: Project, candidates: int | None, on: Any, as_json_: bool) -> None:
    ahead = forecast(store, found, candidates=candidates, on=on)
    settings = {field: getattr(found, field) for field in SETTINGS}
    shown = {"project": found.name, **settings, "forecast": to_json(ahead)}
    answer(shown, [_settings(found), *_text(ahead)], as_json=as_json_)


def _settings(project: Project) -> str:
    if project.plan == "stop":
        text = f"{project.name}: stop at the first reject, up to {project.per_item} labels"
        text += f"; {project.share:.0%} labelled by all"
    else:
        text = f"{project.name}: {project.per_item} labels for every item"
        if project.doubled is not None:
            text = f"{project.name}: {project.per_item} labels for {project.doubled} items, one for the others"
    again = f"{project.retest:.0%} retested after {project.retest_hours} h" if project.retest else "no retests"
    return f"{text}; {again}"


def _text(found: Forecast) -> Iterator[str]:
    work = found.work
    rests = "the pilot" if found.sample == "pilot" else "all items labelled in full"
    if found.narrowed:
        rests = "items labelled in full, without those that the plan before chose by their labels"
    again = f"; {found.returned:,} of them wait for relabelling" if found.returned else ""
    yield f"items {found.items:,}, labels made {found.made:,}, annotators {found.people}"
    yield f"rests on {rests}: {found.reviewed:,} items{again}"
    facts = [
        ("accepted by all", exact(work.rate), ".1%"),
        ("seconds of a label, mean", exact(work.seconds), ".1f"),
        ("items to be judged", exact(work.candidates), ",.0f"),
        ("candidates for the quotas", exact(work.needed), ",.0f"),
        ("labels that stop saves", exact(work.saved), ".1%"),
    ]
    yield table((name, (value, form)) for name, value, form in facts)
    plans = [
        (name, exact(plan.judgements), (exact(plan.hours), ",.1f"), (exact(plan.each), ".2f"))
        for name, plan in (("all", work.all), ("stop", work.stop))
    ]
    yield table(plans, ["plan", "labels", "hours", "labels per item"], form=",.0f")
    cells = [(cell.pair, cell.side, exact(cell.needed), cell.quota, cell.stock) for cell in work.cells]
    yield table(cells, ["", "", "candidates needed", "quota", "there are"], form=",.0f") if cells else ""
    yield work.signature


def exact(estimate: Estimate) -> Estimate:
    """Return the estimate, without the interval where it is exactly the value."""
    return replace(estimate, low=None, high=None) if estimate.low == estimate.value == estimate.high else estimate
