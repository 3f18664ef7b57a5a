"""Projects whose sentences or generations three annotators have judged."""

from evenhand.annotations.adjudication.decisions import case
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.types import Item, Mark, Project
from tests.support.projects import decide, filled_project

A, R = "accept", "reject"


def judged(store: Store, patterns_of_items: list[str], **fields: object) -> tuple[Project, list[Item]]:
    """Make a project whose n-th sentence has these labels: one letter an annotator."""
    made, people = filled_project(store, len(patterns_of_items), **fields)
    items = {item.line: item for item in all_items(store, made)}
    for line, letters in enumerate(patterns_of_items, 1):
        for number, (person, letter) in enumerate(zip(people, letters, strict=False)):
            choice = {"a": A, "r": R}[letter]
            store_operations(store, made, person, [decide(items[line], choice, desk=f"desk{number}")])
    return made, [items[line] for line in sorted(items)]


def all_items(store: Store, made: Project) -> list[Item]:
    uids = [row[0] for row in store.db.execute("SELECT uid FROM item WHERE project = ?", (made.id,))]
    return [case(store, made, uid).item for uid in uids]


def generations(store: Store, number: int = 2) -> tuple[Project, list[Item]]:
    """Make a project of generations; the first has two different labels, the second a flag that differs."""
    made = create_project(store, "texts", kind="generations", language="en", annotators=("Ada", "Bo"), per_item=2)
    with Batch.begin(store, made, "g.jsonl") as batch:
        batch.add(
            NewItem(f"He left early, and her bag stayed {n}.", None, "g.jsonl", n, context="Kim went out.", key=str(n))
            for n in range(1, number + 1)
        )
        batch.publish()
    items = sorted(all_items(store, made), key=lambda item: item.line)
    first, second = annotators(store, made)
    wrong = (Mark(0, 2, "pronoun"),)
    store_operations(store, made, first, [decide(items[0], "misgendering", spans=wrong, extraneous=False, desk="1")])
    store_operations(store, made, second, [decide(items[0], "correct", extraneous=False, desk="2")])
    store_operations(store, made, first, [decide(items[1], "correct", extraneous=False, desk="1")])
    flagged = (Mark(20, 23, "extraneous"),)
    store_operations(store, made, second, [decide(items[1], "correct", extraneous=True, spans=flagged, desk="2")])
    return made, items


def state(store: Store, item: Item) -> tuple[str, str | None]:
    row: tuple[str, str | None] = store.db.execute("SELECT status, gold FROM item WHERE id = ?", (item.id,)).fetchone()
    return row
