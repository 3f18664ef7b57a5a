"""The demo project of generations: short texts of our own in the manner of language models, and made-up labels.

The texts, and the opinions of a first and a second reader, are in `core/data/demo_generations.jsonl`; no model wrote
them. The labels are stored like any other: claimed from the queue, appended by operations.
"""

import json
import time
import uuid
from collections.abc import Mapping
from functools import cache
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo import ANNOTATORS, BEFORE_S
from evenhand.annotations.files.detect import Columns, Layout
from evenhand.annotations.files.generations import FACTS, generation_row
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.consent import answer_for_everybody
from evenhand.annotations.projects.projects import add_annotators, change_project, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Mark, Operation, Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.files.readers import Row, Source
from evenhand.core.files.timestamps import dated
from evenhand.core.resources import DATA

NAME = "续文示例 · Generations demo"
FILE = "demo_generations.jsonl"
SEED = 2  # draws a sample on which the readers sometimes differ, so that there are cases to adjudicate
PER_ITEM, DOUBLED = 2, 40  # one label each, and forty texts with two, for the agreement
LABELLED = (62, 44, 30)  # how many each has labelled; the rest is left for the desk
NOTES = {"degenerate": "It begins to repeat itself.", "unclear_referent": "Could be somebody else."}
_AT_ONCE = 20  # claimed together, as a desk would
_READING_S = 0.06  # per character; a plausible time of a made-up label


def make_generations_demo(store: Store) -> Project:
    """Make the demo project with its labels. Raises NotAllowed if it exists."""
    now = time.time()
    with dated(now - BEFORE_S):
        project = create_project(
            store, NAME, kind="generations", language="en", annotators=ANNOTATORS, per_item=PER_ITEM, seed=SEED
        )
        project = change_project(store, project, doubled=DOUBLED)
        with Batch.begin(store, project, FILE) as batch:
            batch.add(_item(line, row) for line, row in enumerate(_rows(), 1))
            batch.publish()
    people = add_annotators(store, project, ())
    for number, wanted in enumerate(LABELLED):
        person = next(annotator for annotator in people if annotator.name == ANNOTATORS[number])
        _label(store, project, person, wanted, second=number > 0, ended=now)
    answer_for_everybody(store, project, "release")  # these names are invented
    return project


@cache
def _rows() -> tuple[dict[str, Any], ...]:
    with (DATA / FILE).open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


def _item(line: int, row: Mapping[str, Any]) -> NewItem:
    keys = ("context", "completion", *FACTS)
    known = {key: row[key] for key in keys if key in row}
    source = Source(DATA / FILE, FILE, "jsonl", "utf-8", tuple(known))
    layout = Layout("generations", "completion", Columns({key: key for key in known}))
    return generation_row(source, layout, Row(line, known)).item


def _opinions(second: bool) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the label of a reader by (context, completion); the second reader differs on some texts."""
    return {(row["context"], row["completion"]): (row.get("second") if second else None) or row for row in _rows()}


def _label(store: Store, project: Project, person: Annotator, wanted: int, *, second: bool, ended: float) -> None:
    """Label the first *wanted* items of the queue; the last label is made at *ended* (unix seconds)."""
    opinions, desk, done = _opinions(second), uuid.uuid4().hex, 0
    moment = ended - sum(_seconds(row) for row in _rows())
    while done < wanted:
        items = claim(store, project, person, want=min(_AT_ONCE, wanted - done), now=moment)
        if not items:
            raise NotFound(N_("The demo project has fewer texts than its annotators label."))
        for item in items:
            done += 1
            operation = _operation(item, opinions[item.context or "", item.text], desk, done)
            moment += operation.seconds or 0
            (answer,) = store_operations(store, project, person, [operation], now=moment)
            if not answer.stored:
                raise NotFound(answer.reason, **answer.values)


def _operation(item: Item, opinion: Mapping[str, Any], desk: str, revision: int) -> Operation:
    reasons = tuple(opinion["reasons"])
    return Operation(
        uuid.uuid4().hex,
        item.uid,
        opinion["choice"],
        desk,
        revision,
        reasons=reasons,
        note=next((NOTES[code] for code in reasons if code in NOTES), ""),
        seconds=_seconds({"completion": item.text, "spans": opinion["spans"]}),
        extraneous=opinion["extraneous"],
        spans=tuple(Mark(*mark) for mark in opinion["spans"]),
    )


def _seconds(row: Mapping[str, Any]) -> float:
    return round(len(row["completion"]) * _READING_S + 1.5 + 2 * len(row["spans"]), 1)
