"""`progress PROJECT`: the work of annotators, missing items per pair and side, whether the quotas can be met."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import click

from evenhand.annotations.progress.annotators import Worker
from evenhand.annotations.progress.cells import NO_PACE, CellState
from evenhand.annotations.progress.dashboard import Dashboard, dashboard
from evenhand.annotations.quantities.catalogue import PROGRESS, estimates
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.quantities.work import remaining_estimates
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, number, opened_project, option, say_unsettled, table
from evenhand.core.errors import N_, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.forecast.quota import WORDS
from evenhand.core.forecast.work_model import NO_SECONDS
from evenhand.core.typed_json import with_reasons
from evenhand.core.types import JsonObject


@click.command("progress")
@click.argument("project")
@option("--zone", default="UTC", help="The time zone of the days, as Asia/Shanghai.")
@guarded("see_names", "project")
def progress(project: str, zone: str, db: str) -> None:
    """Print the work of annotators, missing items per pair and side, and whether the candidates can meet the quotas.

    Candidates needed = missing / share accepted so far; the limits are those of the share's 95% interval (Wilson's,
    modified for rare counts). A pair and side with fewer than ten reviewed items uses the share of all together.
    """
    where = _zone(zone)
    with opened_project(db, project) as (store, shown):
        say_unsettled(store, shown)
        with store.read():
            overview, numbers = dashboard(store, shown, zone=where), estimates(Snapshot(store, shown), PROGRESS)
    numbers |= remaining_estimates(overview)
    data = dashboard_json(overview) | {"quantities": quantities_json(numbers)}
    answer(data, _text(overview, shown.kind == "generations"))


def _zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Refused(N_("{zone} is not a time zone; write it like Asia/Shanghai."), zone=name) from error


def dashboard_json(overview: Dashboard) -> JsonObject:
    """Return the dashboard as JSON: times in UTC, shares from 0 to 1, undefined values null with a reason."""
    return {
        "project": overview.project,
        "at": timestamp(overview.moment),
        "annotators": [_person(person) for person in overview.people],
        "days": [asdict(day) for day in overview.days],
        "cells": [_cell(cell) for cell in overview.cells],
        "labels_left": overview.ahead.labels,
        "candidates_to_review": overview.ahead.candidates,
        "labels_per_item": round(overview.ahead.each, 3),
        **with_reasons({"pace": overview.pace}, NO_PACE),
        **with_reasons({"hours_left": overview.hours}, overview.hours_reason),
        **with_reasons({"hours_left_each": overview.each}, overview.hours_reason),
        "signature": overview.signature,
    }


def _person(worker: Worker) -> JsonObject:
    return {
        "name": worker.annotator.name,
        "id": worker.annotator.uid,
        "active": worker.active,
        "participant": worker.participant,
        "labels": worker.labels,
        **worker.accepted.named("accepted"),
        "today": worker.today,
        "last_7_days": worker.week,
        **with_reasons({"pace": worker.pace}, NO_PACE),
        **with_reasons({"median_seconds": worker.seconds}, NO_SECONDS),
        "last_label": worker.last,
        "heard": worker.heard and timestamp(worker.heard),
        "in_hand": worker.leased,
        "sent_back": worker.sent_back,
        "stalled_since": worker.stalled and timestamp(worker.stalled),
        "skipped": worker.skipped,
        "conflicts": worker.conflicts,
        "shared_items": worker.differs.most.units,
        **worker.differs.most.named("differs_from_most"),
        **worker.differs.any.named("differs_from_any"),
    }


def _cell(cell_state: CellState) -> JsonObject:
    forecast = cell_state.forecast
    return {
        "pair": cell_state.pair, "side": cell_state.side, **asdict(cell_state.counted), "missing": forecast.missing,
        **forecast.rate.named("share_kept"), "share_of": forecast.share_of, **forecast.needed.named("needed"),
        **forecast.to_find.named("to_find"), "verdict": forecast.verdict,
    }  # fmt: skip


def _text(overview: Dashboard, generations: bool) -> Iterator[str]:
    people = [
        (
            worker.annotator.name if worker.active else f"{worker.annotator.name} (has left)", worker.labels,
            worker.accepted, worker.today, worker.week, number(worker.pace, ",.0f"), worker.leased,
            timestamp(worker.stalled) if worker.stalled else "", worker.differs.most,
        )
        for worker in overview.people
    ]  # fmt: skip
    heads = ["", "labels", "accepted", "today", "7 days", "per hour", "in hand", "stalled since", "differs from most"]
    yield table(people, heads, form=".1%") if people else "Nobody labels here yet."
    heads = ["", "", "mined", "reviewed", "accepted by all", "accepted", "left", "quota", "needs", "verdict"]
    if generations:
        heads[4] = "same choice"
        heads.insert(5, "of those with two blind labels")
    cells = [_cell_row(cell, generations) for cell in overview.cells]
    yield table(cells, heads, form=",.0f") if cells else ""
    hours = f"— ({overview.hours_reason})" if overview.hours is None else f"{overview.hours:,.1f} hours of work"
    yield f"labels left: {overview.ahead.labels:,}; at the present pace: {hours}"
    yield overview.signature


def _cell_row(cell: CellState, generations: bool) -> list[object]:
    counted = cell.counted
    counts = [counted.mined, counted.reviewed, counted.unanimous, *([counted.compared] if generations else [])]
    quota = () if counted.quota is None else (counted.quota, cell.forecast.needed, WORDS[cell.forecast.verdict])
    return [cell.pair, cell.side, *counts, counted.kept, counted.left, *quota]
