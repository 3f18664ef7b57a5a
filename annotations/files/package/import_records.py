"""Import of pilots, samples, known answers, retests, events, judges, consent and groups of a package."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from evenhand.annotations.database.events import HERE_ONLY, restore_event
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import NOT_TAKEN, check_shape
from evenhand.annotations.files.package.records import JUDGE, JUDGE_LABEL, LISTS, RETEST_LABEL
from evenhand.annotations.guideline.drafts import restore_draft, restore_tag_draft
from evenhand.annotations.guideline.versions import mark_read
from evenhand.annotations.items.changes import set_known_answer, set_pilot
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.judges.judges import restore_judge, restore_label, restore_margin
from evenhand.annotations.labels.retest_labels import insert_repeated_label
from evenhand.annotations.pilot.pilots import restore_pilot
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import restore_answer
from evenhand.annotations.projects.groups import restore_group, restore_grouping
from evenhand.annotations.quality.known_answers import insert_answer
from evenhand.annotations.queue.assignments import restore_assignment
from evenhand.annotations.queue.retests import restore_latest, restore_repeat
from evenhand.annotations.sampling.samples import restore_inclusions, restore_sample
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused

CHUNK = 500  # rows per transaction
SAID_HERE = (
    "SELECT 1 FROM label WHERE item = ? AND annotator = ?"
    " AND NOT EXISTS (SELECT 1 FROM label_of_file WHERE label_of_file.label = label.id)"
)
# Pilots decide how many labels an item wants; a probability is stored before anybody has seen its item.
BEFORE_LABELS = ("pilot", "of_item", "sample", "inclusion")
Row = Mapping[str, Any]


def is_bare(store: Store, project: Project) -> bool:
    """Whether a project has no pilot, sample, known answer or retest, as after an interrupted import.

    Events do not count: creating the project stores some.
    """
    tables = ("pilot", "sample", "known", "retest")
    return not any(
        store.db.execute(f"SELECT 1 FROM {table} WHERE project = ? LIMIT 1", (project.id,)).fetchone()
        for table in tables
    )


def store_records(store: Store, project: Project, rows: Iterable[Row], *, early: bool, rebuilt: bool = False) -> int:
    """Store the records of a package: those to be stored before labels (`early`) or the others. Returns the new ones.

    `rebuilt`: the package makes the project, so retests keep the version of Evenhand whose desk stored them.
    Raises Refused for a record that the database refuses; then none of its transaction is stored.
    """
    keeper, new = _RecordWriter(store, project, rebuilt), 0
    wanted = ((n, row) for n, row in enumerate(rows, 1) if (str(row.get("kind")) in BEFORE_LABELS) == early)
    for some in _chunks(wanted):
        with store.write():
            for number, row in some:
                try:
                    check_shape(row)
                    new += keeper.keep(row)
                except NOT_TAKEN as error:
                    message = N_("The database rejected record {line} of this package ({why}).")
                    raise Refused(message, line=number, why=repr(error)) from error
    return new


def _chunks(rows: Iterable[tuple[int, Row]]) -> Iterator[list[tuple[int, Row]]]:
    source = iter(rows)
    while some := list(islice(source, CHUNK)):
        yield some


class _RecordWriter:
    """Stores records that are not there yet."""

    def __init__(self, store: Store, project: Project, rebuilt: bool) -> None:
        self.store, self.project, self.rebuilt = store, project, rebuilt
        self.met: Counter[tuple[Any, ...]] = Counter()
        self.people = {one.name: one.id for one in annotators(store, project, active=False)}
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
        found = self.kinds.get(str(row.get("kind")))
        return found is not None and found(row)

    def _one(self, query: str, *values: Any) -> Any:
        row = self.store.db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def _is_there(self, query: str, *values: Any) -> bool:
        """Whether a record without an id is stored as often as it has occurred so far: two may be identical."""
        self.met[query, *values] += 1
        return bool(self._one(query, *values) >= self.met[query, *values])

    def _item(self, row: Row) -> int | None:
        uid = row.get("item")
        found: int | None = uid and self._one("SELECT id FROM item WHERE uid = ? AND project = ?", uid, self.project.id)
        return found or None

    def _label(self, op_id: str | None) -> int | None:
        found: int | None = self._one("SELECT id FROM label WHERE op_id = ?", op_id)
        return found

    def _pilot(self, row: Row) -> bool:
        query = "SELECT 1 FROM pilot WHERE project = ? AND number = ?"
        if self._one(query, self.project.id, row["number"]):
            return False
        named = ("number", "items", "seed", "people", "begun", "closed")
        restore_pilot(self.store.db, self.project, {key: row[key] for key in named})
        return True

    def _sample(self, row: Row) -> bool:
        query = "SELECT 1 FROM sample WHERE project = ? AND number = ?"
        labelled = "SELECT 1 FROM label WHERE project = ? LIMIT 1"
        if self._one(query, self.project.id, row["number"]) or self._one(labelled, self.project.id):
            return False  # among labels of this database it would not say with which probability they were made
        named = ("number", "design", "items", "share", "seed", "created", "closed")
        values = {key: row[key] for key in named} | {"project": self.project.id}
        settings = {str(key): value for key, value in dict(row["settings"]).items()}
        values["settings"] = json.dumps(settings, ensure_ascii=False, sort_keys=True)
        restore_sample(self.store.db, values)
        return True

    def _inclusion(self, row: Row) -> bool:
        item, number = self._item(row), row["sample"]
        sample = self._one("SELECT id FROM sample WHERE project = ? AND number = ?", self.project.id, number)
        known = "SELECT 1 FROM inclusion WHERE sample = ? AND item = ?"
        if item is None or sample is None or self._one(known, sample, item):
            return False
        restore_inclusions(self.store.db, sample, [(item, row["probability"], str(row["stratum"]), bool(row["drawn"]))])
        return True

    def _of_item(self, row: Row) -> bool:
        item = self._item(row)
        if item is None:
            return False
        query = "SELECT id FROM pilot WHERE project = ? AND number = ?"
        pilot = self._one(query, self.project.id, row["pilot"])
        set_pilot(self.store.db, item, pilot)
        set_known_answer(self.store.db, item, row["known"])
        recount_item(self.store, item)
        return True

    def _known(self, row: Row) -> bool:
        item = self._item(row)
        query = "SELECT count(*) FROM known WHERE item = ? AND created = ? AND choice IS ?"
        if item is None or self._is_there(query, item, row["created"], row["choice"]):
            return False
        values = {key: row[key] or "" for key in ("why", "author")}
        values |= {"choice": row["choice"], "created": row["created"], "after": self._label(row["after"]) or 0}
        insert_answer(self.store.db, self.project, {"item": item} | values)
        return True

    def _standing(self, row: Row) -> bool:
        item, person = self._item(row), self.people.get(str(row["annotator"]))
        # After an interrupted import, labels made here meanwhile take precedence.
        if item is None or person is None or self._one(SAID_HERE, item, person):
            return False
        latest, blind = self._label(row["latest"]), self._label(row["blind"])
        state = "labelled" if latest else "leased" if row["kept"] else "released"
        values = {"state": state, "latest": latest, "blind": blind, "revealed": row["revealed"]}
        restore_assignment(self.store.db, item, person, {**values, "kept": int(bool(row["kept"]))})
        recount_item(self.store, item)
        return True

    def _retest(self, row: Row) -> bool:
        item, person = self._item(row), self.people.get(str(row["annotator"]))
        query = "SELECT 1 FROM retest WHERE uid = ? OR (item = ? AND annotator = ?)"
        if item is None or person is None or self._one(query, row["uid"], item, person):
            return False
        named = ("uid", "due", "state", "turn", "skips", "op_id", "desk", "revision", "created")
        place = {"project": self.project.id, "item": item, "annotator": person, "first": self._label(row["first"])}
        values = {key: row[key] for key in named}
        if values["state"] in ("leased", "skipped"):
            values["state"] = "waiting"  # it is on no desk here
        restore_repeat(self.store.db, values | place)
        return True

    def _retest_label(self, row: Row) -> bool:
        found = self._one("SELECT id FROM retest WHERE uid = ? AND project = ?", row["retest"], self.project.id)
        if found is None or self._one("SELECT 1 FROM retest_label WHERE op_id = ?", row["op_id"]):
            return False
        query = "SELECT id FROM guideline WHERE project = ? AND version = ?"
        names = [key for key in RETEST_LABEL if key != "app"]
        values = {key: json.dumps(row[key]) if key in LISTS else row[key] for key in names}
        values["app"] = row.get("app") if self.rebuilt else None
        values |= {"retest": found, "guideline": self._one(query, self.project.id, row["guideline"])}
        item = self._one("SELECT item FROM retest WHERE id = ?", found)
        insert_repeated_label(self.store.db, values, item, row.get("left"))
        restore_latest(self.store.db, found)
        return True

    def _changes_read(self, row: Row) -> bool:
        person = self.people.get(str(row["annotator"]))
        return person is not None and mark_read(self.store.db, self.project, person, row["version"])

    def _event(self, row: Row) -> bool:
        if row["action"] in HERE_ONLY:
            return False  # progress of work in another database
        if not isinstance(row["data"], dict):
            raise ValueError(f"data: {str(row['data'])[:40]}")
        if row["action"] in ("plan", "settings"):
            _check_settings(row["data"])
        item, person = self._item(row), self.people.get(str(row.get("annotator")))
        data = json.dumps(row["data"], ensure_ascii=False, sort_keys=True)
        query = (
            "SELECT count(*) FROM event WHERE project = ? AND action = ? AND created = ? AND data = ? AND item IS ?"
            " AND annotator IS ?"
        )
        if self._is_there(query, self.project.id, row["action"], row["created"], data, item, person):
            return False
        restore_event(
            self.store, self.project, row["action"], item=item, annotator=person, data=data,
            author=row["author"] or "", created=row["created"],
        )  # fmt: skip
        return True

    def _judge(self, row: Row) -> bool:
        query = "SELECT id FROM guideline WHERE project = ? AND version = ?"
        guideline = self._one(query, self.project.id, row["guideline"])
        if not isinstance(row["settings"], dict):
            raise ValueError(f"settings: {str(row['settings'])[:40]}")
        values = {key: row[key] for key in JUDGE} | {"project": self.project.id, "guideline": guideline}
        settings = json.dumps(row["settings"], ensure_ascii=False, sort_keys=True)
        values |= {"kind": row["judge_kind"], "settings": settings}
        return guideline is not None and restore_judge(self.store.db, values)

    def _judge_of(self, row: Row) -> int | None:
        query = "SELECT id FROM judge WHERE uid = ? AND project = ?"
        found: int | None = self._one(query, row["judge"], self.project.id)
        return found

    def _judge_label(self, row: Row) -> bool:
        judge, item = self._judge_of(row), self._item(row)
        values = {key: row[key] for key in JUDGE_LABEL} | {"judge": judge, "item": item}
        values |= {key: row[key] and json.dumps(row[key]) for key in ("spans", "shares")}
        values["spans"] = values["spans"] or "[]"
        return judge is not None and item is not None and restore_label(self.store.db, values, row.get("first"))

    def _judge_margin(self, row: Row) -> bool:
        judge = self._judge_of(row)
        values = {"judge": judge} | {key: row[key] for key in ("eps", "labels", "created")}
        return judge is not None and restore_margin(self.store.db, values)

    def _consent(self, row: Row) -> bool:
        person = self.people.get(str(row["annotator"]))
        return person is not None and restore_answer(self.store.db, self.project.id, person, row)

    def _grouping(self, row: Row) -> bool:
        return restore_grouping(self.store, self.project, row)

    def _group(self, row: Row) -> bool:
        person = self.people.get(str(row["annotator"]))
        return person is not None and restore_group(self.store, self.project, person, row)

    def _tag_draft(self, row: Row) -> bool:
        return restore_tag_draft(self.store, self.project, row["tag"], row["code"])

    def _guideline_draft(self, row: Row) -> bool:
        return restore_draft(self.store, self.project, row["content"], row["saved"])


def _check_settings(data: Row) -> None:
    """Raise ValueError for a change without valid settings: `forecast.fully_labelled` and papers read them."""
    for settings in (data.get("old", {}), data.get("new", {})):
        if not isinstance(settings, dict):
            raise ValueError(f"data: {str(settings)[:40]}")
        for name in ("share", "retest"):
            if not isinstance(settings.get(name), int | float | None):
                raise ValueError(f"{name}: {str(settings[name])[:40]}")
