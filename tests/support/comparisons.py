"""A project of comparisons: two texts an item, of two models, and which of them is better."""

import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from random import Random

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import ImportReport, import_file
from evenhand.annotations.guideline.scheme import OwnScheme
from evenhand.annotations.guideline.versions import PREFERENCE
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.types import Annotator, Operation, Project
from evenhand.core.files.csv_out import json_line

MODELS = ("quiet-7b", "loud-70b")


def rows_of(number: int) -> list[dict[str, str]]:
    """Return rows of a file: texts are unique, and the two models take turns at being first."""
    return [
        {
            "context": f"Question {n}?", "completion": f"Answer {n} one.", "second": f"Answer {n} two.",
            "model": MODELS[n % 2], "second_model": MODELS[1 - n % 2],
        }
        for n in range(1, number + 1)
    ]  # fmt: skip


def imported(store: Store, project: Project, folder: Path, rows: Sequence[dict[str, object]]) -> ImportReport:
    """Return the report of an import of *rows* as JSON lines."""
    path = folder / "pairs.jsonl"
    path.write_text("".join(map(json_line, rows)), "utf-8")
    return import_file(store, project, path)


def compared_project(
    store: Store,
    folder: Path,
    number: int = 4,
    *,
    people: Sequence[str] = ("Ada", "Bo"),
    scheme: OwnScheme = PREFERENCE,
    name: str = "pairs",
    **fields: object,
) -> tuple[Project, list[Annotator]]:
    """Return a project of comparisons with its annotators."""
    own = {"choices": scheme.choices, "reasons": scheme.flags, "scheme": scheme.more}
    made = create_project(
        store, name, kind="generations", language="en", annotators=people, **{"per_item": len(people), **own, **fields},
    )  # fmt: skip
    if number:
        imported(store, made, folder, rows_of(number))
    return made, annotators(store, made)


STRENGTHS = {"oak": 1.0, "elm": 0.3, "ash": -0.3, "fir": -1.0}  # natural logarithms


def preferred_project(store: Store, folder: Path, contexts: int = 20) -> Project:
    """Make comparisons of each two of four models per context, labelled by Ada and Bo by the models' strengths.

    A third of the contexts has the setting web, the others talk.
    """
    pairs = list(combinations(STRENGTHS, 2))
    rows = [
        {
            "context": f"Question {at}?", "completion": f"{one} says {at}.", "second": f"{other} says {at}.",
            "model": one, "second_model": other, "setting": "web" if at % 3 == 0 else "talk",
        }
        for at in range(contexts) for one, other in pairs
    ]  # fmt: skip
    project, people = compared_project(store, folder, 0)
    imported(store, project, folder, rows)
    random = Random(3)
    every = list(items(store, project))
    for person in people:
        made = []
        for item in every:
            apart = STRENGTHS[item.extra["model"]] - STRENGTHS[item.extra["second_model"]]
            left = random.choice(("first", "second"))
            odds = math.exp((apart + (0.4 if left == "first" else -0.4)) / 2)
            choice = random.choices(("first", "second", "tie"), (odds, 1 / odds, 0.7))[0]
            values = {"op_id": f"{person.name}-{item.uid}", "item": item.uid, "choice": choice, "left": left,
                      "desk": person.name, "revision": 1}  # fmt: skip
            made.append(Operation(**values))
        assert all(answer.stored for answer in store_operations(store, project, person, made))
    return project
