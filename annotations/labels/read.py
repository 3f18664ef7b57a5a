"""Read labels as the rows that files and statistics are made of."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, Literal, TypedDict, cast

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import Place, compares
from evenhand.annotations.types import Form, Mark, Project

Which = Literal["blind", "latest", "all"]

# Of `valid_label AS label`: the last blind label of its annotator on its item, of those made until a moment.
BLIND_UNTIL = """
label.after_reveal = 0 AND label.created <= :until AND label.choice IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM valid_label AS later
        WHERE later.item = label.item AND later.annotator = label.annotator AND later.after_reveal = 0
            AND later.created <= :until AND later.id > label.id)
"""
# Not from an undone import of labels.
NOT_TAKEN_BACK = (
    "NOT EXISTS (SELECT 1 FROM label_of_file JOIN label_file ON label_file.id = label_of_file.file"
    " WHERE label_of_file.label = label.id AND label_file.undone IS NOT NULL)"
)

# The program of the file of a package that made its project. Its labels keep the origin that the package records.
PACKAGE = "package of Evenhand"
# Where a label comes from: a desk, a file, or unknown; with FROM_FILE in the query.
ORIGIN = (
    f"CASE WHEN label_file.program <> '{PACKAGE}' THEN 'imported'"
    " WHEN label.app IS NOT NULL THEN 'here' ELSE 'unknown' END"
)
FROM_FILE = """
LEFT JOIN label_of_file ON label_of_file.label = label.id LEFT JOIN label_file ON label_file.id = label_of_file.file
"""

FILE_DESK = "file"  # the desk of a label whose file names neither a desk nor a form
FORM_DESK = "file with form"  # of one whose file names no desk, but the form that its annotator saw


# No further blind label of an item is expected: it has as many as it wants, or one of every active annotator.
FINISHED = """
(item.labels >= item.wanted OR NOT EXISTS
    (SELECT 1 FROM active_member AS member WHERE member.project = item.project AND NOT EXISTS
        (SELECT 1 FROM assignment WHERE assignment.item = item.id
            AND assignment.annotator = member.annotator AND assignment.blind IS NOT NULL)))
"""
# An annotator has a valid label on an item.
LABELLED_BY = (
    "EXISTS (SELECT 1 FROM assignment AS mine WHERE mine.item = {item} AND mine.annotator = {who}"
    " AND mine.state = 'labelled')"
)


def blind_choices(store: Store, item: int) -> list[tuple[str, str]]:
    """Return operation and choice of the blind labels of an item (row id)."""
    query = (
        "SELECT label.op_id, label.choice FROM assignment JOIN label ON label.id = assignment.blind"
        " WHERE assignment.item = ? AND label.choice IS NOT NULL"
    )
    return store.db.execute(query, (item,)).fetchall()


# Which text of a comparison was on the left; {label}: the alias of the label.
LEFT = "(SELECT place FROM left_text WHERE left_text.op_id = {label}.op_id)"


def left_text_column(store: Store, project: Project, label: str) -> str:
    """Return SQL for the text on the left of a label (the alias of its table): NULL in a project of single texts."""
    return LEFT.format(label=label) if compares(store, project) else "NULL"


def left_text_of(db: Connection, op_id: str) -> Place | None:
    """Return the text that was on the left of the label of that operation."""
    query = f"SELECT {LEFT.format(label='made')} FROM (SELECT ? AS op_id) AS made"
    place: Place | None = db.execute(query, (op_id,)).fetchone()[0]
    return place


def form_of(label: str) -> str:
    """Return the SQL for the form that the annotator of a label saw: NULL where the form was not recorded.

    The column is never empty: a label whose file named no form is stored as one of the original, on the desk "file".
    Operations that take a file back, and copies that the lead made, are stored as originals too.
    """
    unknown = (
        f"{label}.form_shown = 'original' AND {label}.app IS NULL AND {label}.desk IN ('{FILE_DESK}', 'undo', 'lead')"
    )
    return f"iif({unknown}, NULL, {label}.form_shown)"


# A label as `each_label_row` yields it: a line of files, so its keys are those of their columns.
LabelRow = TypedDict("LabelRow", {  # noqa: UP013 (a class has a line for each key)
    "item": str, "annotator": str, "pair": str, "side": str, "choice": str | None, "reasons": list[str],
    "extraneous": bool | None, "spans": list[tuple[int, int, str]], "note": str, "seconds": float | None,
    "guideline": int, "after_reveal": bool, "form_shown": Form | None, "text": str, "context": str | None,
    "keyword": str | None, "counterpart": str | None, "file": str, "line": int, "op_id": str, "desk": str,
    "revision": int, "base": str | None, "superseded": bool, "created": str, "tags": list[str], "origin": str,
    "app": str | None, "program": str | None, "label_file": str | None, "label_file_sha256": str | None,
    "label_file_created": str | None, "label_file_undone": str | None, "second": str | None, "left": Place | None,
})  # fmt: skip
_ROW_KEYS = tuple(LabelRow.__annotations__)

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
) -> Iterator[LabelRow]:
    """Yield labels as flat dicts, by item and annotator; "all": by item, in the order of time.

    *among*: of these items only. "blind": the last label of each before anything was revealed (for agreement and gold);
    "latest": the valid one; "all": every row, undone (`choice` None) and superseded ones too. `item` is the public id,
    `annotator` the name, `guideline` its version, `reasons`, `spans` and `tags` are lists. `origin`: "here" (a desk of
    this database; `app`: of which version, "" if not recorded), "imported" (with `program`, `label_file` and its hash)
    or "unknown". `form_shown` None: no record says which. Of a comparison, `second`: its other text, and `left`: which
    text was on the left ("first", "second", None: no record says it).
    """
    source, kept = _SOURCES[which]
    kept += "" if among is None else f" AND label.item IN ({', '.join(map(str, among))})"
    # A known answer refers to the labels before it, so the order of all operations must survive an export.
    order = "" if which == "all" else "label.annotator, "
    query = _row_query(store, project, standing="", source=source, kept=kept, order=order)
    for values in store.db.execute(query, (project.id,)):
        yield _as_row(values)


def _row_query(store: Store, project: Project, **parts: str) -> str:
    left = left_text_column(store, project, "label")
    return _ROW.format(origin=ORIGIN, from_file=FROM_FILE, form=form_of("label"), left=left, **parts)


def _as_row(values: Sequence[Any]) -> LabelRow:
    row = dict(zip(_ROW_KEYS, values, strict=False))
    decode_label(row)
    if row["origin"] != "imported":  # the package that it came with is not its origin
        row |= dict.fromkeys(OF_FILE)
    return cast(LabelRow, row)


def decode_label(row: dict[str, Any]) -> None:
    """Give lists and truth values their types in a row of a label."""
    for key in ("reasons", "spans", "tags"):  # nearly all are empty, and a release reads a million
        row[key] = [] if row[key] == "[]" else json.loads(row[key])
    row["extraneous"] = None if row["extraneous"] is None else bool(row["extraneous"])
    for key in ("after_reveal", "superseded", "stands", "blind"):
        if key in row:
            row[key] = bool(row[key])


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """All operations on one item, in the order of time, as the rows of `each_label_row`.

    `latest`, `blind`: those that it gives for these words, by annotator.
    """

    item: str
    every: list[LabelRow]
    latest: list[LabelRow]
    blind: list[LabelRow]


def each_labelled_item(store: Store, project: Project) -> Iterator[ItemLabels]:
    """Yield the rows that `each_label_row` gives for "all", "latest" and "blind", read once."""
    source = "label LEFT JOIN assignment ON assignment.item = label.item AND assignment.annotator = label.annotator"
    query = _row_query(store, project, standing=_STANDING, source=source, kept="", order="")
    for uid, group in groupby(store.db.execute(query, (project.id,)), key=itemgetter(0)):
        found = [(values[-3:], _as_row(values)) for values in group]
        chosen = sorted((row for row in found if row[1]["choice"] is not None), key=lambda one: one[0][0])
        latest = [row for (_, latest, _), row in chosen if latest]
        yield ItemLabels(uid, [row for _, row in found], latest, [row for (*_, blind), row in chosen if blind])


def count_operations(store: Store, project: Project) -> int:
    """Return how many operations on labels a project holds, changed and undone ones too."""
    return store.count("label WHERE project = ?", (project.id,))


def count_not_made_here(store: Store, project: Project, since: str) -> int:
    """Return how many valid labels were not made at a desk of this database at or after a moment.

    When these were seen is not known here. A label of the same millisecond is later: what is stored with that moment
    counted those that were there.
    """
    rows = f"standing_label AS label {FROM_FILE} WHERE label.project = ? AND ({ORIGIN} <> 'here' OR label.created < ?)"
    return store.count(rows, (project.id, since))


def label_rows(store: Store, project: Project, *, which: Which = "blind") -> list[LabelRow]:
    """Return `each_label_row` as a list."""
    return list(each_label_row(store, project, which=which))


@dataclass(frozen=True, slots=True)
class BlindLabel:
    """A label that an annotator made before seeing anybody's opinion of the item."""

    annotator: str
    choice: str
    reasons: tuple[str, ...]
    note: str
    form_shown: Form | None
    created: str
    guideline: int
    extraneous: bool | None = None
    marks: tuple[Mark, ...] = ()
    op_id: str = ""


_BLIND = f"""
SELECT annotator.name AS annotator, label.choice, label.reasons, label.note, {form_of("label")} AS form_shown,
    label.created, guideline.version AS guideline, label.extraneous, label.spans AS marks, label.op_id
FROM blind_label AS label JOIN annotator ON annotator.id = label.annotator
    JOIN guideline ON guideline.id = label.guideline
WHERE label.item = ? ORDER BY annotator.id
"""


def blind_labels_on(store: Store, item: int) -> list[BlindLabel]:
    """Return the blind labels of a published item (row id), in the order in which annotators were added."""

    def label(*, reasons: str, marks: str, extraneous: int | None, **columns: Any) -> BlindLabel:
        flag = None if extraneous is None else bool(extraneous)
        spans = tuple(Mark(*mark) for mark in json.loads(marks))
        return BlindLabel(reasons=tuple(json.loads(reasons)), marks=spans, extraneous=flag, **columns)

    return store.rows(label, _BLIND, (item,))


_ORIGINS = f"""
SELECT {ORIGIN}, label.app, label_file.program, label_file.file, label_file.sha256, guideline.version,
    label.created < guideline.created AS older, label.form_shown, label.after_reveal,
    label.created >= label_file.created AS undated, label.seconds IS NOT NULL AS timed,
    label_file.program = '{PACKAGE}' OR label_file.created < :begun AS packed,
    iif({ORIGIN} = 'imported', label_file.created, NULL) AS stored, label.created
FROM standing_label AS label JOIN guideline ON guideline.id = label.guideline {FROM_FILE}
WHERE label.project = :project
"""


def label_origins(store: Store, project: Project, begun: str) -> Iterator[tuple[Any, ...]]:
    """Yield where each valid label comes from, and when and how it was made: the columns of `_ORIGINS`.

    *begun*: when the project began to be made of a package, "" if it was made here.
    """
    yield from store.db.execute(_ORIGINS, {"project": project.id, "begun": begun})


def origins_of_blind_labels(store: Store, project: Project) -> dict[str, int]:
    """Return how many labels that agreement and gold use come from where."""
    query = f"SELECT {ORIGIN}, count(*) FROM blind_label AS label {FROM_FILE} WHERE label.project = ? GROUP BY 1"
    return dict(store.db.execute(query, (project.id,)).fetchall())
