"""Import of pilots, samples, known answers, retests, events, judges, consent and groups of a package, and decisions."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from evenhand.annotations.adjudication.decisions import insert_comment, insert_decision
from evenhand.annotations.database.events import HERE_ONLY, restore_event
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import NOT_TAKEN, check_shape
from evenhand.annotations.files.label_files import is_labelled_here, label_of
from evenhand.annotations.files.package.records import (
    COMMENT,
    JSON,
    JUDGE,
    JUDGE_LABEL,
    PILOT,
    RETEST_LABEL,
    SAMPLE,
    SETTLEMENT,
    count_rows,
    holds_any,
    last_decisions,
    records_of,
    row_id,
)
from evenhand.annotations.guideline.drafts import insert_draft, insert_tag
from evenhand.annotations.guideline.versions import mark_read
from evenhand.annotations.items.changes import set_decision, set_known_answer, set_pilot
from evenhand.annotations.items.gold import recount_item, recount_items
from evenhand.annotations.judges.judges import restore_judge, restore_label, restore_margin
from evenhand.annotations.labels.operations import insert_retest_label
from evenhand.annotations.pilot.pilots import restore_pilot
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import restore_answer, restore_group, restore_grouping
from evenhand.annotations.quality.known_answers import insert_answer
from evenhand.annotations.queue.assignments import restore_assignment
from evenhand.annotations.queue.retests import restore_latest, restore_repeat
from evenhand.annotations.sampling.samples import restore_inclusions, restore_sample
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused

CHUNK = 500  # rows per transaction
# Pilots decide how many labels an item wants; a probability is stored before anybody has seen its item.
BEFORE_LABELS = ("pilot", "of_item", "sample", "inclusion")
# What a record of each kind must name that is stored here: else it is skipped.
NAMED = {
    "inclusion": ("item", "sample"),
    "of_item": ("item",),
    "known": ("item",),
    "standing": ("item", "annotator"),
    "retest": ("item", "annotator"),
    "retest_label": ("retest",),
    "told": ("annotator",),
    "judge": ("guideline",),
    "judge_label": ("judge", "item"),
    "judge_margin": ("judge",),
    "consent": ("annotator",),
    "group": ("annotator",),
}
Row = Mapping[str, Any]


def store_records(store: Store, project: Project, rows: Iterable[Row], *, early: bool, rebuilt: bool = False) -> int:
    """Store the records of a package: those to be stored before labels (`early`) or the others. Returns the new ones.

    `rebuilt`: the package makes the project, so retests keep the version of Evenhand whose desk stored them.
    Raises Refused for a record that the database refuses; then none of its transaction is stored.
    """
    keeper, new = _RecordWriter(store, project, rebuilt), 0
    wanted = ((n, row) for n, row in enumerate(rows, 1) if (str(row.get("kind")) in BEFORE_LABELS) == early)
    while some := list(islice(wanted, CHUNK)):
        with store.write():
            for number, row in some:
                try:
                    check_shape(row)
                    new += keeper.keep(row)
                except NOT_TAKEN as error:
                    message = N_("The database rejected record {line} of this package ({why}).")
                    raise Refused(message, line=number, why=repr(error)) from error
    return new


class _RecordWriter:
    """Stores records that are not there yet."""

    def __init__(self, store: Store, project: Project, rebuilt: bool) -> None:
        self.store, self.project, self.rebuilt = store, project, rebuilt
        self.met: Counter[tuple[Any, ...]] = Counter()
        self.people = {annotator.name: annotator.id for annotator in annotators(store, project, active=False)}
        self.kinds: dict[str, Callable[[Row], bool]] = {
            "pilot": self._pilot, "sample": self._sample, "inclusion": self._inclusion, "of_item": self._of_item,
            "known": self._known, "standing": self._standing, "retest": self._retest,
            "retest_label": self._retest_label, "told": self._changes_read, "event": self._event,
            "tag_draft": self._tag_draft, "guideline_draft": self._guideline_draft,
            "consent": self._consent, "grouping": self._grouping, "group": self._group,
            "judge": self._judge, "judge_label": self._judge_label, "judge_margin": self._judge_margin,
        }  # fmt: skip

    def keep(self, row: Row) -> bool:
        """Store *row*; an unknown kind of a later version is skipped."""
        kind = str(row.get("kind"))
        if kind not in self.kinds:
            return False
        named = {key: self._id(key, row) for key in NAMED.get(kind, ())}
        return None not in named.values() and self.kinds[kind]({**row, **named})

    def _id(self, key: str, row: Row) -> int | None:
        """Return the row id of the object that a record names by *key*; None if this database lacks it."""
        if key == "annotator":
            return self.people.get(str(row[key]))
        return row_id(self.store, self.project, key, row.get(key) if key == "item" else row[key])

    def _label(self, op_id: str | None) -> int | None:
        label = label_of(self.store, op_id)
        return None if label is None else label.id

    def _is_stored(self, table: str, **values: Any) -> bool:
        """Tell whether a record is stored as often as it has occurred; records without an id may be identical."""
        self.met[table, *values.values()] += 1
        return count_rows(self.store, table, **values) >= self.met[table, *values.values()]

    def _pilot(self, row: Row) -> bool:
        if row_id(self.store, self.project, "pilot", row["number"]) is not None:
            return False
        restore_pilot(self.store.db, self.project, {key: row[key] for key in PILOT})
        return True

    def _sample(self, row: Row) -> bool:
        known = row_id(self.store, self.project, "sample", row["number"])
        if known is not None or holds_any(self.store, self.project, "label"):
            return False  # among labels of this database it would not say with which probability they were made
        settings = {str(key): value for key, value in dict(row["settings"]).items()}
        values = {key: row[key] for key in SAMPLE} | {"project": self.project.id, "settings": _json(settings)}
        restore_sample(self.store.db, values)
        return True

    def _inclusion(self, row: Row) -> bool:
        sample, item = row["sample"], row["item"]
        if count_rows(self.store, "inclusion", sample=sample, item=item):
            return False
        restore_inclusions(self.store.db, sample, [(item, row["probability"], str(row["stratum"]), bool(row["drawn"]))])
        return True

    def _of_item(self, row: Row) -> bool:
        set_pilot(self.store.db, row["item"], row_id(self.store, self.project, "pilot", row["pilot"]))
        set_known_answer(self.store.db, row["item"], row["known"])
        recount_item(self.store, row["item"])
        return True

    def _known(self, row: Row) -> bool:
        same = {key: row[key] for key in ("item", "created", "choice")}
        if self._is_stored("known", **same):
            return False
        values = {key: row[key] or "" for key in ("why", "author")} | {"after": self._label(row["after"]) or 0}
        insert_answer(self.store.db, self.project, same | values)
        return True

    def _standing(self, row: Row) -> bool:
        item, person = row["item"], row["annotator"]
        if is_labelled_here(self.store, item, person):  # after an interrupted import, this label takes precedence
            return False
        latest, blind = self._label(row["latest"]), self._label(row["blind"])
        state = "labelled" if latest else "leased" if row["kept"] else "released"
        values = {"state": state, "latest": latest, "blind": blind, "revealed": row["revealed"]}
        restore_assignment(self.store.db, item, person, {**values, "kept": int(bool(row["kept"]))})
        recount_item(self.store, item)
        return True

    def _retest(self, row: Row) -> bool:
        place = {key: row[key] for key in ("item", "annotator")}
        if count_rows(self.store, "retest", uid=row["uid"]) or count_rows(self.store, "retest", **place):
            return False
        named = ("uid", "due", "state", "turn", "skips", "op_id", "desk", "revision", "created")
        values = {key: row[key] for key in named} | place
        if values["state"] in ("leased", "skipped"):
            values["state"] = "waiting"  # it is on no desk here
        first = self._label(row["first"])
        restore_repeat(self.store.db, values | {"project": self.project.id, "first": first})
        return True

    def _retest_label(self, row: Row) -> bool:
        if count_rows(self.store, "retest_label", op_id=row["op_id"]):
            return False
        values = {key: row[key] for key in (*RETEST_LABEL, "retest") if key != "app"}
        values |= {key: json.dumps(values[key]) for key in JSON & values.keys()}
        values["guideline"] = self._id("guideline", row)
        values["app"] = row.get("app") if self.rebuilt else None
        insert_retest_label(self.store.db, values, row.get("left"))
        restore_latest(self.store.db, row["retest"])
        return True

    def _changes_read(self, row: Row) -> bool:
        return mark_read(self.store.db, self.project, row["annotator"], row["version"])

    def _event(self, row: Row) -> bool:
        data = row["data"]
        if row["action"] in HERE_ONLY:
            return False  # progress of work in another database
        if not isinstance(data, dict):
            raise ValueError(f"data: {str(data)[:40]}")
        # `forecast.fully_labelled` and papers read the settings of a change.
        for settings in (data.get("old", {}), data.get("new", {})) if row["action"] in ("plan", "settings") else ():
            if not isinstance(settings, dict):
                raise ValueError(f"data: {str(settings)[:40]}")
            for name in ("share", "retest"):
                if not isinstance(settings.get(name), int | float | None):
                    raise ValueError(f"{name}: {str(settings[name])[:40]}")
        values = {key: row[key] for key in ("action", "created")} | {"data": _json(data)}
        values |= {key: self._id(key, row) if row.get(key) else None for key in ("item", "annotator")}
        if self._is_stored("event", project=self.project.id, **values):
            return False
        restore_event(self.store, self.project, author=row["author"] or "", **values)
        return True

    def _judge(self, row: Row) -> bool:
        if not isinstance(row["settings"], dict):
            raise ValueError(f"settings: {str(row['settings'])[:40]}")
        values = {key: row[key] for key in (*JUDGE, "guideline")} | {"settings": _json(row["settings"])}
        return restore_judge(self.store.db, values | {"project": self.project.id, "kind": row["judge_kind"]})

    def _judge_label(self, row: Row) -> bool:
        values = {key: row[key] for key in (*JUDGE_LABEL, "judge", "item")}
        values |= {key: row[key] and json.dumps(row[key]) for key in ("spans", "shares")}
        return restore_label(self.store.db, values | {"spans": values["spans"] or "[]"}, row.get("first"))

    def _judge_margin(self, row: Row) -> bool:
        return restore_margin(self.store.db, {key: row[key] for key in ("judge", "eps", "labels", "created")})

    def _consent(self, row: Row) -> bool:
        return restore_answer(self.store, self.project.id, row["annotator"], row)

    def _grouping(self, row: Row) -> bool:
        return restore_grouping(self.store, self.project, row)

    def _group(self, row: Row) -> bool:
        return restore_group(self.store, self.project, row["annotator"], row)

    def _tag_draft(self, row: Row) -> bool:
        return insert_tag(self.store, self.project, row["tag"], row["code"])

    def _guideline_draft(self, row: Row) -> bool:
        return insert_draft(self.store, self.project, row["content"], row["saved"])


def _json(data: Row) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def each_decision(
    store: Store, project: Project, codes: Mapping[str, str], *, private: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield every settlement and comment of a project, oldest first, as dicts with `kind` and the item's public id.

    `codes`: name -> code; adjudicators without one become J1, J2, ... `private`: private threads too.
    """
    named = dict(codes)
    for row in records_of(store, project, "settlement"):
        yield row | {"adjudicator": _coded(named, codes, row["adjudicator"])}
    for row in records_of(store, project, "comment"):
        if row.get("thread") and not private:
            continue
        # The name may have changed since; only the present one has a code.
        row["author"] = _coded(named, codes, row.get("annotator") or row["author"]) if codes else row["author"]
        yield row | {key: named.get(row[key], row[key]) for key in ("annotator", "thread") if key in row}


def _coded(named: dict[str, str], codes: Mapping[str, str], name: str) -> str:
    return named.setdefault(name, f"J{len(named) - len(codes) + 1}") if codes else name


def store_decisions(store: Store, project: Project, rows: Iterable[Mapping[str, Any]]) -> int:
    """Append settlements and comments of `each_decision`, after the labels; returns how many are new.

    Raises Refused for a row that the database refuses; then none is stored.
    """
    new = 0
    people = {annotator.name: annotator.id for annotator in annotators(store, project, active=False)}
    with store.write():
        for number, row in enumerate(rows, 1):
            try:
                check_shape(row)
                new += _stored(store, project, row, people)
            except NOT_TAKEN as error:
                message = N_("The database rejected decision {line} of this package ({why}).")
                raise Refused(message, line=number, why=repr(error)) from error
        last = last_decisions(store, project)
        for item, settlement in last:
            set_decision(store.db, item, settlement)
        recount_items(store, [item for item, _ in last])
    return new


def _stored(store: Store, project: Project, row: Mapping[str, Any], people: Mapping[str, int]) -> bool:
    kind = row.get("kind")
    if kind not in ("settlement", "comment"):
        raise Refused(N_("A line of decisions.jsonl must be an adjudication decision or a comment."))
    item = row_id(store, project, "item", row.get("item"))
    if item is None or count_rows(store, kind, op_id=row.get("op_id")):
        return False
    names = SETTLEMENT if kind == "settlement" else COMMENT
    values = {name: json.dumps(row.get(name)) if name in JSON else row.get(name) for name in names}
    if kind == "comment":
        values |= {key: people.get(str(row.get(key))) for key in ("annotator", "thread")}
        if row.get("thread") and values["thread"] is None:
            raise Refused(N_("A private comment belongs to an annotator who is not in this package."))
    add: Callable[..., object] = insert_decision if kind == "settlement" else insert_comment
    add(store.db, {"project": project.id, "item": item} | values)
    return True
