"""Records of a package other than items and labels: pilots, samples, known answers, retests, events, judges, consent,
groups, settlements and comments.

One flat object per line, distinguished by `kind`, with public ids and codes instead of row ids and names. `QUERIES` is
their one description: the columns of a query are the keys of the objects.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.annotations.database.events import HERE_ONLY
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import LEFT
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project

PILOT = ("number", "items", "seed", "people", "begun", "closed")
SAMPLE = ("number", "design", "items", "share", "settings", "seed", "created", "closed")
RETEST_LABEL = (
    *("op_id", "choice", "reasons", "tags", "extraneous", "spans", "note", "seconds", "form_shown", "desk"),
    *("revision", "base", "superseded", "skip", "created", "app"),
)
JUDGE = ("uid", "name", "model", "address", "system", "prompt", "settings", "hash", "signature", "created")
JUDGE_LABEL = ("round", "choice", "extraneous", "spans", "shares", "samples", "answered", "tokens_in", "tokens_out",
               "seconds", "created")  # fmt: skip
SETTLEMENT = ("op_id", "adjudicator", "action", "choice", "reasons", "extraneous", "spans", "why", "seen", "created")
COMMENT = ("op_id", "author", "text", "created")
# Keys that are JSON in the database.
JSON = {"settings", "data", "content", "options", "reasons", "tags", "spans", "shares", "seen"}
# Keys that an object lacks where they are undefined.
OPTIONAL = {"retest_label": ("left",), "judge_label": ("first",), "comment": ("annotator", "thread")}
# Keys of events whose text is never a name; other text may be one.
TOLD = (
    *("plan", "which", "version", "hash", "choice", "gold", "state", "kind", "at", "signature"),
    *("of", "took", "keyword", "pair", "presentation"),
)
# Only for the lead: drafts, and who is in which group.
PRIVATE = ("tag_draft", "guideline_draft", "grouping", "group")
# In the order of their import.
KINDS = (
    *("pilot", "sample", "inclusion", "of_item", "known", "standing", "retest", "retest_label", "told", "event"),
    *("judge", "judge_margin", "judge_label", "consent", *PRIVATE),
)


ITEM = "JOIN published_item AS item ON item.id = {}.item"
ANNOTATOR = "JOIN annotator ON annotator.id = {}.annotator"
GUIDELINE = "JOIN guideline ON guideline.id = {}.guideline"
# Of retests: those that an annotator has begun, or that wait.
BEGUN = "WHERE retest.project = ? AND (retest.op_id IS NOT NULL OR retest.state IN ('labelled', 'waiting'))"


def _columns(table: str, names: tuple[str, ...]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


# Kind -> its columns, which are the keys of its objects, and where they are read.
QUERIES = {
    "pilot": (_columns("pilot", PILOT), "pilot WHERE project = ? ORDER BY number"),
    "sample": (_columns("sample", SAMPLE), "sample WHERE project = ? ORDER BY number"),
    "inclusion": (
        "sample.number AS sample, item.uid AS item, probability, stratum, drawn",
        f"inclusion JOIN sample ON sample.id = inclusion.sample {ITEM.format('inclusion')}"
        " WHERE sample.project = ? ORDER BY sample.number, item.id",
    ),
    "of_item": (
        "item.uid AS item, pilot.number AS pilot, item.known",
        "published_item AS item LEFT JOIN pilot ON pilot.id = item.pilot"
        " WHERE item.project = ? AND (item.pilot IS NOT NULL OR item.known IS NOT NULL) ORDER BY item.id",
    ),
    "known": (
        "item.uid AS item, known.choice, known.why, known.author, known.created,"
        " (SELECT op_id FROM label WHERE label.id <= known.after ORDER BY label.id DESC LIMIT 1) AS after",
        f"known {ITEM.format('known')} WHERE known.project = ? ORDER BY known.id",
    ),
    # Assignments that cannot be derived from their operations: for relabelling, or with an opinion shown since.
    "standing": (
        "item.uid AS item, annotator.name AS annotator, latest.op_id AS latest, blind.op_id AS blind,"
        " assignment.revealed, assignment.kept",
        f"""assignment {ITEM.format("assignment")} {ANNOTATOR.format("assignment")}
     LEFT JOIN label AS latest ON latest.id = assignment.latest LEFT JOIN label AS blind ON blind.id = assignment.blind
WHERE assignment.project = ? AND (
    assignment.kept = 1 OR assignment.revealed IS NOT NULL OR assignment.latest IS NOT (
        SELECT iif(choice IS NULL, NULL, id) FROM valid_label AS label
        WHERE label.item = assignment.item AND label.annotator = assignment.annotator
        ORDER BY id DESC LIMIT 1))
    AND EXISTS (SELECT 1 FROM label WHERE label.item = assignment.item AND label.annotator = assignment.annotator)
ORDER BY assignment.item, annotator.id""",
    ),
    "retest": (
        "retest.uid, item.uid AS item, annotator.name AS annotator, retest.due, retest.state, retest.turn,"
        " retest.skips, first.op_id AS first, latest.op_id AS latest, retest.op_id, retest.desk, retest.revision,"
        " retest.created",
        f"retest {ITEM.format('retest')} {ANNOTATOR.format('retest')}"
        " LEFT JOIN label AS first ON first.id = retest.first"
        f" LEFT JOIN retest_label AS latest ON latest.id = retest.latest {BEGUN} ORDER BY retest.id",
    ),
    "retest_label": (
        f"retest.uid AS retest, guideline.version AS guideline, {_columns('retest_label', RETEST_LABEL)},"
        f" {LEFT.format(label='retest_label')} AS left",
        f"retest {ITEM.format('retest')} JOIN retest_label ON retest_label.retest = retest.id"
        f" {GUIDELINE.format('retest_label')} {BEGUN} ORDER BY retest.id, retest_label.id",
    ),
    "told": (
        "annotator.name AS annotator, told AS version",
        f"member {ANNOTATOR.format('member')} WHERE project = ? AND told > 0 ORDER BY annotator.id",
    ),
    "event": (
        "item.uid AS item, annotator.name AS annotator, action, data, author, event.created",
        "event LEFT JOIN item ON item.id = event.item LEFT JOIN annotator ON annotator.id = event.annotator"
        f" WHERE event.project = ? AND action NOT IN {HERE_ONLY} ORDER BY event.id",
    ),
    "judge": (
        f"judge.kind AS judge_kind, guideline.version AS guideline, {_columns('judge', JUDGE)}",
        f"judge {GUIDELINE.format('judge')} WHERE judge.project = ? ORDER BY judge.id",
    ),
    "judge_margin": (
        "judge.uid AS judge, eps, labels, judge_margin.created",
        "judge_margin JOIN judge ON judge.id = judge WHERE judge.project = ? ORDER BY judge.id",
    ),
    "judge_label": (
        f"judge.uid AS judge, item.uid AS item, {_columns('judge_label', JUDGE_LABEL)},"
        " (SELECT place FROM judge_order WHERE label = judge_label.id) AS first",
        f"judge JOIN judge_label ON judge_label.judge = judge.id {ITEM.format('judge_label')}"
        " WHERE judge.project = ? ORDER BY judge_label.id",
    ),
    "consent": (
        "annotator.name AS annotator, given.use, given.given, given.recorded_by, given.language, given.text,"
        " given.created",
        f"label_consent AS given {ANNOTATOR.format('given')} WHERE given.project = ? ORDER BY given.id",
    ),
    "tag_draft": ("tag, code", "tag_draft WHERE project = ? ORDER BY tag"),
    "guideline_draft": ("content, saved", "guideline_draft WHERE project = ?"),
    "grouping": ("name, options, created", "grouping WHERE project = ? ORDER BY id"),
    "group": (
        "grouping.name AS grouping, annotator.name AS annotator, value, recorded_by, annotator_group.created",
        "annotator_group JOIN grouping ON grouping.id = annotator_group.grouping"
        f" {ANNOTATOR.format('annotator_group')} WHERE grouping.project = ? ORDER BY annotator_group.id",
    ),
    "settlement": (
        f"item.uid AS item, {_columns('settlement', SETTLEMENT)}",
        f"settlement {ITEM.format('settlement')} WHERE settlement.project = ? ORDER BY settlement.id",
    ),
    "comment": (
        f"item.uid AS item, {_columns('comment', COMMENT)}, annotator.name AS annotator, whose.name AS thread",
        f"comment {ITEM.format('comment')} LEFT JOIN annotator ON annotator.id = comment.annotator"
        " LEFT JOIN annotator AS whose ON whose.id = comment.thread WHERE comment.project = ? ORDER BY comment.id",
    ),
}
AUTHORS = " UNION ALL ".join(
    f"SELECT {name} AS name, created FROM {table} WHERE project = :project AND {name} <> ''{more}"
    for table, name, more in (
        ("settlement", "adjudicator", ""), ("comment", "author", " AND annotator IS NULL"), ("known", "author", ""),
        ("event", "author", ""),
    )
)  # fmt: skip
# The column that names a row of a table in a package.
PUBLIC = {"item": "uid", "judge": "uid", "retest": "uid", "sample": "number", "pilot": "number", "guideline": "version"}


def author_codes(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, str]:
    """Return *codes*, and J1, J2, ... for all others who decided, commented or changed something, by first act."""
    query = f"SELECT name FROM ({AUTHORS}) GROUP BY name ORDER BY min(created), name"
    names = (name for (name,) in store.db.execute(query, {"project": project.id}).fetchall() if name not in codes)
    return {**codes, **{name: f"J{number}" for number, name in enumerate(names, 1)}}


def records_of(store: Store, project: Project, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one kind, with names."""
    columns, tables = QUERIES[kind]
    for row in store.each(dict[str, Any], f"SELECT {columns} FROM {tables}", (project.id,)):
        row |= {key: json.loads(row[key]) for key in JSON & row.keys() if row[key] is not None}
        for key in OPTIONAL.get(kind, ()):
            if row[key] is None:
                del row[key]
        yield {"kind": kind} | row


def each_record(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield every record of a project except settlements and comments, in the order of their import.

    `codes`: name -> code, {} to write names. `private`: drafts of the lead and groups of annotators too. Without them
    judges have no address, and prompts only if texts may be exported.
    """
    hidden = {"address": ""} | ({} if text_may_leave(project) else {"system": "", "prompt": "", "settings": {}})
    for kind in KINDS if private else (kind for kind in KINDS if kind not in PRIVATE):
        for row in records_of(store, project, kind):
            row |= {key: _coded(codes, row[key]) for key in ("annotator", "author") if key in row}
            if kind == "event":
                row["data"] = _coded_data(codes, row["data"])
            yield row | (hidden if kind == "judge" and not private else {})


def _coded(codes: Mapping[str, str], name: str | None) -> str | None:
    return codes.get(name, "") if name and codes else name


def _coded_data(codes: Mapping[str, str], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of an event without names: numbers, and only text that cannot be a name."""
    if not codes:
        return dict(data)
    kept: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, str):
            if value in codes or key in TOLD:
                kept[key] = codes.get(value, value)
        elif isinstance(value, dict):
            kept[key] = _coded_data(codes, value)
        elif not isinstance(value, list):
            kept[key] = value
    return kept


def row_id(store: Store, project: Project, table: str, key: Any) -> int | None:
    """Return the row id of the object that a package names by *key* (a table of PUBLIC); None if it is missing."""
    result: int | None = _first(store, "id", table, {PUBLIC[table]: key, "project": project.id})
    return result


def count_rows(store: Store, table: str, **values: Any) -> int:
    """Return how many rows of a table have these values."""
    return int(_first(store, "count(*)", table, values))


def holds_any(store: Store, project: Project, *tables: str) -> bool:
    """Return whether a project has a row in one of these tables."""
    return any(_first(store, "project", table, {"project": project.id}) for table in tables)


def _first(store: Store, what: str, table: str, values: Mapping[str, Any]) -> Any:
    same = " AND ".join(f"{column} IS :{column}" for column in values)
    return store.value(f"SELECT {what} FROM {table} WHERE {same} LIMIT 1", values)


def project_with_item(store: Store, items: list[str], apart_from: int) -> str | None:
    """Return the name of a project, other than that of a row id, that holds one of *items* (public ids); else None."""
    query = (
        "SELECT project.name FROM json_each(?) AS listed JOIN item ON item.uid = listed.value"
        " JOIN project ON project.id = item.project AND project.id != ? LIMIT 1"
    )
    name: str | None = store.value(query, (json.dumps(items), apart_from))
    return name


def last_decisions(store: Store, project: Project) -> list[tuple[int, int | None]]:
    """Return the items (row ids) that were settled, each with its last settlement; None if that was reopened."""
    query = "SELECT item, iif(action = 'reopen', NULL, max(id)) FROM settlement WHERE project = ? GROUP BY item"
    return store.db.execute(query, (project.id,)).fetchall()
