"""Records of a package beside items, labels and decisions: pilots, samples, known answers, retests, events, judges,
consent, groups.

One flat object per line, distinguished by `kind`, with public ids and codes instead of row ids and names.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.annotations.database.events import HERE_ONLY
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.left_texts import left_of
from evenhand.annotations.projects.consent import each_answer
from evenhand.annotations.projects.groups import each_group
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project

LISTS = ("reasons", "tags", "spans")
RETEST_LABEL = (
    *("op_id", "choice", "reasons", "tags", "extraneous", "spans", "note", "seconds", "form_shown", "desk"),
    *("revision", "base", "superseded", "skip", "created", "app"),
)
# Keys of events whose text is never a name; other text may be one.
TOLD = (
    *("plan", "which", "version", "hash", "choice", "gold", "state", "kind", "at", "signature"),
    *("of", "took", "keyword", "pair", "presentation"),
)

PILOTS = "SELECT number, items, seed, people, begun, closed FROM pilot WHERE project = ? ORDER BY number"
SAMPLES = """
SELECT number, design, items, share, settings, seed, created, closed FROM sample WHERE project = ? ORDER BY number
"""
INCLUSIONS = """
SELECT sample.number, item.uid, probability, stratum, drawn FROM inclusion JOIN sample ON sample.id = inclusion.sample
JOIN published_item AS item ON item.id = inclusion.item WHERE sample.project = ? ORDER BY sample.number, item.id
"""
JUDGE = ("uid", "name", "model", "address", "system", "prompt", "settings", "hash", "signature", "created")
JUDGES = f"""
SELECT judge.kind, guideline.version, {", ".join(f"judge.{column}" for column in JUDGE)},
    judge_margin.eps, judge_margin.labels, judge_margin.created
FROM judge JOIN guideline ON guideline.id = judge.guideline LEFT JOIN judge_margin ON judge_margin.judge = judge.id
WHERE judge.project = ? ORDER BY judge.id
"""
JUDGE_LABEL = ("round", "choice", "extraneous", "spans", "shares", "samples", "answered", "tokens_in", "tokens_out",
               "seconds", "created")  # fmt: skip
JUDGE_LABELS = f"""
SELECT judge.uid, item.uid, (SELECT place FROM judge_order WHERE label = judge_label.id),
       {", ".join(f"judge_label.{column}" for column in JUDGE_LABEL)}
FROM judge JOIN judge_label ON judge_label.judge = judge.id JOIN published_item AS item ON item.id = judge_label.item
WHERE judge.project = ? ORDER BY judge_label.id
"""
OF_ITEMS = """
SELECT item.uid, pilot.number, item.known FROM published_item AS item LEFT JOIN pilot ON pilot.id = item.pilot
WHERE item.project = ? AND (item.pilot IS NOT NULL OR item.known IS NOT NULL) ORDER BY item.id
"""
KNOWN = """
SELECT item.uid, known.choice, known.why, known.author, known.created,
       (SELECT op_id FROM label WHERE label.id <= known.after ORDER BY label.id DESC LIMIT 1)
FROM known JOIN published_item AS item ON item.id = known.item WHERE known.project = ? ORDER BY known.id
"""
# Assignments that cannot be derived from their operations: for relabelling, or with an opinion shown since.
STANDING = """
SELECT item.uid, annotator.name, latest.op_id, blind.op_id, assignment.revealed, assignment.kept
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
"""
RETESTS = """
SELECT retest.id, retest.uid, item.uid, annotator.name, retest.due, retest.state, retest.turn, retest.skips,
       first.op_id, latest.op_id, retest.op_id, retest.desk, retest.revision, retest.created
FROM retest JOIN published_item AS item ON item.id = retest.item JOIN annotator ON annotator.id = retest.annotator
     LEFT JOIN label AS first ON first.id = retest.first
     LEFT JOIN retest_label AS latest ON latest.id = retest.latest
WHERE retest.project = ? AND (retest.op_id IS NOT NULL OR retest.state IN ('labelled', 'waiting')) ORDER BY retest.id
"""
EVENTS = f"""
SELECT item.uid, annotator.name, action, data, author, event.created FROM event
LEFT JOIN item ON item.id = event.item LEFT JOIN annotator ON annotator.id = event.annotator
WHERE event.project = ? AND action NOT IN {HERE_ONLY} ORDER BY event.id
"""
AUTHORS = """
SELECT name FROM (
    SELECT adjudicator AS name, created FROM settlement WHERE project = :project
    UNION ALL SELECT author, created FROM comment WHERE project = :project AND annotator IS NULL
    UNION ALL SELECT author, created FROM known WHERE project = :project
    UNION ALL SELECT author, created FROM event WHERE project = :project
) WHERE name <> '' GROUP BY name ORDER BY min(created), name
"""


def author_codes(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, str]:
    """*codes*, and J1, J2, ... for everybody else who decided, commented or changed something, by first act."""
    found = dict(codes)
    number = 0
    for (name,) in store.db.execute(AUTHORS, {"project": project.id}).fetchall():
        if name not in found:
            number += 1
            found[name] = f"J{number}"
    return found


def each_record(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Every record of a project, in the order of their import.

    `codes`: name -> code, {} to write names. `private`: drafts of the lead and groups of annotators too.
    """
    names = _Names(codes)
    keys = ("number", "items", "seed", "people", "begun", "closed")
    for row in store.db.execute(PILOTS, (project.id,)):
        yield {"kind": "pilot"} | dict(zip(keys, row, strict=True))
    of_sample = ("number", "design", "items", "share", "settings", "seed", "created", "closed")
    for row in store.db.execute(SAMPLES, (project.id,)):
        found = dict(zip(of_sample, row, strict=True))
        yield {"kind": "sample"} | found | {"settings": json.loads(found["settings"])}
    for number, uid, probability, stratum, drawn in store.db.execute(INCLUSIONS, (project.id,)):
        yield {"kind": "inclusion", "sample": number, "item": uid, "probability": probability, "stratum": stratum,
               "drawn": drawn}  # fmt: skip
    for uid, pilot, known in store.db.execute(OF_ITEMS, (project.id,)):
        yield {"kind": "of_item", "item": uid, "pilot": pilot, "known": known}
    for uid, choice, why, author, created, after in store.db.execute(KNOWN, (project.id,)):
        yield {"kind": "known", "item": uid, "choice": choice, "why": why, "author": names(author),
               "created": created, "after": after}  # fmt: skip
    for uid, person, latest, blind, revealed, kept in store.db.execute(STANDING, (project.id,)):
        yield {"kind": "standing", "item": uid, "annotator": names(person), "latest": latest, "blind": blind,
               "revealed": revealed, "kept": kept}  # fmt: skip
    yield from _retests(store, project, names)
    yield from _changes_read(store, project, names)
    yield from _events(store, project, names)
    yield from _judges(store, project, private=private)
    yield from (
        {"kind": "consent"} | row | {"annotator": names(row["annotator"])} for row in each_answer(store, project)
    )
    if private:
        yield from _drafts(store, project)
        yield from _groups(store, project, names)


class _Names:
    """Replaces names by codes."""

    def __init__(self, codes: Mapping[str, str]) -> None:
        self.codes = codes

    def __call__(self, name: str | None) -> str | None:
        return self.codes.get(name, "") if name and self.codes else name

    def event_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data of an event without names: numbers, and only text that cannot be a name."""
        if not self.codes:
            return dict(data)
        kept: dict[str, Any] = {}
        for key, value in data.items():
            if isinstance(value, str):
                if value in self.codes or key in TOLD:
                    kept[key] = self.codes.get(value, value)
            elif isinstance(value, dict):
                kept[key] = self.event_data(value)
            elif not isinstance(value, list):
                kept[key] = value
        return kept


def _retests(store: Store, project: Project, names: _Names) -> Iterator[dict[str, Any]]:
    keys = ("uid", "item", "annotator", "due", "state", "turn", "skips", "first", "latest", "op_id", "desk",
            "revision", "created")  # fmt: skip
    of_version = "(SELECT version FROM guideline WHERE guideline.id = retest_label.guideline)"
    for row_id, *row in store.db.execute(RETESTS, (project.id,)).fetchall():
        found = {"kind": "retest"} | dict(zip(keys, row, strict=True))
        yield found | {"annotator": names(found["annotator"])}
        query = f"SELECT {of_version}, {', '.join(RETEST_LABEL)} FROM retest_label WHERE retest = ? ORDER BY id"
        for version, *values in store.db.execute(query, (row_id,)):
            one = dict(zip(RETEST_LABEL, values, strict=True))
            one |= {key: json.loads(one[key]) for key in LISTS}
            left = left_of(store.db, one["op_id"])
            one |= {} if left is None else {"left": left}
            yield {"kind": "retest_label", "retest": found["uid"], "guideline": version} | one


def _changes_read(store: Store, project: Project, names: _Names) -> Iterator[dict[str, Any]]:
    query = (
        "SELECT annotator.name, told FROM member JOIN annotator ON annotator.id = member.annotator"
        " WHERE project = ? AND told > 0 ORDER BY annotator.id"
    )
    for person, told in store.db.execute(query, (project.id,)):
        yield {"kind": "told", "annotator": names(person), "version": told}


def _events(store: Store, project: Project, names: _Names) -> Iterator[dict[str, Any]]:
    for uid, person, action, data, author, created in store.db.execute(EVENTS, (project.id,)):
        yield {"kind": "event", "item": uid, "annotator": names(person), "action": action,
               "data": names.event_data(json.loads(data)), "author": names(author), "created": created}  # fmt: skip


def _judges(store: Store, project: Project, *, private: bool) -> Iterator[dict[str, Any]]:
    """Judges with their labels. Where it is not `private`: no address, and prompts only where texts may leave."""
    for kind, version, *row in store.db.execute(JUDGES, (project.id,)).fetchall():
        *known, eps, labels, chosen = row
        found = dict(zip(JUDGE, known, strict=True)) | {"settings": json.loads(known[JUDGE.index("settings")])}
        if not private:
            found |= {"address": ""}
            found |= {} if text_may_leave(project) else {"system": "", "prompt": "", "settings": {}}
        yield {"kind": "judge", "judge_kind": kind, "guideline": version} | found
        if eps is not None:
            yield {"kind": "judge_margin", "judge": found["uid"], "eps": eps, "labels": labels, "created": chosen}
    for judge, item, first, *row in store.db.execute(JUDGE_LABELS, (project.id,)):
        found = dict(zip(JUDGE_LABEL, row, strict=True))
        found |= {key: found[key] and json.loads(found[key]) for key in ("spans", "shares")}
        found |= {} if first is None else {"first": first}
        yield {"kind": "judge_label", "judge": judge, "item": item} | found


def _groups(store: Store, project: Project, names: _Names) -> Iterator[dict[str, Any]]:
    """Groupings, then who is in which group."""
    for row in each_group(store, project):
        yield row | ({"annotator": names(row["annotator"])} if row["kind"] == "group" else {})


def _drafts(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    for tag, code in store.db.execute("SELECT tag, code FROM tag_draft WHERE project = ? ORDER BY tag", (project.id,)):
        yield {"kind": "tag_draft", "tag": tag, "code": code}
    query = "SELECT content, saved FROM guideline_draft WHERE project = ?"
    for content, saved in store.db.execute(query, (project.id,)):
        yield {"kind": "guideline_draft", "content": json.loads(content), "saved": saved}
