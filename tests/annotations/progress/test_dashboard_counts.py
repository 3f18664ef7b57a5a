"""What the dashboard counts in the database against the same counted label by label."""

import random
from collections import Counter
from datetime import datetime, timedelta

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.undo_import import undo_import
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.progress import annotators as annotators_module
from evenhand.annotations.progress.annotators import Day, Difference, disagreement, labels_by_day
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from evenhand.core.statistics import Estimate, Note, modified_wilson
from tests.support.projects import Batch, decide, filled_project, new_items

BEGUN = 1_700_000_000.0
BLIND = """
SELECT assignment.item, assignment.annotator, label.choice FROM assignment JOIN item ON item.id = assignment.item
JOIN batch ON batch.id = item.batch JOIN label ON label.id = assignment.blind
WHERE item.project = ? AND batch.published > 0 AND (item.shared = 1 OR ?)
"""


def work(store: Store, project: Project, people: list[Annotator], chance: random.Random, rounds: int) -> None:
    """Store labels, some changed, some withdrawn, some made after a reveal, some of a second desk."""
    for _ in range(rounds):
        who, moment = chance.choice(people), BEGUN + 86_400 * chance.random() * 4
        for item in claim(store, project, who, want=chance.randint(1, 6), now=moment):
            first = decide(item, chance.choice(("accept", "reject")), desk=who.name)
            store_operations(store, project, who, [first], now=moment)
            fate = chance.random()
            if fate < 0.2:
                reveal(store, project, who, item.uid)
            if fate < 0.4:
                again = chance.choice(("accept", "reject", None))
                store_operations(
                    store, project, who, [decide(item, again, desk=who.name, base=first.op_id)], now=moment + 60
                )
            elif fate < 0.5:
                store_operations(
                    store, project, who, [decide(item, "reject", desk="other", base=None)], now=moment + 90
                )


def project_at_work(store: Store, seed: int, **fields: object) -> Project:
    """Return a project at work, one of two, with an undone import."""
    chance = random.Random(seed)
    other, others = filled_project(store, 30)
    project, people = filled_project(store, 30, **fields)
    with Batch.begin(store, project, "more.txt") as batch:
        batch.add(new_items(20, first=100))
        batch.publish()
    for part, members in ((project, people), (other, others), (project, people)):
        work(store, part, members, chance, 12)
    if seed % 2:
        undo_import(store, project, batch.id)
    return project


def differences(store: Store, project: Project) -> dict[int, Difference]:
    choices: dict[int, dict[int, str]] = {}
    for item, who, choice in store.db.execute(BLIND, (project.id, project.plan == "all")):
        choices.setdefault(item, {})[who] = choice
    units, some, most = Counter[int](), Counter[int](), Counter[int]()
    for labels in choices.values():
        for who, choice in labels.items():
            others = [label for other, label in labels.items() if other != who]
            apart = sum(other_choice != choice for other_choice in others)
            units[who] += bool(others)
            some[who] += apart > 0
            most[who] += 2 * apart > len(others)
    return {who: Difference(share(some[who], of), share(most[who], of)) for who, of in units.items() if of}


def share(items: int, units: int) -> Estimate:
    return modified_wilson(items, units, nothing=Note("nothing"))


@pytest.mark.parametrize("fields", [{}, {"plan": "stop", "share": 0.5}], ids=["all", "stop"])
@pytest.mark.parametrize("seed", range(3))
def test_disagreement_equals_a_count_label_by_label(fresh_store: Store, seed: int, fields: dict[str, object]) -> None:
    project = project_at_work(fresh_store, seed)
    if fields:
        project = change_project(fresh_store, project, **fields)
    result = disagreement(fresh_store, project)
    assert result == differences(fresh_store, project)
    assert sum(rates.any.units for rates in result.values()) > 5  # there is something to compare


@pytest.mark.parametrize("offset", [0, 330, -480])
@pytest.mark.parametrize("of_all", [0, 10**9], ids=["all labels read", "the project's own"])
def test_labels_per_day_equal_a_count_label_by_label(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, offset: int, of_all: int
) -> None:
    monkeypatch.setattr(annotators_module, "OF_ALL", of_all)
    monkeypatch.setattr(annotators_module, "AT_ONCE", 7)
    project = project_at_work(fresh_store, offset)
    query = (
        "SELECT label.created, annotator.name FROM label JOIN annotator ON annotator.id = annotator"
        " WHERE project = ? AND choice IS NOT NULL AND superseded = 0"
    )
    by_day = Counter(
        ((datetime.fromisoformat(created) + timedelta(minutes=offset)).date().isoformat(), who)
        for created, who in fresh_store.db.execute(query, (project.id,))
    )
    result = labels_by_day(fresh_store, project, offset)
    assert sorted(result, key=repr) == sorted((Day(*key, n) for key, n in by_day.items()), key=repr)
    assert len({entry.day for entry in result}) > 2 and len({entry.annotator for entry in result}) == 3
