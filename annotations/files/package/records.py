"""Records of a package beside items and labels: pilots, samples, known answers, retests, events, judges, consent,
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


def _columns(table: str, names: tuple[str, ...]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


QUERIES = {
    "pilot": f"SELECT {_columns('pilot', PILOT)} FROM pilot WHERE project = ? ORDER BY number",
    "sample": f"SELECT {_columns('sample', SAMPLE)} FROM sample WHERE project = ? ORDER BY number",
    "inclusion": """
SELECT sample.number AS sample, item.uid AS item, probability, stratum, drawn
FROM inclusion JOIN sample ON sample.id = inclusion.sample JOIN published_item AS item ON item.id = inclusion.item
WHERE sample.project = ? ORDER BY sample.number, item.id
""",
    "of_item": """
SELECT item.uid AS item, pilot.number AS pilot, item.known
FROM published_item AS item LEFT JOIN pilot ON pilot.id = item.pilot
WHERE item.project = ? AND (item.pilot IS NOT NULL OR item.known IS NOT NULL) ORDER BY item.id
""",
    "known": """
SELECT item.uid AS item, known.choice, known.why, known.author, known.created,
       (SELECT op_id FROM label WHERE label.id <= known.after ORDER BY label.id DESC LIMIT 1) AS after
FROM known JOIN published_item AS item ON item.id = known.item WHERE known.project = ? ORDER BY known.id
""",
    # Assignments that cannot be derived from their operations: for relabelling, or with an opinion shown since.
    "standing": """
SELECT item.uid AS item, annotator.name AS annotator, latest.op_id AS latest, blind.op_id AS blind,
       assignment.revealed, assignment.kept
FROM assignment JOIN published_item AS item ON item.id = assignment.item
     JOIN annotator ON annotator.id = assignment.annotator
     LEFT JOIN label AS latest ON latest.id = assignment.latest LEFT JOIN label AS blind ON blind.id = assignment.blind
WHERE assignment.project = ? AND (
    assignment.kept = 1 OR assignment.revealed IS NOT NULL OR assignment.latest IS NOT (
        SELECT iif(choice IS NULL, NULL, id) FROM valid_label AS label
        WHERE label.item = assignment.item AND label.annotator = assignment.annotator
        ORDER BY id DESC LIMIT 1))
    AND EXISTS (SELECT 1 FROM label WHERE label.item = assignment.item AND label.annotator = assignment.annotator)
ORDER BY assignment.item, annotator.id
""",
    "retest": """
SELECT retest.uid, item.uid AS item, annotator.name AS annotator, retest.due, retest.state, retest.turn, retest.skips,
       first.op_id AS first, latest.op_id AS latest, retest.op_id, retest.desk, retest.revision, retest.created
FROM retest JOIN published_item AS item ON item.id = retest.item JOIN annotator ON annotator.id = retest.annotator
     LEFT JOIN label AS first ON first.id = retest.first
     LEFT JOIN retest_label AS latest ON latest.id = retest.latest
WHERE retest.project = ? AND (retest.op_id IS NOT NULL OR retest.state IN ('labelled', 'waiting')) ORDER BY retest.id
""",
    "retest_label": f"""
SELECT retest.uid AS retest, guideline.version AS guideline, {_columns("retest_label", RETEST_LABEL)},
       {LEFT.format(label="retest_label")} AS left
FROM retest JOIN published_item AS item ON item.id = retest.item JOIN retest_label ON retest_label.retest = retest.id
     JOIN guideline ON guideline.id = retest_label.guideline
WHERE retest.project = ? AND (retest.op_id IS NOT NULL OR retest.state IN ('labelled', 'waiting'))
ORDER BY retest.id, retest_label.id
""",
    "told": """
SELECT annotator.name AS annotator, told AS version FROM member JOIN annotator ON annotator.id = member.annotator
WHERE project = ? AND told > 0 ORDER BY annotator.id
""",
    "event": f"""
SELECT item.uid AS item, annotator.name AS annotator, action, data, author, event.created
FROM event LEFT JOIN item ON item.id = event.item LEFT JOIN annotator ON annotator.id = event.annotator
WHERE event.project = ? AND action NOT IN {HERE_ONLY} ORDER BY event.id
""",
    "judge": f"""
SELECT judge.kind AS judge_kind, guideline.version AS guideline, {_columns("judge", JUDGE)}
FROM judge JOIN guideline ON guideline.id = judge.guideline WHERE judge.project = ? ORDER BY judge.id
""",
    "judge_margin": """
SELECT judge.uid AS judge, eps, labels, judge_margin.created FROM judge_margin JOIN judge ON judge.id = judge
WHERE judge.project = ? ORDER BY judge.id
""",
    "judge_label": f"""
SELECT judge.uid AS judge, item.uid AS item, {_columns("judge_label", JUDGE_LABEL)},
       (SELECT place FROM judge_order WHERE label = judge_label.id) AS first
FROM judge JOIN judge_label ON judge_label.judge = judge.id JOIN published_item AS item ON item.id = judge_label.item
WHERE judge.project = ? ORDER BY judge_label.id
""",
    "consent": """
SELECT annotator.name AS annotator, given.use, given.given, given.recorded_by, given.language, given.text, given.created
FROM label_consent AS given JOIN annotator ON annotator.id = given.annotator WHERE given.project = ? ORDER BY given.id
""",
    "tag_draft": "SELECT tag, code FROM tag_draft WHERE project = ? ORDER BY tag",
    "guideline_draft": "SELECT content, saved FROM guideline_draft WHERE project = ?",
    "grouping": "SELECT name, options, created FROM grouping WHERE project = ? ORDER BY id",
    "group": """
SELECT grouping.name AS grouping, annotator.name AS annotator, value, recorded_by, annotator_group.created
FROM annotator_group JOIN grouping ON grouping.id = annotator_group.grouping
     JOIN annotator ON annotator.id = annotator_group.annotator
WHERE grouping.project = ? ORDER BY annotator_group.id
""",
    "settlement": f"""
SELECT item.uid AS item, {_columns("settlement", SETTLEMENT)}
FROM settlement JOIN published_item AS item ON item.id = settlement.item
WHERE settlement.project = ? ORDER BY settlement.id
""",
    "comment": f"""
SELECT item.uid AS item, {_columns("comment", COMMENT)}, annotator.name AS annotator, whose.name AS thread
FROM comment JOIN published_item AS item ON item.id = comment.item
     LEFT JOIN annotator ON annotator.id = comment.annotator
     LEFT JOIN annotator AS whose ON whose.id = comment.thread
WHERE comment.project = ? ORDER BY comment.id
""",
}
AUTHORS = """
SELECT name FROM (
    SELECT adjudicator AS name, created FROM settlement WHERE project = :project
    UNION ALL SELECT author, created FROM comment WHERE project = :project AND annotator IS NULL
    UNION ALL SELECT author, created FROM known WHERE project = :project
    UNION ALL SELECT author, created FROM event WHERE project = :project
) WHERE name <> '' GROUP BY name ORDER BY min(created), name
"""
# The column that names a row of a table in a package.
PUBLIC = {"item": "uid", "judge": "uid", "retest": "uid", "sample": "number", "pilot": "number", "guideline": "version"}


def author_codes(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, str]:
    """*codes*, and J1, J2, ... for everybody else who decided, commented or changed something, by first act."""
    found = dict(codes)
    number = 0
    for (name,) in store.db.execute(AUTHORS, {"project": project.id}).fetchall():
        if name not in found:
            number += 1
            found[name] = f"J{number}"
    return found


def records_of(store: Store, project: Project, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the records of one kind, with names."""
    for row in store.each(dict[str, Any], QUERIES[kind], (project.id,)):
        row |= {key: json.loads(row[key]) for key in JSON & row.keys() if row[key] is not None}
        for key in OPTIONAL.get(kind, ()):
            if row[key] is None:
                del row[key]
        yield {"kind": kind} | row


def each_record(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Every record of a project but settlements and comments, in the order of their import.

    `codes`: name -> code, {} to write names. `private`: drafts of the lead and groups of annotators too. Without them
    judges have no address, and prompts only where texts may leave.
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
    """Return the row id of what a package names by *key*: of the tables of PUBLIC; None where it is not here."""
    query = f"SELECT id FROM {table} WHERE {PUBLIC[table]} = ? AND project = ?"
    found: int | None = store.value(query, (key, project.id))
    return found


def count_rows(store: Store, table: str, **values: Any) -> int:
    """Return how many rows of a table have these values."""
    same = " AND ".join(f"{column} IS :{column}" for column in values)
    return int(store.value(f"SELECT count(*) FROM {table} WHERE {same}", values))


def holds_any(store: Store, project: Project, *tables: str) -> bool:
    """Return whether a project has a row in one of these tables."""
    queries = (f"SELECT 1 FROM {table} WHERE project = ? LIMIT 1" for table in tables)
    return any(store.value(query, (project.id,)) for query in queries)


def project_with_item(store: Store, items: list[str], apart_from: int) -> str | None:
    """Return the name of a project, other than that of a row id, that holds one of *items* (public ids); else None."""
    query = (
        "SELECT project.name FROM json_each(?) AS listed JOIN item ON item.uid = listed.value"
        " JOIN project ON project.id = item.project AND project.id != ? LIMIT 1"
    )
    name: str | None = store.value(query, (json.dumps(items), apart_from))
    return name


def last_settlements(store: Store, project: Project) -> list[tuple[int, int | None]]:
    """Return the items (row ids) that were settled, each with its last settlement; None where that was reopened."""
    query = "SELECT item, iif(action = 'reopen', NULL, max(id)) FROM settlement WHERE project = ? GROUP BY item"
    return store.db.execute(query, (project.id,)).fetchall()
