"""Pages of the database are overwritten under a running server: labels are refused until the file is whole again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database import connections
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile, Busy
from evenhand.web import status
from tests.support.desk_by_http import RouteDesk
from tests.support.projects import decide, filled_project
from tests.support.waiting import until

PAGE = 4096


@pytest.fixture
def ada(fresh_store: Store, sample_project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[RouteDesk]:
    """Yield a desk with three items; a damaged database may be examined again at once."""
    monkeypatch.setattr(connections, "LOOK_S", 0.0)
    monkeypatch.setattr(connections, "EXAMINE_S", 0.0)
    monkeypatch.setattr(status, "KEPT_S", 0.0)
    with TestClient(Starlette(routes=[*routes(), *status.routes()])) as client:
        yield RouteDesk(client, fresh_store, sample_project, "Ada")
    stores.close()


def label(desk: RouteDesk, item: str) -> tuple[int, str]:
    """Send one label and return status and message."""
    sent = {"desk": desk.desk, "ops": [desk.op(item, "accept")], "have": [], "want": 0, "hello": 0}
    response = desk.post("sync", sent)
    return response.status_code, response.json().get("message", "")


def page_of(path: Path, table: str) -> int:
    """Return the offset of the root page of a table."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    return (int(root) - 1) * PAGE


@contextmanager
def overwritten(path: Path, table: str) -> Iterator[None]:
    """Overwrite the root page of a table with zeros, as after a fault of the disk, and restore it afterwards."""
    at = page_of(path, table)
    with path.open("r+b") as file:
        file.seek(at)
        content = file.read(PAGE)
        file.seek(at)
        file.write(bytes(PAGE))
    yield
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def test_labels_are_refused_while_the_health_check_says_unreadable(ada: RouteDesk) -> None:
    first, second, third = [item["id"] for item in ada.sync(want=3)["items"]]
    assert label(ada, first)[0] == 200
    with overwritten(ada.store.path, "batch"):
        health = ada.client.get("/healthz")
        assert health.status_code == 503 and health.json()["database"] == "unreadable"
        for _ in range(2):
            code, message = label(ada, second)
            assert code == 503 and ("damaged" in message or "malformed" in message)
    assert label(ada, second)[0] == 200 and label(ada, third)[0] == 200
    assert ada.client.get("/healthz").status_code == 200
    assert ada.store.db.execute("SELECT count(*) FROM label").fetchone() == (3,)


def test_the_server_notices_damage_without_a_health_check(ada: RouteDesk) -> None:
    first, second, _ = [item["id"] for item in ada.sync(want=3)["items"]]
    assert label(ada, first)[0] == 200
    path = ada.store.path.resolve()
    with overwritten(ada.store.path, "batch"):
        until(lambda: label(ada, first)[0] == 503)
        assert path in connections._damaged
    assert label(ada, second)[0] == 200 and path not in connections._damaged


def test_damage_met_by_a_statement_stops_all_writing(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check of the newest rows does not read this page: only an examination of the whole file finds it whole."""
    monkeypatch.setattr(connections, "EXAMINE_S", 0.0)
    project, _ = filled_project(fresh_store, 4)
    person = annotators(fresh_store, project)[0]
    with overwritten(fresh_store.path, "guideline"):
        with pytest.raises(BadFile, match="is damaged"), Store.open(fresh_store.path) as store:
            store.db.execute("SELECT * FROM guideline").fetchall()
        assert connections.is_readable(fresh_store.path)
        item = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
        with pytest.raises(Busy, match="Nothing is stored"):
            store_operations(fresh_store, project, person, [decide(item)])
    assert store_operations(fresh_store, project, person, [decide(item)])[0].stored


def test_a_busy_database_is_not_reported_as_damaged(fresh_store: Store) -> None:
    with closing(sqlite3.connect(fresh_store.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert connections.is_readable(fresh_store.path)
        other.execute("ROLLBACK")
    connections.note_damage(fresh_store.path)
    with fresh_store.write():  # examined, and whole
        pass
