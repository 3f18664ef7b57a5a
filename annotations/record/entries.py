"""The record of one annotator in a project, for this annotator: without data of others or of the plan.

It holds all operations with their times, also changed, undone, skipped and superseded ones; own comments and the
private thread with the lead; opinions shown; acts of the lead that concern the annotator. It never reads labels of
others, known answers, the random share or wanted numbers of labels. Items that wait at the desk, also retests, are
counted and not shown.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from typing import Any, ClassVar, Literal, NamedTuple

from evenhand.annotations.adjudication.decisions import Comment, comments_where
from evenhand.annotations.database.store import Store, consistent_read, in_list
from evenhand.annotations.items.batch import ITEM_COLUMNS, as_item
from evenhand.annotations.labels.own import SHOWN_TEXT, covered_labels, without_word
from evenhand.annotations.labels.read import form_of
from evenhand.annotations.projects.annotators import is_active
from evenhand.annotations.types import Annotator, Item, Mark, Project

PAGE = 10  # items on one page
CHUNK = 500  # items read at once for a file
EVENTS_SHOWN = ("joined", "reactivated", "deactivated", "renamed", "replaced", "given_back")

State = Literal["labelled", "skipped", "leased", "released"]

# Items in the order of their leases; a finished retest has its own number and id.
_KEYS = """
SELECT turn, item AS id, 0 AS again FROM assignment
WHERE annotator = :annotator AND project = :project AND state IN ({states}) {search}
UNION ALL
SELECT turn, id, 1 FROM retest
WHERE annotator = :annotator AND project = :project AND op_id IS NOT NULL AND {again} IN ({states}) {search_again}
UNION ALL
SELECT DISTINCT 0, item, 0 FROM comment
WHERE project = :project AND (thread = :annotator OR thread IS NULL AND annotator = :annotator) AND {others} AND
    NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = comment.item AND annotator = :annotator)
"""
ORDER = "ORDER BY turn DESC, again DESC, id DESC"
_RETEST_STATE = "iif(state IN ('labelled', 'skipped', 'leased'), state, 'released')"
_WITH_WORDS = (
    "SELECT id FROM item NOT INDEXED WHERE project = :project AND (instr({text}, :search) OR instr(context, :search))"
)
_HIT = f"item {in_list(':found')}"
# Where words are covered, only older valid labels are found by the word itself.
_HIT_UNCOVERED = f"item {in_list(':uncovered')} AND state = 'labelled' AND latest < :first"
_DECIDED = "(state NOT IN ('leased', 'released') OR op_id IS NOT NULL)"
_NOTED = "item IN (SELECT item FROM label WHERE annotator = :annotator AND project = :project AND instr(note, :search))"
_NOTED_RETEST = "id IN (SELECT retest FROM retest_label WHERE instr(note, :search))"
_ACT = (
    "created, choice, reasons, extraneous, spans AS marks, tags, note, seconds,"
    " (SELECT version FROM guideline AS read WHERE read.id = guideline) AS guideline, {form} AS form_shown,"
    " superseded, op_id, desk, revision, base"
)
_LABELS = (
    f"SELECT item AS place, id, after_reveal, 0 AS skip, {_ACT.format(form=form_of('label'))} FROM label"
    " WHERE annotator = ? AND item IN ({marks}) ORDER BY id"
)
_RETEST_LABELS = (
    f"SELECT retest AS place, id, 0 AS after_reveal, skip, {_ACT.format(form='form_shown')} FROM retest_label"
    " WHERE retest = ? ORDER BY id"
)
_SKIPS = (
    "SELECT item AS place, created, superseded, op_id, desk, revision, base FROM skip"
    " WHERE annotator = ? AND item IN ({marks}) ORDER BY created, revision"
)
# Labels made, changed ones counted again; those of retests are in their own table.
_LABELS_MADE = (
    "SELECT count(*), coalesce(sum(seconds), 0) FROM ("
    "SELECT seconds FROM valid_label WHERE {mine} AND choice IS NOT NULL UNION ALL"
    " SELECT seconds FROM valid_retest_label WHERE retest IN (SELECT id FROM retest WHERE {mine})"
    " AND choice IS NOT NULL AND skip = 0)"
)
_OWN_COMMENTS = f"comment.item {in_list(':items')} AND (thread = :me OR thread IS NULL AND comment.annotator = :me)"


@dataclass(frozen=True, slots=True)
class RecordQuery:
    """A query on a record: `search` in texts and notes, one `state`, the page (from 1)."""

    search: str = ""
    state: State | None = None
    page: int = 1


@dataclass(frozen=True, slots=True)
class Act:
    """One stored operation: a label ("label"), its undo ("undone") or a skip ("skip").

    `stands`: it is the valid one. `superseded`: another desk was first. `guideline`: the version in view.
    `after_reveal`: opinions of others had been shown before. `seconds` None: not measured.
    """

    kind: Literal["label", "undone", "skip"]
    created: str
    stands: bool
    superseded: bool
    op_id: str
    desk: str
    revision: int
    base: str | None
    choice: str | None = None
    reasons: tuple[str, ...] = ()
    extraneous: bool | None = None
    marks: tuple[Mark, ...] = ()
    tags: tuple[str, ...] = ()
    note: str = ""
    seconds: float | None = None
    guideline: int | None = None
    form_shown: str | None = None
    after_reveal: bool = False
    json_names: ClassVar[dict[str, str]] = {"kind": "what", "marks": "spans"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One item in a record: its public id at the desk, its state, its acts and comments.

    `item` None: no decision; it waits at the desk or went to others. `covered`: its word is (`labels.own`).
    `revealed`: when an opinion or another's label was shown. `state` "": only comments; "released": its
    lease ended and it went to others.
    """

    uid: str
    item: Item | None
    state: State | Literal[""]
    sent_back: bool
    revealed: str | None
    acts: tuple[Act, ...]
    comments: tuple[Comment, ...]
    covered: bool = False


@dataclass(frozen=True, slots=True)
class RecordPage:
    """One page of a record; `number`: a page beyond the end gives the last one."""

    entries: tuple[Entry, ...]
    total: int
    number: int
    pages: int


@dataclass(frozen=True, slots=True)
class RecordSummary:
    """The summary of a record.

    `states`: items by state, with retests; `twice`: how many of the labelled ones are retests. `labels`: labels made,
    with retests and changed ones counted again; `seconds`: the sum of their times. `told`: the newest guideline version
    whose changes were read, 0: none. `heard`: unix seconds until which items are leased, 0: none. `events`: (moment,
    action, details) of acts of the lead that concern the annotator.
    """

    annotator: Annotator
    since: str
    active: bool
    states: dict[str, int]
    labels: int
    twice: int
    seconds: float
    told: int
    heard: float
    events: tuple[tuple[str, str, dict[str, Any]], ...]


class _Key(NamedTuple):
    turn: int
    id: int
    again: int


@consistent_read
def summary(store: Store, project: Project, annotator: Annotator) -> RecordSummary:
    """Return the summary of an annotator's record. Raises NotFound for an unknown annotator."""
    active = is_active(store.db, project, annotator)
    where = (annotator.id, project.id)
    states = dict.fromkeys(("labelled", "skipped", "leased", "released"), 0)
    mine = "annotator = ? AND project = ?"
    for query in (
        f"SELECT state, count(*) FROM assignment WHERE {mine} GROUP BY state",
        f"SELECT {_RETEST_STATE}, count(*) FROM retest WHERE {mine}"
        " AND (op_id IS NOT NULL OR state = 'leased') GROUP BY 1",
    ):
        for state, number in store.db.execute(query, where).fetchall():
            states[state] += number
    labels, seconds = store.db.execute(_LABELS_MADE.format(mine=mine), where * 2).fetchone()
    twice = store.count(f"retest WHERE {mine} AND state = 'labelled'", where)
    query = f"SELECT created, told, seen FROM member JOIN annotator ON annotator.id = annotator WHERE {mine}"
    since, told, heard = store.db.execute(query, where).fetchone()
    marks = ", ".join("?" * len(EVENTS_SHOWN))
    query = f"SELECT created, action, data FROM event WHERE {mine} AND action IN ({marks}) ORDER BY id"
    done = tuple((row[0], row[1], json.loads(row[2])) for row in store.db.execute(query, (*where, *EVENTS_SHOWN)))
    return RecordSummary(annotator, since, active, states, labels, twice, seconds, told, heard, done)


def entries(store: Store, project: Project, annotator: Annotator, looked: RecordQuery) -> RecordPage:
    """Return one page of this annotator's items, the latest lease first."""
    query, values = _entry_query(store, project, annotator, looked)
    total = store.count(f"({query})", values)
    pages = max(1, -(-total // PAGE))
    number = max(1, min(looked.page, pages))
    page = values | {"limit": PAGE, "offset": PAGE * (number - 1)}
    keys = [_Key(*row) for row in store.db.execute(f"{query} {ORDER} LIMIT :limit OFFSET :offset", page)]
    return RecordPage(tuple(_read(store, project, annotator, keys)), total, number, pages)


def every_entry(store: Store, project: Project, annotator: Annotator) -> Iterator[Entry]:
    """Yield the whole record, the latest lease first; read in parts, so that no read stays open."""
    query, values = _entry_query(store, project, annotator, RecordQuery())
    keys = [_Key(*row) for row in store.db.execute(f"{query} {ORDER}", values).fetchall()]
    for start in range(0, len(keys), CHUNK):
        yield from _read(store, project, annotator, keys[start : start + CHUNK])


def _entry_query(
    store: Store, project: Project, annotator: Annotator, looked: RecordQuery
) -> tuple[str, dict[str, int | str]]:
    words = looked.search.strip()
    values: dict[str, int | str] = {"annotator": annotator.id, "project": project.id, "search": words}
    hit = _HIT
    if words:
        values["found"] = _items_with_words(store, values, "text")
    if words and (covered := covered_labels(store, project, annotator)) is not None:
        values |= {"uncovered": values["found"], "first": covered.first, "first_retest": covered.first_retest}
        values["found"] = _items_with_words(store, values, SHOWN_TEXT.format(covered="1"))
        hit = f"({_HIT} OR {_HIT_UNCOVERED})"
    query = _KEYS.format(
        states=f"'{looked.state}'" if looked.state else "'labelled', 'skipped', 'leased', 'released'",
        search=f"AND ({hit} AND {_DECIDED} OR {_NOTED})" if words else "",
        search_again=f"AND ({hit.replace(':first', ':first_retest')} OR {_NOTED_RETEST})" if words else "",
        again=_RETEST_STATE, others="0" if looked.state or words else "1",
    )  # fmt: skip
    return query, values


def _items_with_words(store: Store, values: dict[str, int | str], text: str) -> str:
    """Return as JSON the ids of the items whose *text* (SQL) or context has the words of a search."""
    return json.dumps(store.column(_WITH_WORDS.format(text=text), values))


def _read(store: Store, project: Project, annotator: Annotator, keys: Sequence[_Key]) -> Iterator[Entry]:
    """Yield the entries of some keys, in their order."""
    again = _retests(store, [key.id for key in keys if key.again])
    ids = [key.id for key in keys if not key.again]
    query = "SELECT item, state, kept, revealed, latest, op_id FROM assignment WHERE annotator = ? AND item IN ({})"
    mine = {item: row for item, *row in store.db.execute(query.format(_marks(ids)), (annotator.id, *ids))}
    acts = _acts(store, annotator, ids)
    said = _comments(store, project, annotator, ids)
    covered = covered_labels(store, project, annotator)
    items = _items(store, [*ids, *(row[1] for row in again.values())])
    for key in keys:
        if key.again:
            uid, item_id, state, latest, op_id = again[key.id]
            valid = latest if state == "labelled" else None
            made = store.rows(_label, _RETEST_LABELS, (key.id,))
            done = tuple(_marked_standing(act, row, valid, op_id) for _, row, act in made)
            hides = covered is not None and not _is_older(state, latest, covered.first_retest)
            item = without_word(items[item_id]) if hides else items[item_id]
            yield Entry(uid, item, state, False, None, done, (), hides)
            continue
        state, kept, revealed, latest, op_id = mine.get(key.id, ("", 0, None, None, None))
        found = tuple(_marked_standing(act, row, latest, op_id) for row, act in acts[key.id])
        hidden = state in ("leased", "released") and not found
        hides = covered is not None and not _is_older(state, latest, covered.first)
        item = without_word(items[key.id]) if hides else items[key.id]
        waits = bool(kept) and state == "leased"
        yield Entry(item.uid, None if hidden else item, state, waits, revealed, found, tuple(said[key.id]), hides)


def _is_older(state: str, latest: int | None, first: int) -> bool:
    """Return whether an item has a valid label before the *first* row whose word is covered."""
    return state == "labelled" and latest is not None and latest < first


def _marks(ids: Sequence[int]) -> str:
    return ", ".join("?" * len(ids))


def _items(store: Store, ids: Sequence[int]) -> dict[int, Item]:
    # Withdrawn items too: their labels stay on record.
    query = f"SELECT {ITEM_COLUMNS} FROM item JOIN cell ON cell.id = item.cell WHERE item.id IN ({_marks(ids)})"
    return {row[0]: as_item(row) for row in store.db.execute(query, ids)}


def _retests(store: Store, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    query = f"SELECT id, uid, item, {_RETEST_STATE}, latest, op_id FROM retest WHERE id IN ({_marks(ids)})"
    return {row[0]: row[1:] for row in store.db.execute(query, ids)}


def _acts(store: Store, annotator: Annotator, ids: Sequence[int]) -> defaultdict[int, list[tuple[int, Act]]]:
    """Return the acts of each item with row ids of labels (0 for a skip), oldest first."""
    values, marks = (annotator.id, *ids), _marks(ids)
    labels: defaultdict[int, list[tuple[int, Act]]] = defaultdict(list)
    for item, row, act in store.each(_label, _LABELS.format(marks=marks), values):
        labels[item].append((row, act))
    skips: defaultdict[int, list[tuple[int, Act]]] = defaultdict(list)
    for item, act in store.each(_skip, _SKIPS.format(marks=marks), values):
        skips[item].append((0, act))
    acts: defaultdict[int, list[tuple[int, Act]]] = defaultdict(list)
    for item in {*labels, *skips}:
        made = sorted(labels[item], key=lambda act: act[1].created)
        # Operations that a desk sends together have the same moment; its revision gives their order.
        acts[item] = list(merge(made, skips[item], key=lambda act: (act[1].created, act[1].revision)))
    return acts


def _label(place: int, id: int, skip: int, **row: Any) -> tuple[int, int, Act]:
    """Return the item or retest of a label, its row id, and the act."""
    kind: Literal["label", "undone", "skip"] = "skip" if skip else "undone" if row["choice"] is None else "label"
    row |= {key: tuple(json.loads(row[key])) for key in ("reasons", "tags", "marks")}
    row |= {key: bool(row[key]) for key in ("superseded", "after_reveal")}
    row["extraneous"] = None if row["extraneous"] is None else bool(row["extraneous"])
    row["marks"] = tuple(Mark(*mark) for mark in row["marks"])
    return place, id, Act(kind, stands=False, **row)


def _skip(place: int, superseded: int, **row: Any) -> tuple[int, Act]:
    return place, Act("skip", stands=False, superseded=bool(superseded), **row)


def _marked_standing(act: Act, row_id: int, latest: int | None, op_id: str | None) -> Act:
    """Return *act* with `stands`: whether it is the valid label, or the last skip or undo."""
    stands = row_id == latest if act.kind == "label" else latest is None and act.op_id == op_id
    return replace(act, stands=True) if stands else act


def _comments(
    store: Store, project: Project, annotator: Annotator, ids: Sequence[int]
) -> defaultdict[int, list[Comment]]:
    comments: defaultdict[int, list[Comment]] = defaultdict(list)
    values = {"project": project.id, "me": annotator.id, "items": json.dumps(list(ids))}
    for item, comment in comments_where(store, _OWN_COMMENTS, values):
        comments[item].append(comment)
    return comments
