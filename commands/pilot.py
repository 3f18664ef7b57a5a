"""`python cli.py pilot`: items that everybody labels first, with free tags."""

from dataclasses import asdict

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import tag_codes, tags
from evenhand.annotations.pilot import pilots
from evenhand.annotations.pilot.progress import PilotProgress, pilot_progress
from evenhand.annotations.quantities.pilots import pilot_estimates, pilot_numbers
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option, table
from evenhand.core.types import JsonObject


@click.group()
def pilot() -> None:
    """Let everybody label a few items first, with free tags, before the criteria are fixed."""


@pilot.command()
@click.argument("name")
@option("--items", type=click.IntRange(min=1), default=100, help="How many items are drawn.")
@option("--seed", type=int, help="Start of the random draw (default: the project's).")
@option("--author", default="", help="Who starts it; kept with the event.")
@guarded("change_projects", "name")
def start(name: str, items: int, seed: int | None, author: str, db: str) -> None:
    """Draw unlabelled items; until the pilot is closed nothing else is handed out."""
    with opened_project(db, name) as (store, project):
        made = pilots.start_pilot(store, project, items, seed=seed, author=author)
    text = f"Pilot {made.number} is open: {made.items} items, {made.people} annotators label each."
    answer(asdict(made) | {"project": project.name}, text)


@pilot.command()
@click.argument("name")
@option("--author", default="", help="Who closes it; kept with the event.")
@guarded("change_projects", "name")
def close(name: str, author: str, db: str) -> None:
    """End the open pilot; its labels stay, items without a label leave it."""
    with opened_project(db, name) as (store, project):
        ended = pilots.close_pilot(store, project, author=author)
        figures = pilot_progress(store, project, ended)
    answer({"project": project.name} | _figures(figures), _line(figures))


@pilot.command()
@click.argument("name")
@guarded("see_names", "name")
def show(name: str, db: str) -> None:
    """Print the figures of every pilot of a project, and the tags with their criteria."""
    with opened_project(db, name) as (store, project):
        found = pilot_numbers(store, project)
        written = _tags(store, project)
    shown = [one.figures for one in found.values()]
    lines = list(map(_line, shown)) or ["This project has had no pilot."]
    rows = [(tag["tag"] or None, tag["items"], tag["labels"], _decided(tag)) for tag in written]
    lines.append(table(rows, ["tag", "items", "labels"], indent="  ") if rows else "")
    numbers = {number: quantities_json(pilot_estimates(one)) for number, one in found.items()}
    data = {"project": project.name, "pilots": list(map(_figures, shown)), "tags": written, "quantities": numbers}
    answer(data, lines)


def _tags(store: Store, project: Project) -> list[JsonObject]:
    codes, quotes = tag_codes(store, project), text_may_leave(project)  # a free tag may quote the text
    return [
        {
            "tag": tag.text if quotes else None, "items": tag.items, "labels": tag.labels,
            "annotators": tag.annotators, "decided": tag.text in codes, "code": codes.get(tag.text),
        }
        for tag in tags(store, project)
    ]  # fmt: skip


def _decided(each: JsonObject) -> str:
    if not each["decided"]:
        return ""
    return f"-> {each['code']}" if each["code"] else "left out"


def _figures(figures: PilotProgress) -> JsonObject:
    return {
        "number": figures.pilot.number, "begun": figures.pilot.begun, "closed": figures.pilot.closed,
        "drawn": figures.pilot.items, "items": figures.items, "labelled": figures.labelled,
        "compared": figures.compared,
        "complete": figures.complete, **figures.unanimous.named("all_agree"),
        "annotators": [
            {"annotator": person.annotator.name, "labelled": person.labelled, **person.accepted.named("accepted")}
            for person in figures.people
        ],
        "signature": figures.signature,
    }  # fmt: skip


def _line(figures: PilotProgress) -> str:
    pilot = figures.pilot
    state = "open" if pilot.closed is None else "closed"
    counts = f"{figures.labelled} of {figures.items} items with a label"
    agreed = (
        f"full agreement {figures.unanimous.text('.1%')} of {figures.compared} items with at least two blind labels"
    )
    return f"Pilot {pilot.number}, {state}: {counts}, {agreed}; {figures.signature}"
