"""Reading labels: an annotator's own decisions and progress, and the rows that files and statistics are made of."""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_COLUMNS, as_item
from evenhand.annotations.items.wanted_labels import labels_expected
from evenhand.annotations.labels import retest_labels
from evenhand.annotations.labels.covered import SHOWN_TEXT, CoveredLabels
from evenhand.annotations.labels.left_texts import left_column
from evenhand.annotations.types import Annotator, CellProgress, Decision, Item, Mark, OwnProgress, Project

Which = Literal["blind", "latest", "all"]

MOST_SEARCHED = 50_000  # 2.5 times the released set; a search reads the sentence of each
PACE_LABELS = 60  # labels that give the pace
PACE_FEWEST = 6
BREAK_S = 300.0  # a longer gap between two labels is a break
# Not from an undone import of labels.
NOT_TAKEN_BACK = (
    "NOT EXISTS (SELECT 1 FROM label_of_file JOIN label_file ON label_file.id = label_of_file.file"
    " WHERE label_of_file.label = label.id AND label_file.undone IS NOT NULL)"
)

# The program of the file of a package that made its project. Its labels keep the origin that the package records.
PACKAGE = "package of Evenhand"
# Where a label comes from: a desk, a file, or nobody knows; with FROM_FILE in the query.
ORIGIN = (
    f"CASE WHEN label_file.program <> '{PACKAGE}' THEN 'imported'"
    " WHEN label.app IS NOT NULL THEN 'here' ELSE 'unknown' END"
)
FROM_FILE = """
LEFT JOIN label_of_file ON label_of_file.label = label.id LEFT JOIN label_file ON label_file.id = label_of_file.file
"""

FILE_DESK = "file"  # the desk of a label whose file names neither a desk nor a form
FORM_DESK = "file with form"  # of one whose file names no desk, but the form that its annotator saw


def form_of(label: str) -> str:
    """The SQL for the form that the annotator of a label saw: NULL where no record says which.

    The column is never empty: a label whose file named no form stands there as of the original, on the desk "file". So
    do operations that take a file back, and copies that the lead made.
    """
    unknown = (
        f"{label}.form_shown = 'original' AND {label}.app IS NULL AND {label}.desk IN ('{FILE_DESK}', 'undo', 'lead')"
    )
    return f"iif({unknown}, NULL, {label}.form_shown)"


DECISION_COLUMNS = (
    "choice, reasons, note, label.op_id, label.revision, label.created, superseded, after_reveal, extraneous, spans,"
    " label.tags"
)


def decision(item: Item, row: Sequence[Any]) -> Decision:
    """A decision on an item, from a row of DECISION_COLUMNS."""
    choice, reasons, note, op_id, revision, created, superseded, after_reveal, extraneous, spans, tags = row
    flag = None if extraneous is None else bool(extraneous)
    marks = tuple(Mark(*mark) for mark in json.loads(spans))
    kept = tuple(json.loads(reasons))
    seen = bool(superseded), bool(after_reveal)
    return Decision(item, choice, kept, note, op_id, revision, created, *seen, flag, marks, tuple(json.loads(tags)))


def _decision(row: Sequence[Any]) -> Decision:
    return decision(as_item(tuple(row[:-11])), row[-11:])


def own_decisions(
    store: Store,
    project: Project,
    annotator: Annotator,
    *,
    limit: int = 10,
    search: str = "",
    covered: CoveredLabels | None = None,
) -> list[Decision]:
    """The annotator's own valid decisions, newest first; `search`: only if the sentence or note contains it.

    A search does not find the words of *covered* labels. Looks back over the annotator's last 50,000 labels.
    """
    text = SHOWN_TEXT.format(covered="label.id >= :covered")
    wanted = (
        f"AND (instr({text}, :search) OR instr(item.second, :search)"
        " OR instr(note, :search) OR instr(label.tags, :search))"
        " AND label.id > coalesce((SELECT id FROM label"
        f" WHERE annotator = :annotator AND project = :project ORDER BY id DESC LIMIT 1 OFFSET {MOST_SEARCHED}), 0)"
    )
    query = (
        f"SELECT {ITEM_COLUMNS}, {DECISION_COLUMNS} FROM label"
        " JOIN assignment ON assignment.item = label.item"
        " AND assignment.annotator = label.annotator AND assignment.latest = label.id"
        " JOIN published_item AS item ON item.id = label.item JOIN cell ON cell.id = item.cell"
        f" WHERE label.annotator = :annotator AND label.project = :project {wanted if search.strip() else ''}"
        " ORDER BY label.id DESC LIMIT :limit"
    )
    values = {"annotator": annotator.id, "project": project.id, "search": search.strip(), "limit": limit}
    values["covered"] = sys.maxsize if covered is None else covered.first
    found = [_decision(row) for row in store.db.execute(query, values)]
    again = retest_labels.own_retest_decisions(
        store, project, annotator, limit=limit, search=search.strip(), covered=covered
    )
    return retest_labels.merge_newest_first(found, again)[:limit]


def own_conflicts(store: Store, project: Project, annotator: Annotator) -> list[Decision]:
    """The annotator's own superseded decisions: another desk of theirs was first.

    The newest of each item and desk, until the item is decided again.
    """
    query = (
        f"SELECT {ITEM_COLUMNS}, {DECISION_COLUMNS} FROM label"
        " JOIN assignment ON assignment.item = label.item"
        " AND assignment.annotator = label.annotator"
        " JOIN published_item AS item ON item.id = label.item JOIN cell ON cell.id = item.cell"
        f" WHERE label.annotator = :annotator AND label.project = :project AND superseded = 1"
        f" AND {NOT_TAKEN_BACK}"
        " AND NOT EXISTS (SELECT 1 FROM valid_label AS later WHERE later.item = label.item AND later.id > label.id"
        "   AND later.annotator = label.annotator)"
        " AND NOT EXISTS (SELECT 1 FROM label AS newer WHERE newer.item = label.item"
        "   AND newer.annotator = label.annotator AND newer.desk = label.desk AND newer.revision > label.revision)"
        " ORDER BY label.id DESC"
    )
    values = {"annotator": annotator.id, "project": project.id}
    found = [_decision(row) for row in store.db.execute(query, values)]
    return retest_labels.merge_newest_first(found, retest_labels.own_retest_conflicts(store, project, annotator))


def own_progress(store: Store, project: Project, annotator: Annotator, share: int | None = None) -> OwnProgress:
    """The annotator's progress, independent of labels of others.

    *share*: how many items this annotator was asked to label; None: what is expected. In a cell with a quota, at most
    the quota and the annotator's rejects are expected: then the cell is full. Under the plan `stop`, others are
    expected to accept as often as this annotator. An annotator who has labelled as many as
    expected and holds more items is expected to label those too.
    """
    rows = store.db.execute(
        "SELECT pair, side, coalesce(tally.labelled, 0), coalesce(tally.accepted, 0), quota,"
        " (SELECT coalesce(sum(items), 0) FROM census WHERE cell = cell.id)"
        " FROM cell LEFT JOIN tally ON tally.cell = cell.id AND tally.annotator = ?"
        " WHERE cell.project = ? ORDER BY cell.id",
        (annotator.id, project.id),
    )
    cells = tuple(CellProgress(*row) for row in rows if row[5] or row[2])
    labelled = sum(cell.labelled for cell in cells)
    total = _expected_share(store, project, cells, labelled) if share is None else share
    if share is None and labelled >= total:
        total = labelled + _held(store, project, annotator)
    total, pace = max(total, labelled), _pace(store, project, annotator)
    return OwnProgress(labelled, total, pace, (total - labelled) / pace if pace else None, cells)


def _held(store: Store, project: Project, annotator: Annotator) -> int:
    """Return how many items without an own label the annotator has on the desk; items to relabel are not counted."""
    query = "SELECT count(*) FROM assignment WHERE annotator = ? AND project = ? AND state = 'leased' AND kept = 0"
    return int(store.db.execute(query, (annotator.id, project.id)).fetchone()[0])


def _expected_share(store: Store, project: Project, cells: Sequence[CellProgress], labelled: int) -> int:
    """How many items are expected of one annotator, if all of them go on alike."""
    query = (
        "SELECT (SELECT count(*) FROM active_member AS member WHERE member.project = project.id), per_item, doubled,"
        " plan, share FROM project WHERE id = :project"
    )
    people, per_item, doubled, plan, share = store.db.execute(query, {"project": project.id}).fetchone()
    # With more annotators than labels per item, each can expect an equal share.
    each = min(per_item, people) or 1
    most = each if doubled is None else 1
    mean = labels_expected(most, plan, share, sum(cell.accepted for cell in cells), labelled)
    expected = sum(_expected_labels(cell, most, mean, max(people, 1)) for cell in cells)
    if doubled is not None:
        expected += min(doubled, sum(cell.items for cell in cells)) * (each - 1)
    found: int = math.ceil(expected / max(people, 1))
    return found


def _expected_labels(cell: CellProgress, most: int, mean: float, people: int) -> float:
    """The expected number of labels of one of *people* in a cell, times *people*.

    *most*: labels of a kept item; *mean*: mean labels of an item.
    """
    if cell.quota is None:
        return cell.items * mean
    return min(cell.items * mean, cell.quota * most + (cell.labelled - cell.accepted) * people)


def _pace(store: Store, project: Project, annotator: Annotator) -> float | None:
    """Labels per hour over the last labels, without breaks; None with too few labels."""
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


_ROW_KEYS = (
    "item", "annotator", "pair", "side", "choice", "reasons", "extraneous", "spans", "note", "seconds", "guideline",
    "after_reveal", "form_shown", "text", "context", "keyword", "counterpart", "file", "line", "op_id", "desk",
    "revision", "base", "superseded", "created", "tags", "origin", "app", "program", "label_file",
    "label_file_sha256", "label_file_created", "label_file_undone", "second", "left",
)  # fmt: skip

OF_FILE = ("program", "label_file", "label_file_sha256", "label_file_created", "label_file_undone")
_ROW = (
    "SELECT item.uid, annotator.name, cell.pair, cell.side, label.choice, label.reasons, label.extraneous,"
    " label.spans, label.note, label.seconds, guideline.version, label.after_reveal, {form}, item.text,"
    " item.context, item.keyword, item.counterpart, item.file, item.line, label.op_id, label.desk, label.revision,"
    " label.base, label.superseded, label.created, label.tags, {origin}, label.app, label_file.program,"
    " label_file.file, label_file.sha256, label_file.created, label_file.undone, item.second, {left}{standing}"
    " FROM {source}"
    " JOIN published_item AS item ON item.id = label.item JOIN cell ON cell.id = item.cell"
    " JOIN annotator ON annotator.id = label.annotator JOIN guideline ON guideline.id = label.guideline"
    " {from_file} WHERE label.project = ? {kept}"
    " ORDER BY label.item, {order}label.id"
)

_STANDING = ", label.annotator, assignment.latest IS label.id, assignment.blind IS label.id"
_SOURCES: dict[Which, tuple[str, str]] = {
    "blind": ("assignment JOIN label ON label.id = assignment.blind", "AND label.choice IS NOT NULL"),
    "latest": ("assignment JOIN label ON label.id = assignment.latest", "AND label.choice IS NOT NULL"),
    "all": ("label", ""),
}


def each_label_row(
    store: Store, project: Project, *, which: Which = "blind", among: Sequence[int] | None = None
) -> Iterator[dict[str, Any]]:
    """Labels as flat dicts, by item and annotator; "all": by item, in the order of time. *among*: of these items only.

    "blind": the last label of each before anything was revealed (for agreement and gold); "latest": the valid one;
    "all": every row, undone (`choice` None) and superseded ones too. `item` is the public id, `annotator` the name,
    `guideline` its version, `reasons`, `spans` and `tags` are lists. `origin`: "here" (a desk of this database; `app`:
    of which version, "" if not recorded), "imported" (with `program`, `label_file` and its hash) or "unknown".
    `form_shown` None: no record says which. Of a comparison, `second`: its other text, and `left`: which text was
    on the left ("first", "second", None: no record says it).
    """
    source, kept = _SOURCES[which]
    kept += "" if among is None else f" AND label.item IN ({', '.join(map(str, among))})"
    # A known answer refers to the labels before it, so the order of all operations must survive an export.
    parts = {"origin": ORIGIN, "from_file": FROM_FILE, "form": form_of("label"), "standing": ""}
    parts["left"] = left_column(store, project, "label")
    query = _ROW.format(**parts, source=source, kept=kept, order="" if which == "all" else "label.annotator, ")
    for values in store.db.execute(query, (project.id,)):
        yield _as_row(values)


def _as_row(values: Sequence[Any]) -> dict[str, Any]:
    row = dict(zip(_ROW_KEYS, values, strict=False))
    for key in ("reasons", "spans", "tags"):  # nearly all are empty, and a release reads a million
        row[key] = [] if row[key] == "[]" else json.loads(row[key])
    row["extraneous"] = None if row["extraneous"] is None else bool(row["extraneous"])
    if row["origin"] != "imported":  # the package that it came with is not its origin
        row |= dict.fromkeys(OF_FILE)
    row["after_reveal"], row["superseded"] = bool(row["after_reveal"]), bool(row["superseded"])
    return row


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """All operations on one item, in the order of time, as the rows of `each_label_row`.

    `latest`, `blind`: those that it gives for these words, by annotator.
    """

    item: str
    every: list[dict[str, Any]]
    latest: list[dict[str, Any]]
    blind: list[dict[str, Any]]


def each_labelled_item(store: Store, project: Project) -> Iterator[ItemLabels]:
    """What `each_label_row` gives for "all", "latest" and "blind", read once."""
    source = "label LEFT JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator"
    parts = {"origin": ORIGIN, "from_file": FROM_FILE, "form": form_of("label")}
    parts["left"] = left_column(store, project, "label")
    query = _ROW.format(**parts, standing=_STANDING, source=source, kept="", order="")
    for uid, group in groupby(store.db.execute(query, (project.id,)), key=itemgetter(0)):
        found = [(values[-3:], _as_row(values)) for values in group]
        chosen = sorted((one for one in found if one[1]["choice"] is not None), key=lambda one: one[0][0])
        latest = [row for (_, latest, _), row in chosen if latest]
        yield ItemLabels(uid, [row for _, row in found], latest, [row for (*_, blind), row in chosen if blind])


def count_operations(store: Store, project: Project) -> int:
    """Return how many operations on labels a project holds, changed and undone ones too."""
    return int(store.value("SELECT count(*) FROM label WHERE project = ?", (project.id,)))


def label_rows(store: Store, project: Project, *, which: Which = "blind") -> list[dict[str, Any]]:
    """`each_label_row` as a list."""
    return list(each_label_row(store, project, which=which))
