"""`forecast REPORT CANDIDATES`: can the text that was mined meet the quotas?"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from evenhand.annotations.mining.candidates import stock
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import needs
from evenhand.commands.plan.command import exact
from evenhand.commands.shared import answer, db_option, existing_store, json_option
from evenhand.commands.tables import table
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.forecast.corpus import Forecast, Supply, supplies
from evenhand.core.forecast.corpus import forecast as forecast_of
from evenhand.core.mining.report import Report
from evenhand.core.resources import quotas as preset_quotas
from evenhand.core.typed_json import to_json


@click.command("forecast")
@click.argument("report_path", metavar="REPORT", type=click.Path())
@click.option("--project", "name", help="Take the share that is kept, and the quotas, from this project.")
@click.option("--candidates", type=click.Path(), help="The candidates of the same run, with --project.")
@click.option("--kept", type=click.IntRange(0), help="Without a project: how many of a pilot were kept ...")
@click.option("--reviewed", type=click.IntRange(1), help="... of how many that were reviewed.")
@click.option("--quotas", "wanted", type=click.Choice(["table1", "released"]), help="Quotas of the paper or its file.")
@db_option
@json_option
@needs("change_projects", "name")
def forecast(
    report_path: str,
    name: str | None,
    candidates: str | None,
    kept: int | None,
    reviewed: int | None,
    wanted: str | None,
    db: str,
    as_json: bool,
) -> None:
    """Can the text of a run of `mine` (its REPORT) meet the quotas of each pair and side, and how much is missing?

    Sentences kept in the end with a 95% prediction interval; characters of
    such text that are still needed. A pair and side with fewer than ten
    reviewed candidates takes the share of all together.
    """
    report = _read(Path(report_path))
    if name is None:
        found = forecast_of(*_from_pilot(report, wanted), pilot=_pilot(kept, reviewed))
    else:
        if candidates is None:
            raise Refused(N_("--project also needs the candidates of the run: --candidates FILE."))
        with existing_store(db) as store:
            there = stock(store, find_project(store, name), candidates)
        goals = preset_quotas("released" if wanted == "released" else "table1") if wanted else there.quotas
        cells: list[tuple[str, str]] = list(report.cells)
        left = {cell: there.pending.get(cell, 0) + there.new.get(cell, 0) for cell in cells}
        done = {cell: there.accepted.get(cell, 0) + there.rejected.get(cell, 0) for cell in cells}
        given = supplies(report, goals, left=left, kept=there.accepted, reviewed=done, accepted=there.accepted)
        found = forecast_of(given, report.read.characters)
    if not found.cells:
        raise Refused(N_("No pair of this run has a quota; --quotas table1 uses those of the paper."))
    answer(to_json(found), _text(found), as_json=as_json)


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


def _from_pilot(report: Report, wanted: str | None) -> tuple[dict[tuple[str, str], Supply], int]:
    goals = preset_quotas("released" if wanted == "released" else "table1")
    left: dict[tuple[str, str], int] = {cell: counts.candidates for cell, counts in report.cells.items()}
    return supplies(report, goals, left=left, kept={}, reviewed={}, accepted={}), report.read.characters


def _text(found: Forecast) -> Iterator[str]:
    rows: list[Sequence[object]] = [
        (cell.pair, cell.side, cell.verdict, exact(cell.expected), cell.supply.quota, exact(cell.characters))
        for cell in found.cells
    ]
    rows.append(("together", "", "", exact(found.expected), found.quota, exact(found.characters)))
    yield table(rows, ["", "", "verdict", "kept", "quota", "more characters"], form=",.0f")
    yield f"scarcest: {' '.join(found.scarcest)}" if found.scarcest else ""
    yield found.signature
