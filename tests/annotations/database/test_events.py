"""Events: written in the transaction of their change, read in order, never changed."""

import sqlite3
from pathlib import Path

import pytest

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.package.import_records import store_records
from evenhand.annotations.types import Item, Project
from tests.support.judged_sentences import all_items
from tests.support.projects import database, filled_project


@pytest.fixture
def imported_items(fresh_store: Store) -> tuple[Project, list[Item]]:
    project, _people = filled_project(fresh_store, 3)
    return project, all_items(fresh_store, project)


def test_events_are_read_in_order(fresh_store: Store, imported_items: tuple[Project, list[Item]]) -> None:
    project, items = imported_items
    ada = fresh_store.db.execute("SELECT id, uid FROM annotator ORDER BY id").fetchone()
    with fresh_store.write():
        record(fresh_store, project, "plan", author=" Lead ", share=0.1, note="重新开始")
        record(fresh_store, project, "known", item=items[1], choice="accept")
        record(fresh_store, project, "replaced", annotator=ada[0])
        record(fresh_store, project, "known", item=items[1].id, choice=None)
    history = events(fresh_store, project)
    assert [event.action for event in history] == ["plan", "known", "replaced", "known"]
    assert (history[0].author, history[0].data, history[0].item) == ("Lead", {"share": 0.1, "note": "重新开始"}, None)
    assert history[2].annotator == ada[1]
    assert [event.data for event in events(fresh_store, project, items[1].uid)] == [
        {"choice": "accept"},
        {"choice": None},
    ]
    assert events(fresh_store, project, items[0].uid) == []
    assert [event.action for event in events(fresh_store, project, last=2)] == ["replaced", "known"]
    assert [event.action for event in events(fresh_store, project, action="plan")] == ["plan"]


def test_restored_events_are_deduplicated_but_equal_ones_of_one_time_are_kept(
    fresh_store: Store, imported_items: tuple[Project, list[Item]]
) -> None:
    """Known answers and events have no id: set, withdrawn and set again within a millisecond they are three."""
    project, (item, *_) = imported_items
    day = "2026-03-01T12:00:00.000Z"
    known = [{"choice": choice, "why": "", "author": "Lead", "after": None} for choice in ("accept", None, "accept")]
    seen = [{"action": "seen", "data": {}, "annotator": None, "author": "Lead"}] * 2
    rows = [
        *({"kind": "known", "item": item.uid, "created": day} | row for row in known),
        *({"kind": "event", "item": item.uid, "created": day} | row for row in seen),
    ]
    assert [store_records(fresh_store, project, rows, early=False) for _ in range(2)] == [5, 0]
    choices = fresh_store.db.execute("SELECT choice FROM known ORDER BY id").fetchall()
    assert choices == [("accept",), (None,), ("accept",)]
    assert len(events(fresh_store, project, action="seen")) == 2


def test_only_events_of_the_project_are_listed(fresh_store: Store, imported_items: tuple[Project, list[Item]]) -> None:
    other, _people = filled_project(fresh_store, 1)
    with fresh_store.write():
        record(fresh_store, other, "plan")
    assert events(fresh_store, imported_items[0]) == [] and len(events(fresh_store, other)) == 1


def test_a_rolled_back_change_leaves_no_event(fresh_store: Store, imported_items: tuple[Project, list[Item]]) -> None:
    with pytest.raises(RuntimeError), fresh_store.write():
        record(fresh_store, imported_items[0], "plan")
        raise RuntimeError
    assert events(fresh_store, imported_items[0]) == []


@pytest.mark.parametrize("change", ["UPDATE event SET author = 'x'", "DELETE FROM event"])
def test_an_event_is_never_changed(change: str, fresh_store: Store, imported_items: tuple[Project, list[Item]]) -> None:
    with fresh_store.write():
        record(fresh_store, imported_items[0], "plan")
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        fresh_store.db.execute(change)


def test_invalid_events_are_rejected(fresh_store: Store, imported_items: tuple[Project, list[Item]]) -> None:
    with pytest.raises(ValueError, match="action"):
        record(fresh_store, imported_items[0], "  ")
    with pytest.raises(ValueError, match="JSON"):
        record(fresh_store, imported_items[0], "plan", share=float("nan"))
    with pytest.raises(TypeError):
        record(fresh_store, imported_items[0], "plan", share={1, 2})
    assert events(fresh_store, imported_items[0]) == []


def test_an_event_is_visible_to_other_connections(
    tmp_path: Path, fresh_store: Store, imported_items: tuple[Project, list[Item]]
) -> None:
    with fresh_store.write():
        record(fresh_store, imported_items[0], "plan")
    with Store.open(database(tmp_path)) as other:
        assert [event.action for event in events(other, imported_items[0])] == ["plan"]
