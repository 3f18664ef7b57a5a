"""`plan PROJECT`: how many labels its items get. `forecast REPORT`: can the text that was mined meet the quotas?"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.forecast.work import Forecast
from evenhand.annotations.forecast.work import forecast as forecast_work
from evenhand.annotations.mining.candidates import stock
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.work import forecast_estimates
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option, say_unsettled, table
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.forecast.corpus import Forecast as SupplyForecast
from evenhand.core.forecast.corpus import forecast as forecast_of
from evenhand.core.forecast.corpus import supplies
from evenhand.core.mining.report import Report
from evenhand.core.resources import quotas as preset_quotas
from evenhand.core.statistics import Estimate


@click.command("plan")
@click.argument("name", metavar="PROJECT")
@option(
    "--set",
    "plan",
    type=click.Choice(["all", "stop"]),
    help="All annotators label every item, or labelling stops at a first reject.",
)
@option("--per-item", type=int, help="How many annotators label an item in full.")
@option("--share", type=float, help="Share of the items that all label under stop, 0 to 1.")
@option("--retest", type=float, help="Share of an annotator's own items that are retested, 0 to 1.")
@option("--retest-hours", type=int, help="Hours before an item is retested.")
@option("--author", default="", help="Who changes it, for the record.")
@option("--candidates", type=click.IntRange(1), help="Forecast for this many candidates, without quotas.")
@option("--on", type=click.Choice(["pilot", "all"]), help="The basis of the forecast (default: a pilot, if any).")
@guarded("change_projects", "name")
def plan(name: str, author: str, candidates: int | None, on: Any, db: str, **settings: Any) -> None:
    """Show or set the plan of labels of PROJECT, with a forecast of labels, hours and candidates under both plans.

    `stop`: no more labels after a first reject, except for a random share that all label. The forecast uses the pilot,
    or all fully labelled items.
    """
    fields = {field: value for field, value in settings.items() if value is not None}
    with opened_project(db, name) as (store, project):
        if fields:
            project = change_project(store, project, author=author, **fields)
        say_unsettled(store, project)
        ahead = forecast_work(store, project, candidates=candidates, on=on)
    shown = {"project": project.name, **{field: getattr(project, field) for field in settings}, "forecast": ahead}
    if candidates is None and on is None:  # other settings forecast another project
        shown["quantities"] = quantities_json(forecast_estimates(ahead))
    answer(shown, [_settings(project), *_text(ahead)])


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


def _text(work_forecast: Forecast) -> Iterator[str]:
    work = work_forecast.work
    rests = "the pilot" if work_forecast.sample == "pilot" else "all items labelled in full"
    if work_forecast.narrowed:
        rests = "items labelled in full, without those that the plan before chose by their labels"
    again = f"; {work_forecast.returned:,} of them wait for relabelling" if work_forecast.returned else ""
    yield f"items {work_forecast.items:,}, labels made {work_forecast.made:,}, annotators {work_forecast.people}"
    yield f"rests on {rests}: {work_forecast.reviewed:,} items{again}"
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
    """Return the estimate, without the interval if that is exactly the value."""
    return replace(estimate, low=None, high=None) if estimate.low == estimate.value == estimate.high else estimate


@click.command("forecast")
@click.argument("report_path", metavar="REPORT", type=click.Path())
@option("--project", "name", help="Take the share that is accepted, and the quotas, from this project.")
@option("--candidates", type=click.Path(), help="The candidates of the same run, with --project.")
@option("--kept", type=click.IntRange(0), help="Without a project: how many of a pilot were accepted ...")
@option("--reviewed", type=click.IntRange(1), help="... of how many that were reviewed.")
@option("--quotas", "wanted", type=click.Choice(["table1", "released"]), help="Quotas of the paper or its file.")
@guarded("change_projects", "name")
def forecast(
    report_path: str, name: str | None, candidates: str | None, kept: int | None, reviewed: int | None,
    wanted: str | None, db: str,
) -> None:  # fmt: skip
    """Forecast whether the text of a run of `mine` (its REPORT) can meet the quotas of each pair and side.

    Prints how many sentences will be accepted, with a 95% prediction interval,
    and how many characters of such text are still needed. A pair and side with fewer than ten
    reviewed candidates takes the share of all together.
    """
    report = _read(Path(report_path))
    goals = preset_quotas("released" if wanted == "released" else "table1")
    if name is None:
        left: dict[tuple[str, str], int] = {cell: counts.candidates for cell, counts in report.cells.items()}
        given = supplies(report, goals, left=left, kept={}, reviewed={}, accepted={})
        work_forecast = forecast_of(given, report.read.characters, pilot=_pilot(kept, reviewed))
    else:
        if candidates is None:
            raise Refused(N_("--project also needs the candidates of the run: --candidates FILE."))
        with opened_project(db, name) as (store, project):
            there = stock(store, project, candidates)
        goals = goals if wanted else there.quotas
        cells: list[tuple[str, str]] = list(report.cells)
        left = {cell: there.pending.get(cell, 0) + there.new.get(cell, 0) for cell in cells}
        done = {cell: there.accepted.get(cell, 0) + there.rejected.get(cell, 0) for cell in cells}
        given = supplies(report, goals, left=left, kept=there.accepted, reviewed=done, accepted=there.accepted)
        work_forecast = forecast_of(given, report.read.characters)
    if not work_forecast.cells:
        raise Refused(N_("No pair of this run has a quota; --quotas table1 uses those of the paper."))
    answer(work_forecast, _supply_text(work_forecast))


def _read(path: Path) -> Report:
    try:
        return Report.from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadFile(N_("{file} cannot be read: {why}."), file=str(path), why=error.strerror or error) from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        raise BadFile(N_("{file} is not a report of `mine`."), file=str(path)) from error


def _pilot(kept: int | None, reviewed: int | None) -> tuple[int, int]:
    if (kept is None) != (reviewed is None) or (kept or 0) > (reviewed or 0):
        raise Refused(N_("Pilot numbers need both --kept and --reviewed, and --reviewed must not be smaller."))
    return kept or 0, reviewed or 0


def _supply_text(work_forecast: SupplyForecast) -> Iterator[str]:
    rows: list[Sequence[object]] = [
        (cell.pair, cell.side, cell.verdict, exact(cell.expected), cell.supply.quota, exact(cell.characters))
        for cell in work_forecast.cells
    ]
    rows.append(
        ("together", "", "", exact(work_forecast.expected), work_forecast.quota, exact(work_forecast.characters))
    )
    yield table(rows, ["", "", "verdict", "accepted", "quota", "more characters"], form=",.0f")
    yield f"scarcest: {' '.join(work_forecast.scarcest)}" if work_forecast.scarcest else ""
    yield work_forecast.signature
