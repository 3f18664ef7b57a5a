"""The demo project: our own sentences and three made-up annotators, so that every page has data from the start.

The sentences and the labels of the three are in `core/data/demo_sentences.tsv`. The labels are stored like any other:
claimed from the queue, appended by operations.
"""

import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.database.store import Store, database_path
from evenhand.annotations.demo import ANNOTATORS, BEFORE_S
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.consent import answer_for_everybody
from evenhand.annotations.projects.projects import add_annotators, create_project, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Operation, Project
from evenhand.core.errors import N_, NotFound
from evenhand.core.files.atomic_file import whole_path
from evenhand.core.files.timestamps import dated
from evenhand.core.resources import table
from evenhand.core.text.keywords import occurrences

NAME = "示例 · Demo"
FILE = "demo_sentences.tsv"
# How many each has labelled: about a third of the sentences is left for the desk.
LABELLED = (121, 103, 86)
_COLUMNS = ("first", "second", "third")
_AT_ONCE = 20  # claimed together, as a desk would
_SLIP = 17  # this label of the second annotator is a slip of the key: undone and made again
_READING_S = 0.16  # per character; a plausible time of a made-up label


@dataclass(frozen=True, slots=True)
class _Opinion:
    """The opinion of a made-up annotator on a sentence."""

    choice: str
    reasons: tuple[str, ...]
    note: str


def make_demo(store: Store) -> Project:
    """Make the demo project with its labels. Raises NotAllowed if it exists."""
    now = time.time()
    with dated(now - BEFORE_S):
        project = create_project(store, NAME, annotators=ANNOTATORS)
        words = [occurrences(row["text"])[0] for row in _rows()]
        set_quotas(store, project, Counter((word.pair.name, str(word.side)) for word in words))
        with Batch.begin(store, project, FILE) as batch:
            batch.add(_items())
            batch.publish()
    for column, person, wanted in zip(_COLUMNS, add_annotators(store, project, ()), LABELLED, strict=True):
        _label(store, project, person, _opinions(column), wanted, ended=now)
    answer_for_everybody(store, project, "release")  # these names are invented
    return project


def ensure_demo(path: Path | str | None = None) -> bool:
    """Make a database with both demo projects if it does not exist; return whether it was made.

    The database gets its name when it is complete. An interrupted start leaves no database, so the next start makes it.
    """
    where = Path(path) if path is not None else database_path()
    if where.exists():
        return False
    try:
        with whole_path(where, new=True) as part, Store.open(part) as store:
            make_demo(store)
            make_generations_demo(store)
    except FileExistsError:
        return False
    return True


def _rows() -> tuple[dict[str, str], ...]:
    return table("demo_sentences")


def _items() -> Iterator[NewItem]:
    for line, row in enumerate(_rows(), 1):
        yield NewItem(text=row["text"], candidate=occurrences(row["text"])[0], file=FILE, line=line)


def _opinions(column: str) -> dict[str, _Opinion]:
    return {row["text"]: _opinion(row, column) for row in _rows()}


def _opinion(row: dict[str, str], column: str) -> _Opinion:
    if row[column] == "+":
        return _Opinion("accept", (), "")
    first = next(name for name in _COLUMNS if row[name] != "+")
    return _Opinion("reject", tuple(row[column].split(";")), row["note"] if column == first else "")


def _label(
    store: Store, project: Project, person: Annotator, opinions: dict[str, _Opinion], wanted: int, *, ended: float
) -> None:
    """Label the first *wanted* items of the queue; the last label is made at *ended* (unix seconds)."""
    desk = uuid.uuid4().hex
    # Early enough for the slowest reader to finish by *ended*.
    moment = ended - sum(len(text) * _READING_S + 4 for text in opinions)
    done = 0
    while done < wanted:
        items = claim(store, project, person, want=min(_AT_ONCE, wanted - done), now=moment)
        if not items:
            raise NotFound(N_("The demo project has fewer sentences than its annotators are to label."))
        for item in items:
            done += 1
            slip = done == _SLIP and person.name == ANNOTATORS[1]
            operations = _operations(item, opinions[item.text], desk, done * 10, slip=slip)
            moment += operations[-1].seconds or 0
            store_operations(store, project, person, operations, now=moment)


def _operations(item: Item, opinion: _Opinion, desk: str, revision: int, *, slip: bool) -> list[Operation]:
    base = None
    operations = []
    if slip:
        other = "reject" if opinion.choice == "accept" else "accept"
        note = "按错了键" if other == "reject" else ""
        operations = [
            Operation(uuid.uuid4().hex, item.uid, other, desk, revision, note=note, seconds=1.2, form_shown="masked"),
        ]
        taken_back = Operation(
            uuid.uuid4().hex, item.uid, None, desk, revision + 1, base=operations[0].op_id, form_shown="masked"
        )
        operations.append(taken_back)
        base = taken_back.op_id
    seconds = round(len(item.text) * _READING_S + (2.5 if opinion.reasons else 0.8), 1)
    operations.append(
        Operation(
            uuid.uuid4().hex,
            item.uid,
            opinion.choice,
            desk,
            revision + 2,
            base=base,
            reasons=opinion.reasons,
            note=opinion.note,
            seconds=seconds,
            form_shown="masked",
        )
    )
    return operations
