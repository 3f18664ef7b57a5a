"""What annotators see of their own labels: decisions, conflicts, progress, and which words are still covered.

Labels and labels of retests are read alike: a desk must not tell them apart.
"""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_COLUMNS, as_item
from evenhand.annotations.labels.read import NOT_TAKEN_BACK
from evenhand.annotations.types import Annotator, CellProgress, Decision, Item, Mark, OwnProgress, Plan, Project
from evenhand.core.errors import N_, NotFound

MOST_SEARCHED = 50_000  # 2.5 times the released set; a search reads the sentence of each
PACE_LABELS = 60  # labels that give the pace
PACE_FEWEST = 6
BREAK_S = 300.0  # a longer gap between two labels is a break
# Undo goes back over the newest labels; those have their word covered. What is older is uncovered permanently: labels
# are only appended, so one that has left the newest is never among them again.
UNDOABLE = 30
COVER = "▢"  # in place of the word, for any length
# A text as the desk shows it; needs `item`, and {covered}, the condition under which the word is covered.
SHOWN_TEXT = (
    f"iif({{covered}} AND item.start IS NOT NULL,"
    f" substr(item.text, 1, item.start) || '{COVER}' || substr(item.text, item.stop + 1), item.text)"
)


class _Source(NamedTuple):
    """Where decisions are read: labels with their assignments, or labels of retests with these, under one alias each.

    `own`: that they are of the annotator; `uid`: the public id of the item at the desk; `first`: the row id from which
    on words are covered; `lost`: which superseded ones count as lost; `others`: the same item's other labels.
    """

    tables: str
    own: str
    uid: str
    shown: str
    first: str
    lost: str
    others: str
    valid: str
    labels: str


_LABELS = _Source(
    tables="label JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator",
    own="label.annotator = :annotator AND label.project = :project",
    uid="item.uid",
    shown="label.after_reveal",
    first=":first",
    lost=f"superseded = 1 AND {NOT_TAKEN_BACK}",
    others="other.item = label.item AND other.annotator = label.annotator",
    valid="valid_label",
    labels="label",
)
_RETESTS = _Source(
    tables="retest_label AS label JOIN retest AS assignment ON assignment.id = label.retest",
    own="assignment.annotator = :annotator AND assignment.project = :project",
    uid="assignment.uid",
    shown="0",
    first=":first_retest",
    lost="superseded = 1 AND label.skip = 0",
    others="other.retest = label.retest AND other.skip = 0",
    valid="valid_retest_label",
    labels="retest_label",
)
_DECISION = (
    "{uid}, choice, reasons, note, label.op_id, label.revision, label.created, superseded, {shown}, extraneous, spans,"
    " label.tags, label.id >= {first}"
)
_DECISIONS = (
    f"SELECT {ITEM_COLUMNS}, {_DECISION} FROM {{tables}} JOIN published_item AS item ON item.id = assignment.item"
    " JOIN cell ON cell.id = item.cell WHERE {own} AND {which} ORDER BY label.id DESC LIMIT :limit"
)
# Superseded decisions, because another desk was first: the newest of each item and desk, until it is decided again.
_LOST = (
    "{lost} AND NOT EXISTS (SELECT 1 FROM {valid} AS other WHERE {others} AND other.id > label.id)"
    " AND NOT EXISTS (SELECT 1 FROM {labels} AS other WHERE {others} AND other.desk = label.desk"
    " AND other.revision > label.revision)"
)
_SEARCHED = (
    f"assignment.latest = label.id AND (instr({SHOWN_TEXT.format(covered='label.id >= {first}')}, :search)"
    " OR instr(item.second, :search) OR instr(label.note, :search) OR instr(label.tags, :search))"
    " AND label.id > coalesce((SELECT label.id FROM {tables} WHERE {own} ORDER BY label.id DESC"
    " LIMIT 1 OFFSET :most_searched), 0)"
)
_NEWEST_OF = (
    "SELECT label.op_id, label.id, {retest} AS retest, label.created, label.revision, choice, assignment.item,"
    " assignment.latest IS label.id AS stands FROM {tables} WHERE {own} AND choice IS NOT NULL"
    f" ORDER BY label.id DESC LIMIT {UNDOABLE}"
)
_NEWEST = (
    f"SELECT op_id, newest.id, retest, pair, side, choice, stands FROM"
    f" (SELECT * FROM ({_NEWEST_OF.format(retest=0, **_LABELS._asdict())})"
    f" UNION ALL SELECT * FROM ({_NEWEST_OF.format(retest=1, **_RETESTS._asdict())})) AS newest"
    " JOIN item ON item.id = newest.item JOIN cell ON cell.id = item.cell"
    f" ORDER BY created DESC, revision DESC, newest.id DESC LIMIT {UNDOABLE}"
)


@dataclass(frozen=True, slots=True)
class CoveredLabels:
    """The newest labels of an annotator, undone ones too: operation ids, newest first.

    `first`, `first_retest`: the row ids from which on labels, and those of retests, are covered. `cells`: by pair and
    side, how many of them are valid, and how many of these accept.
    """

    operations: tuple[str, ...]
    first: int = 0
    first_retest: int = 0
    cells: tuple[tuple[tuple[str, str], int, int], ...] = ()

    def ago(self, op_id: str) -> int | None:
        """Return how many labels are newer than this one; None if it is not among the newest."""
        return self.operations.index(op_id) if op_id in self.operations else None


def covers_words(project: Project) -> bool:
    """Return whether the keywords of a project are covered at the desk."""
    return project.kind == "sentences" and project.presentation == "masked"


def covered_labels(store: Store, project: Project, annotator: Annotator) -> CoveredLabels | None:
    """Return the labels of an annotator whose word is covered; None if the project covers no words."""
    if not covers_words(project):
        return None
    rows = store.db.execute(_NEWEST, {"annotator": annotator.id, "project": project.id}).fetchall()
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for *_, pair, side, choice, stands in rows:
        labelled, accepted = counts.get((pair, side), (0, 0))
        counts[pair, side] = labelled + stands, accepted + (stands and choice == "accept")
    cells = tuple((cell, *numbers) for cell, numbers in counts.items())
    operations = tuple(row[0] for row in rows)
    if len(rows) < UNDOABLE:
        return CoveredLabels(operations, cells=cells)
    first, again = (min((row[1] for row in rows if row[2] == retest), default=sys.maxsize) for retest in (0, 1))
    return CoveredLabels(operations, first, again, cells)


def without_word(item: Item) -> Item:
    """Return an item with a cover in place of its word, without its side and keywords."""
    if item.word is None:
        return item
    start, end = item.word
    text = item.text[:start] + COVER + item.text[end:]
    return replace(item, text=text, word=(start, start + 1), side="", stem=None, keyword=None, counterpart=None)


def own_decisions(
    store: Store,
    project: Project,
    annotator: Annotator,
    *,
    limit: int = 10,
    search: str = "",
    covered: CoveredLabels | None = None,
) -> list[Decision]:
    """Return the annotator's own valid decisions, newest first; `search`: only if the sentence or note contains it.

    A search does not find the words of *covered* labels. Looks back over the annotator's last 50,000 labels.
    """
    which = _SEARCHED if search.strip() else "assignment.latest = label.id"
    return _decisions(store, project, annotator, which, covered, limit=limit, search=search.strip())[:limit]


def standing_decision(
    store: Store, project: Project, annotator: Annotator, uid: str, covered: CoveredLabels | None = None
) -> Decision:
    """Return the valid decision of this annotator on an item (public id). Raises NotFound if there is none."""
    decisions = _decisions(store, project, annotator, "{uid} = :uid AND assignment.latest = label.id", covered, uid=uid)
    if not decisions:
        raise NotFound(N_("You have not labelled this sentence."))
    return decisions[0]


def own_conflicts(store: Store, project: Project, annotator: Annotator) -> list[Decision]:
    """Return the annotator's own superseded decisions: another desk of theirs was first.

    The newest of each item and desk, until the item is decided again.
    """
    return _decisions(store, project, annotator, _LOST)


def _decisions(
    store: Store, project: Project, annotator: Annotator, which: str, covered: CoveredLabels | None = None, **more: Any
) -> list[Decision]:
    values = {"annotator": annotator.id, "project": project.id, "limit": -1, "most_searched": MOST_SEARCHED, **more}
    values["first"], values["first_retest"] = (
        (covered.first, covered.first_retest) if covered else (sys.maxsize, sys.maxsize)
    )
    labels, retests = (
        [_decision(row) for row in store.db.execute(_statement(_DECISIONS, source, which), values)]
        for source in (_LABELS, _RETESTS)
    )
    return merge_newest_first(labels, retests)


@lru_cache(maxsize=16)
def _statement(query: str, source: _Source, which: str) -> str:
    parts = source._asdict()
    return query.format(**parts, which=which.format(**parts))


def _decision(row: Sequence[Any]) -> Decision:
    *columns, uid, choice, reasons, note, op_id, revision, created, superseded, shown, flag, spans, tags, covered = row
    item = as_item(tuple(columns))
    return Decision(
        item if item.uid == uid else replace(item, uid=uid), choice, tuple(json.loads(reasons)), note, op_id, revision,
        created, bool(superseded), bool(shown), None if flag is None else bool(flag),
        tuple(Mark(*mark) for mark in json.loads(spans)), tuple(json.loads(tags)), bool(covered),
    )  # fmt: skip


def merge_newest_first(first: list[Decision], again: list[Decision]) -> list[Decision]:
    """Return both lists merged, newest first; each keeps its order. Equal times are sorted by revision."""
    merged, waiting = [], list(again)
    for decision in first:
        while waiting and (waiting[0].created, waiting[0].revision) >= (decision.created, decision.revision):
            merged.append(waiting.pop(0))
        merged.append(decision)
    return merged + waiting


def own_progress(store: Store, project: Project, annotator: Annotator, share: int | None = None) -> OwnProgress:
    """Return the annotator's progress, independent of labels of others.

    *share*: how many items this annotator was asked to label; None: what is expected. In a cell with a quota, at most
    the quota and the annotator's rejects are expected: then the cell is full. Under the plan `stop`, others are
    expected to accept as often as this annotator. An annotator who has labelled as many as
    expected and holds more items is expected to label those too.
    """
    rows = store.rows(
        CellProgress,
        "SELECT pair, side, coalesce(tally.labelled, 0) AS labelled, coalesce(tally.accepted, 0) AS accepted, quota,"
        " (SELECT coalesce(sum(items), 0) FROM census WHERE cell = cell.id) AS items"
        " FROM cell LEFT JOIN tally ON tally.cell = cell.id AND tally.annotator = ?"
        " WHERE cell.project = ? ORDER BY cell.id",
        (annotator.id, project.id),
    )
    cells = tuple(cell for cell in rows if cell.items or cell.labelled)
    labelled = sum(cell.labelled for cell in cells)
    total = _expected_share(store, project, cells, labelled) if share is None else share
    if share is None and labelled >= total:
        # Items on the desk without an own label; those to relabel are not counted.
        held = "assignment WHERE annotator = ? AND project = ? AND state = 'leased' AND kept = 0"
        total = labelled + store.count(held, (annotator.id, project.id))
    total, pace = max(total, labelled), _pace(store, project, annotator)
    return OwnProgress(labelled, total, pace, (total - labelled) / pace if pace else None, cells)


def _expected_share(store: Store, project: Project, cells: Sequence[CellProgress], labelled: int) -> int:
    """Return how many items are expected of one annotator, if all take an equal share of the work."""
    people = store.count("active_member WHERE project = ?", (project.id,))
    # With more annotators than labels per item, each can expect an equal share.
    each = min(project.per_item, people) or 1
    most = each if project.doubled is None else 1
    mean = labels_expected(most, project.plan, project.share, sum(cell.accepted for cell in cells), labelled)
    expected = sum(_expected_labels(cell, most, mean, max(people, 1)) for cell in cells)
    if project.doubled is not None:
        expected += min(project.doubled, sum(cell.items for cell in cells)) * (each - 1)
    return math.ceil(expected / max(people, 1))


def _expected_labels(cell: CellProgress, most: int, mean: float, people: int) -> float:
    """Return the expected number of labels of one of *people* in a cell, times *people*.

    *most*: labels of a kept item; *mean*: mean labels of an item.
    """
    if cell.quota is None:
        return cell.items * mean
    return min(cell.items * mean, cell.quota * most + (cell.labelled - cell.accepted) * people)


def _pace(store: Store, project: Project, annotator: Annotator) -> float | None:
    """Return labels per hour over the last labels, without breaks; None with too few labels."""
    rows = store.db.execute(
        "SELECT created FROM label WHERE annotator = ? AND project = ? AND choice IS NOT NULL"
        f" ORDER BY id DESC LIMIT {PACE_LABELS}",
        (annotator.id, project.id),
    )
    times = [_moment(row[0]) for row in rows]
    gaps = [gap for gap in (b - a for b, a in pairwise(times)) if 0 <= gap <= BREAK_S]
    if len(gaps) < PACE_FEWEST or not sum(gaps):
        return None
    return 3600 * len(gaps) / sum(gaps)


@lru_cache(maxsize=4096)  # every label of an annotator is read again with each of the next sixty
def _moment(created: str) -> float:
    return datetime.fromisoformat(created).timestamp()


def labels_expected(per_item: int, plan: Plan, share: float, accepted: int, labelled: int) -> float:
    """Return the expected number of labels of an item, if all accept as often as one annotator did.

    *accepted* of *labelled* own labels were accepts; two labels of either kind are added, so that the first labels do
    not dominate. Between 1 and *per_item*.
    """
    if plan == "all":
        return per_item
    rate = (accepted + 2) / (labelled + 4)
    return share * per_item + (1 - share) * sum(rate**n for n in range(per_item))


def progress_at_desk(store: Store, project: Project, annotator: Annotator, asked: int | None = None) -> OwnProgress:
    """Return the progress that a desk shows: with retests, without the labels whose word is covered.

    *asked*: how many items a participant of a study is asked to label. A bar must not tell on which side it moved.
    """
    progress = progress_with_retests(store, project, annotator, own_progress(store, project, annotator, asked))
    if covered := covered_labels(store, project, annotator):
        hidden = {cell: (labelled, accepted) for cell, labelled, accepted in covered.cells}
        progress = replace(progress, cells=_add(progress.cells, hidden, -1))
    return progress if asked is None else replace(progress, total=asked)


def progress_with_retests(store: Store, project: Project, annotator: Annotator, own: OwnProgress) -> OwnProgress:
    """Return an annotator's progress with retests counted like other items, for the desk.

    A constant count would reveal retests. Future ones are expected at the project's share.
    """
    rows = store.db.execute(
        "SELECT pair, side, count(*), sum(choice IS NOT NULL), sum(coalesce(choice = 'accept', 0)) FROM retest"
        " JOIN item ON item.id = retest.item JOIN cell ON cell.id = item.cell"
        " LEFT JOIN retest_label ON retest_label.id = retest.latest"
        " WHERE retest.annotator = ? AND retest.project = ? AND (state IN ('leased', 'labelled') OR latest NOT NULL)"
        " GROUP BY cell.id",
        (annotator.id, project.id),
    ).fetchall()
    expected = round(project.retest * own.total) if own.labelled < own.total else 0
    if not rows and not expected:
        return own
    counts = {(pair, side): (labelled, accepted) for pair, side, _, labelled, accepted in rows}
    handed = sum(number for _, _, number, *_ in rows)
    labelled = own.labelled + sum(number for number, _ in counts.values())
    total = own.total + max(handed, expected)
    left = (total - labelled) / own.pace if own.pace else None
    return OwnProgress(labelled, total, own.pace, left, _add(own.cells, counts, 1))


def _add(
    cells: tuple[CellProgress, ...], counts: Mapping[tuple[str, str], tuple[int, int]], sign: int
) -> tuple[CellProgress, ...]:
    """Return *cells* with labelled and accepted items added (1) or taken away (-1), by pair and side."""
    cell_progresses = []
    for cell in cells:
        labelled, accepted = counts.get((cell.pair, cell.side), (0, 0))
        cell_counts = max(0, cell.labelled + sign * labelled), max(0, cell.accepted + sign * accepted)
        cell_progresses.append(replace(cell, labelled=cell_counts[0], accepted=cell_counts[1]))
    return tuple(cell_progresses)
