"""Files and reports show one point in time: a label stored while one is made is in all of it or in none of it."""

import uuid
import zipfile
from collections.abc import Callable
from io import BytesIO
from itertools import count

import pytest

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.project_description import describe_items
from evenhand.annotations.files.export import export_bytes, export_file
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.record.files import record_csv, record_json
from evenhand.annotations.types import Operation, Project
from tests.support.projects import filled_project

ITEMS = 12
Making = Callable[[Store, Project], object]


def package(store: Store, project: Project) -> object:
    archive = export_bytes(store, project, export_options("package"), "set", None)
    with zipfile.ZipFile(BytesIO(archive)) as file:
        return {name: file.read(name) for name in file.namelist()}


def written(store: Store, project: Project) -> object:
    out = store.path.with_name(f"out-{uuid.uuid4().hex}.csv")
    report = export_file(store, project, out, format="labels-wide", items="accepted")
    return report.rows, out.read_text(encoding="utf-8")


def measured(store: Store, project: Project) -> object:
    report = agreement(store, project)
    return report.by_labels, report.labels, report.items, [two.table for two in report.cohen]


def described(store: Store, project: Project) -> object:
    result = describe_items(store, project, items="accepted")
    return result.sentences, result.keywords, result.balances


def overseen(store: Store, project: Project) -> object:
    result = dashboard(store, project)
    return [person.labels for person in result.people], [cell.counted for cell in result.cells], result.ahead


EVERY = {"package": 6, "datasheet": 3}  # queries; in other reports a label is stored before each query
MADE: dict[str, Making] = {
    "package": package,
    "labels-wide": written,
    "labels-jsonl": lambda store, project: export_bytes(
        store, project, export_options("labels-jsonl", items="accepted"), "set", None
    ),
    "label-studio": lambda store, project: export_bytes(store, project, export_options("label-studio"), "set", None),
    "datasheet": lambda store, project: export_bytes(store, project, export_options("datasheet"), "set", None),
    "record csv": lambda store, project: "".join(record_csv(store, project, annotators(store, project)[0])),
    "record json": lambda store, project: "".join(record_json(store, project, annotators(store, project)[0])),
    "agreement": measured,
    "statistics": described,
    "progress": overseen,
}


@pytest.mark.parametrize("name", MADE)
def test_a_report_shows_one_point_in_time(fresh_store: Store, name: str) -> None:
    """Labels are stored between the queries of a report; the report must equal that of one of these times."""
    making, every = MADE[name], EVERY.get(name, 1)
    made, people = filled_project(fresh_store, ITEMS)
    waiting = [(who, item.uid) for item in claim(fresh_store, made, people[0], want=ITEMS) for who in people]
    for who in people[1:]:
        claim(fresh_store, made, who, want=ITEMS)
    errors, numbers, queries = list[BaseException](), count(1), count()
    with Store.open(fresh_store.path) as other, Store.open(fresh_store.path) as quiet:
        moments = [making(quiet, made)]

        def somebody_labels(query: str) -> None:
            if query.startswith(("PRAGMA", "BEGIN IMMEDIATE")):  # the event of an export: its turn to write
                waiting.clear()
            if next(queries) % every or not waiting:
                return
            who, item = waiting.pop(0)
            number = next(numbers)
            choice, reasons = ("reject", ("name",)) if number % 5 == 0 else ("accept", ())
            try:
                (answer,) = store_operations(
                    other, made, who, [Operation(f"op-{number}", item, choice, "desk", number, reasons=reasons)]
                )
                assert answer.stored, answer
                moments.append(making(quiet, made))
            except BaseException as error:  # the database library swallows what is raised here
                errors.append(error)

        fresh_store.db.set_trace_callback(somebody_labels)
        result = making(fresh_store, made)
        fresh_store.db.set_trace_callback(None)
    assert errors == []
    assert len(moments) > 2
    assert result in moments


def test_a_nested_read_shares_the_snapshot_of_the_outer_one(fresh_store: Store) -> None:
    with fresh_store.read():
        with fresh_store.read():
            before = fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone()
        with Store.open(fresh_store.path) as other, other.write() as db:
            db.execute("INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', '')")
        assert fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone() == before
    assert fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone() == (1,)
    with pytest.raises(ZeroDivisionError), fresh_store.read():
        1 / 0  # noqa: B018
    assert not fresh_store.db.in_transaction
