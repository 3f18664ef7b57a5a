"""`progress PROJECT`: the work of annotators, missing items per pair and side, whether the quotas can be met."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import click

from evenhand.annotations.progress.annotators import Worker
from evenhand.annotations.progress.cells import NO_PACE, CellState
from evenhand.annotations.progress.dashboard import Dashboard, dashboard
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

    Candidates needed = missing / share kept so far; the limits are those of the share's 95% interval (Wilson's,
    modified for rare counts). A pair and side with fewer than ten reviewed items uses the share of all together.
    """
    where = _zone(zone)
    with opened_project(db, project) as (store, shown):
        say_unsettled(store, shown)
        found = dashboard(store, shown, zone=where)
    answer(dashboard_json(found), _text(found, shown.kind == "generations"))


def _zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Refused(N_("{zone} is not a time zone; write it like Asia/Shanghai."), zone=name) from error


def dashboard_json(found: Dashboard) -> JsonObject:
    """Return the dashboard as JSON: times in UTC, shares from 0 to 1, undefined values null with a reason."""
    return {
        "project": found.project,
        "at": timestamp(found.moment),
        "annotators": [_person(person) for person in found.people],
        "days": [asdict(day) for day in found.days],
        "cells": [_cell(cell) for cell in found.cells],
        "labels_left": found.ahead.labels,
        "candidates_to_review": found.ahead.candidates,
        "labels_per_item": round(found.ahead.each, 3),
        **with_reasons({"pace": found.pace}, NO_PACE),
        **with_reasons({"hours_left": found.hours}, found.hours_reason),
        **with_reasons({"hours_left_each": found.each}, found.hours_reason),
        "signature": found.signature,
    }


def _person(one: Worker) -> JsonObject:
    return {
        "name": one.annotator.name, "id": one.annotator.uid, "active": one.active,
        "participant": one.participant, "labels": one.labels,
        **one.accepted.named("accepted"), "today": one.today, "last_7_days": one.week,
        **with_reasons({"pace": one.pace}, NO_PACE), **with_reasons({"median_seconds": one.seconds}, NO_SECONDS),
        "last_label": one.last, "heard": one.heard and timestamp(one.heard),
        "in_hand": one.leased, "sent_back": one.sent_back, "stalled_since": one.stalled and timestamp(one.stalled),
        "skipped": one.skipped, "conflicts": one.conflicts, "shared_items": one.differs.most.units,
        **one.differs.most.named("differs_from_most"), **one.differs.any.named("differs_from_any"),
    }  # fmt: skip


def _cell(one: CellState) -> JsonObject:
    forecast = one.forecast
    return {
        "pair": one.pair, "side": one.side, **asdict(one.counted), "missing": forecast.missing,
        **forecast.rate.named("share_kept"), "share_of": forecast.share_of, **forecast.needed.named("needed"),
        **forecast.to_find.named("to_find"), "verdict": forecast.verdict,
    }  # fmt: skip


def _text(found: Dashboard, generations: bool) -> Iterator[str]:
    people = [
        (
            worker.annotator.name if worker.active else f"{worker.annotator.name} (has left)", worker.labels,
            worker.accepted, worker.today, worker.week, number(worker.pace, ",.0f"), worker.leased,
            timestamp(worker.stalled) if worker.stalled else "", worker.differs.most,
        )
        for worker in found.people
    ]  # fmt: skip
    heads = ["", "labels", "accepted", "today", "7 days", "per hour", "in hand", "stalled since", "differs from most"]
    yield table(people, heads, form=".1%") if people else "Nobody labels here yet."
    heads = ["", "", "mined", "reviewed", "accepted by all", "kept", "left", "quota", "needs", "verdict"]
    if generations:
        heads[4] = "same choice"
        heads.insert(5, "of those with two blind labels")
    cells = [_cell_row(cell, generations) for cell in found.cells]
    yield table(cells, heads, form=",.0f") if cells else ""
    hours = f"— ({found.hours_reason})" if found.hours is None else f"{found.hours:,.1f} hours of work"
    yield f"labels left: {found.ahead.labels:,}; at the present pace: {hours}"
    yield found.signature


def _cell_row(cell: CellState, generations: bool) -> list[object]:
    counted = cell.counted
    counts = [counted.mined, counted.reviewed, counted.unanimous, *([counted.compared] if generations else [])]
    quota = () if counted.quota is None else (counted.quota, cell.forecast.needed, WORDS[cell.forecast.verdict])
    return [cell.pair, cell.side, *counts, counted.kept, counted.left, *quota]
