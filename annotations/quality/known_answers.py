"""Known answers: items whose answer the lead knows, labelled like any other, and how often each annotator gives it.

Only the lead sees these items and the scores; nothing of this is sent to a desk. A label counts if it is blind and the
answer was not derived from labels of that annotator.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, ClassVar, Literal

from evenhand.annotations.adjudication.decisions import checked_text
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store, insert
from evenhand.annotations.guideline.versions import choice_codes, every_choice
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES, as_item, item, items_with_ids
from evenhand.annotations.items.changes import set_known_answer
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.queue.assignments import update_set_aside
from evenhand.annotations.types import Choice, Item, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.posterior import share_of_rows

VERSION = 3  # of the method: raise it when a number may change
SIGNATURE = "known-answers|labels:blind|answers:standing|made-the-answer:left-out|share:modified-wilson"
SIGNATURE += f"|where-articles-repeat:clustered-dirichlet:2000|v{VERSION}"

NO_KNOWN_ITEM = Note(N_("This annotator has no valid label on an item with a known answer."))
NO_ANSWER = Note(N_("No item with a known answer has a valid label."))
Among = Literal["agreed", "unlabelled"]

NOT_MAKER = (
    "NOT EXISTS (SELECT 1 FROM label AS older WHERE older.item = item.id"
    " AND older.annotator = label.annotator AND older.id <= answer.after)"
)
ANSWERS = f"""
SELECT label.annotator, item.id, item.known, label.choice, label.reasons, label.note, label.created
FROM item INDEXED BY item_known JOIN standing_answer AS answer ON answer.item = item.id
     JOIN blind_label AS label ON label.item = item.id
WHERE item.project = ? AND item.known IS NOT NULL AND {NOT_MAKER}
ORDER BY item.id, label.annotator
"""
# Since when the answer of an item is current: a new reason for the same answer does not make a new answer.
SINCE = """
SELECT answer.item, min(known.created) FROM standing_answer AS answer JOIN known ON known.item = answer.item
WHERE answer.project = ? AND known.id > coalesce(
    (SELECT max(other.id) FROM known AS other WHERE other.item = answer.item AND other.choice IS NOT answer.choice), 0)
GROUP BY answer.item
"""
# Items that may get a known answer. Agreed: all its labels, two or more, are equal, without a settlement.
CANDIDATES: dict[Among, str] = {
    "agreed": "labels >= 2 AND labels >= wanted AND gold IS NOT NULL AND split = 0 AND settlement IS NULL",
    "unlabelled": "labels = 0",
}


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item with its known answer; `from_labels`: derived from its labels. `labels`: number of blind ones."""

    item: Item
    choice: str
    why: str
    author: str
    created: str
    from_labels: bool
    labels: int


@dataclass(frozen=True, slots=True)
class KnownAnswerScore:
    """One annotator against the known answers.

    `share` is right / (right + wrong), 0 to 1, higher = closer to the lead's answers, with an interval over
    source articles where one holds several labelled sentences, else Wilson's, modified, over items. `unlabelled`:
    known items without a label of theirs that counts, also those whose answer they made.
    `table[i][j]`: answer i, label j.
    """

    annotator: str
    active: bool
    right: int
    wrong: int
    unlabelled: int
    share: Estimate
    table: tuple[tuple[int, ...], ...]
    json_names: ClassVar = {"unlabelled": "not_labelled"}


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """A label that differs from the known answer."""

    item: Item
    annotator: str
    answer: str
    choice: str
    reasons: tuple[str, ...]
    note: str
    created: str
    why: str  # the reason of the answer


def set_known(
    store: Store,
    project: Project,
    uid: str,
    choice: str | None,
    *,
    why: str = "",
    author: str = "",
    from_labels: bool = False,
) -> None:
    """Set *choice* as the known answer of an item (public id), or with None make it an ordinary item again.

    It then gets as many labels as under the plan `all`. `from_labels`: the answer is that of its labels, so their
    annotators are not scored by it. An unchanged answer is not stored twice. Raises NotFound for an unknown item,
    Refused for an unknown choice.
    """
    if choice is not None and choice not in (codes := choice_codes(store, project)):
        allowed = ", ".join(codes)
        raise Refused(N_("{choice} is not a valid answer: the choices are {allowed}."), choice=choice, allowed=allowed)
    text = checked_text(why)
    with store.write() as db:
        stored_item = item(store, project, uid)  # read here, because its import may be undone at any time
        after = 0
        if from_labels:
            after = store.value("SELECT coalesce(max(id), 0) FROM label WHERE item = ?", (stored_item.id,))
        query = "SELECT choice, after, why FROM standing_answer WHERE item = ?"
        if (choice, after, text) == (db.execute(query, (stored_item.id,)).fetchone() or (None, 0, text)):
            return
        row = {"item": stored_item.id, "choice": choice, "after": after, "why": text, "author": author.strip()}
        insert_answer(db, project, {**row, "created": timestamp()})
        set_known_answer(db, stored_item.id, choice)
        recount_item(store, stored_item.id)
        update_set_aside(store, project, stored_item.id)
        record(store, project, "hidden_gold", item=stored_item.id, author=author, choice=choice, why=text)


def insert_answer(db: Connection, project: Project, values: Mapping[str, Any]) -> None:
    """Append an answer of the lead: item (row id), choice, after, why, author and created of *values*."""
    row = {**values, "project": project.id}
    insert(db, "known", row)


def known_items(store: Store, project: Project) -> list[KnownItem]:
    """Return all items of a project with a known answer, in the order of import."""
    rows = store.db.execute(
        f"SELECT {ITEM_COLUMNS}, item.known, answer.why, answer.author, answer.created, answer.after > 0, item.labels"
        f" FROM {ITEM_TABLES} JOIN standing_answer AS answer ON answer.item = item.id"
        " WHERE item.project = ? AND item.known IS NOT NULL ORDER BY item.id",
        (project.id,),
    )
    items = []
    for row in rows:
        choice, why, author, created, from_labels, labels = row[-6:]
        stored_item = as_item(tuple(row[:-6]))
        items.append(KnownItem(stored_item, choice, why, author, created, bool(from_labels), labels))
    return items


def draw_candidates(
    store: Store, project: Project, number: int, among: Among, *, seed: int | None = None
) -> list[Item]:
    """Draw *number* random items (or fewer) that could get a known answer; it stores nothing.

    "agreed": all wanted labels, two or more, are equal: `item.gold` is the proposed answer. "unlabelled": without
    labels. Raises Refused if *number* is less than 1, KeyError for another word.
    """
    if number < 1:
        raise Refused(N_("Draw at least 1 item."))
    query = (
        "SELECT item.id FROM published_item AS item"
        f" WHERE item.project = ? AND item.known IS NULL AND aside = 0 AND {CANDIDATES[among]} ORDER BY item.id"
    )
    ids = store.column(query, (project.id,))
    drawn = random.Random(seed).sample(ids, min(number, len(ids)))  # noqa: S311 - a sample, no secret
    by_id = items_with_ids(store.db, drawn)
    return [by_id[entry] for entry in drawn]


def scores(store: Store, project: Project) -> list[KnownAnswerScore]:
    """Compare every annotator with the known answers, in the order of joining; former ones only if they have labels."""
    codes = [choice.code for choice in answer_choices(store, project)]
    published = "item INDEXED BY item_known JOIN published_batch ON published_batch.id = item.batch"
    total = store.count(f"{published} WHERE item.project = ? AND item.known IS NOT NULL", (project.id,))
    tables: dict[int, list[list[int]]] = {}
    own: dict[int, list[tuple[int, bool]]] = {}
    for who, row, answer, choice, *_rest in store.db.execute(ANSWERS, (project.id,)):
        table = tables.setdefault(who, [[0] * len(codes) for _ in codes])
        table[codes.index(answer)][codes.index(choice)] += 1
        own.setdefault(who, []).append((row, answer == choice))
    sources = articles(store, project)
    shares = {who: share_of_answers(rows, sources, NO_KNOWN_ITEM) for who, rows in own.items()}
    nothing = Estimate.undefined(NO_KNOWN_ITEM)
    active = {annotator.id for annotator in annotators(store, project)}
    empty = [[0] * len(codes) for _ in codes]
    return [
        _score(
            annotator.name,
            annotator.id in active,
            total,
            tables.get(annotator.id, empty),
            shares.get(annotator.id, nothing),
        )
        for annotator in annotators(store, project, active=False)
        if annotator.id in active or annotator.id in tables
    ]


@dataclass(frozen=True, slots=True)
class AnswerTotals:
    """Items with a known answer, and the labels on them of annotators who had no part in that answer.

    `share`: how many of these equal the answer, of all annotators together. `older`: how many were made, by their
    dates, before the answer of their item was set.
    """

    items: int
    labels: int
    older: int
    share: Estimate


def answer_totals(store: Store, project: Project, sources: Mapping[int, str]) -> AnswerTotals:
    """Compare all labels that `scores` counts with the known answers; *sources*: of `articles`."""
    since = dict(store.db.execute(SINCE, (project.id,)).fetchall())
    rows = store.db.execute(ANSWERS, (project.id,)).fetchall()
    pairs = [(item, answer == choice) for _, item, answer, choice, *_ in rows]
    return AnswerTotals(
        items=store.count("published_item WHERE project = ? AND known IS NOT NULL", (project.id,)),
        labels=len(rows),
        older=sum(created < since[item] for _, item, *_, created in rows),
        share=share_of_answers(pairs, sources, NO_ANSWER),
    )


def share_of_answers(rows: Sequence[tuple[int, bool]], sources: Mapping[int, str], nothing: Note) -> Estimate:
    """Estimate the share of labels that equal the answer; *sources*: of `articles`, {} if these are not known."""
    units = [sources.get(item) or (f"item {item}" if sources else "") for item, _ in rows]
    return share_of_rows([right for _, right in rows], units, nothing=nothing)


def _score(name: str, active: bool, total: int, table: Sequence[Sequence[int]], share: Estimate) -> KnownAnswerScore:
    right, labelled = sum(row[i] for i, row in enumerate(table)), sum(map(sum, table))
    return KnownAnswerScore(name, active, right, labelled - right, total - labelled, share, tuple(map(tuple, table)))


def wrong_answers(store: Store, project: Project, annotator: str | None = None) -> list[WrongAnswer]:
    """Return labels that differ from the known answer, in the order of import; of one annotator by name, or of all."""
    names = {
        stored_annotator.id: stored_annotator.name for stored_annotator in annotators(store, project, active=False)
    }
    known = {known_item.item.id: known_item for known_item in known_items(store, project)}
    return [
        WrongAnswer(
            known[row].item, names[who], answer, choice, tuple(json.loads(reasons)), note, created, known[row].why
        )
        for who, row, answer, choice, reasons, note, created in store.db.execute(ANSWERS, (project.id,))
        if choice != answer and annotator in (None, names[who])
    ]


def answer_choices(store: Store, project: Project) -> tuple[Choice, ...]:
    """Return possible answers: the choices of every version of the guideline, newest first, then the kind's others."""
    return every_choice(store, project, choice_codes(store, project))
