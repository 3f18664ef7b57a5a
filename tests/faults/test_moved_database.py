"""The files of the database are moved or deleted under a running server: no label is acknowledged and lost."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.types import Project
from evenhand.core.errors import Busy
from tests.support.desk_by_http import RouteDesk


@pytest.fixture
def ada(fresh_store: Store, sample_project: Project) -> Iterator[RouteDesk]:
    """Yield a desk with three items; `fresh_store` stays open, as the server's own store does."""
    with TestClient(Starlette(routes=routes())) as client:
        yield RouteDesk(client, fresh_store, sample_project, "Ada")
    stores.close()


def items_of(desk: RouteDesk) -> list[str]:
    return [item["id"] for item in desk.sync(want=3)["items"]]


def label(desk: RouteDesk, item: str) -> tuple[int, str]:
    """Send one label and return status and message."""
    sent = {"desk": desk.desk, "ops": [desk.op(item, "accept")], "have": [], "want": 0, "hello": 0}
    response = desk.post("sync", sent)
    return response.status_code, response.json().get("message", "")


def labels_on_disk(path: Path, copy: Path) -> int:
    """Return the number of labels that another program reads from the named files alone after a power cut."""
    for ending in ("", "-wal"):
        file = Path(f"{path}{ending}")
        if file.exists():
            Path(f"{copy}{ending}").write_bytes(file.read_bytes())
    with Store.open(copy) as store:
        return int(store.db.execute("SELECT count(*) FROM label").fetchone()[0])


def side(path: Path, ending: str) -> Path:
    return Path(f"{path}{ending}")


def test_a_deleted_log_stops_labels_and_keeps_earlier_ones(ada: RouteDesk, tmp_path: Path) -> None:
    first, second, third = items_of(ada)
    assert label(ada, first)[0] == 200 and label(ada, second)[0] == 200
    path = ada.store.path
    for ending in ("-wal", "-shm"):
        side(path, ending).unlink()
    for _ in range(2):
        status, message = label(ada, third)
        assert status == 503 and "its log" in message and "Nothing was stored" in message
    assert labels_on_disk(path, tmp_path / "copy.db") == 2


def test_an_empty_log_in_place_of_a_deleted_one_keeps_earlier_labels(ada: RouteDesk, tmp_path: Path) -> None:
    """A connection that only reads, as the probe for damage, creates a new log in place of the deleted one."""
    first, second, third = items_of(ada)
    assert label(ada, first)[0] == 200 and label(ada, second)[0] == 200
    path = ada.store.path
    for ending in ("-wal", "-shm"):
        side(path, ending).unlink()
    side(path, "-wal").touch()
    status, message = label(ada, third)
    assert status == 503 and "its log" in message
    assert labels_on_disk(path, tmp_path / "copy.db") == 2


def test_a_disk_error_while_opening_names_the_deleted_log(ada: RouteDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("evenhand.annotations.database.store.connected", refuse)
    with pytest.raises(Busy, match="cannot be opened"):
        Store.open(ada.store.path)
    side(ada.store.path, "-wal").unlink()
    with pytest.raises(Busy, match="the log was deleted"):
        Store.open(ada.store.path)


def test_a_replaced_database_stops_labels(ada: RouteDesk, tmp_path: Path) -> None:
    (item, *_rest) = items_of(ada)
    with Store.open(tmp_path / "other.db"):
        pass
    (tmp_path / "other.db").replace(ada.store.path)
    status, message = label(ada, item)
    assert (
        status == 503
        and (
            "was replaced by another file, or the log was deleted. Nothing was stored. Stop every program "
            "that uses the database, put the files back, then restart the app."
        )
        in message
    )
    with pytest.raises(Busy, match="was replaced by another file"), ada.store.write() as db:
        db.execute("DELETE FROM event")
    with pytest.raises(Busy, match="was replaced by another file"):  # a page of this server
        Store.open(ada.store.path)


def test_a_replaced_log_stops_labels(ada: RouteDesk) -> None:
    (item, *_rest) = items_of(ada)
    log = side(ada.store.path, "-wal")
    content = log.read_bytes()
    log.unlink()
    log.write_bytes(content)
    assert label(ada, item)[0] == 503


def test_a_moved_database_stops_labels_until_it_returns(ada: RouteDesk, tmp_path: Path) -> None:
    (item, *_rest) = items_of(ada)
    path = ada.store.path
    path.rename(tmp_path / "away.db")
    status, message = label(ada, item)
    assert status == 503 and "is missing" in message
    (tmp_path / "away.db").rename(path)
    assert label(ada, item)[0] == 200


def test_a_write_to_a_file_replaced_meanwhile_is_not_acknowledged(fresh_store: Store, tmp_path: Path) -> None:
    """The move comes after the check that precedes the commit, in the middle of the transaction at the latest."""
    with Store.open(tmp_path / "other.db"):
        pass
    with pytest.raises(Busy, match="was replaced by another file"), fresh_store.write() as db:
        db.execute("INSERT INTO annotator (uid, name, created) VALUES ('a', 'a', 'now')")
        (tmp_path / "other.db").replace(fresh_store.path)
    assert fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone() == (0,)


def test_the_log_deleted_by_a_closed_database_is_not_missed(fresh_store: Store) -> None:
    path = fresh_store.path
    fresh_store.close()
    assert not side(path, "-wal").exists()
    for number in range(2):
        with Store.open(path) as store, Store.open(path) as beside:
            for database in (store, beside):
                with database.write() as db:
                    row = (f"{number}{database is store}",) * 2
                    db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, 'now')", row)
