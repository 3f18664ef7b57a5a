"""Opening the database must not drop the locks that the process holds on it already.

POSIX drops every lock of a process on a file when the process closes any
handle of that file (sqlite.org/howtocorrupt.html, section 2.2).
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from evenhand.annotations.database import write_lock
from evenhand.annotations.database.connections import connect
from evenhand.annotations.database.store import Store, long_lock_timeout
from evenhand.annotations.guideline.drafts import discard_draft, read_draft, save_draft
from evenhand.annotations.items.batch import Batch, delete_items
from evenhand.annotations.projects.projects import archive, set_quotas
from evenhand.core.errors import Busy
from tests.support.projects import PATIENT, broken_rules, filled_project, new_items
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]
WRITE_AND_CLOSE = """
import sys
from evenhand.annotations.database.store import Store
with Store.open(sys.argv[1]) as store:
    with store.write() as db:
        db.execute("INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', '')")
"""


# Writes without a pause, as a worker that finds nothing to do may: the lock is free for microseconds at a time.
HOG = f"""{PATIENT}
import itertools, os, sys
from evenhand.annotations.database.store import Store
told = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)
with Store.open(sys.argv[1]) as store:
    print("ready", flush=True)
    for turns in itertools.count(1):
        with store.write() as db:
            os.pwrite(told, turns.to_bytes(8, "big"), 0)
            for _ in range(3_000):
                db.execute("SELECT count(*) FROM item").fetchone()
"""
MOST_TURNS = 300  # of three other processes before its own; not a time, which varies on a busy machine


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let another program hold the write lock."""
    with closing(connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_another_process_keeps_the_log_of_an_open_reader(tmp_path):
    path = tmp_path / "labels.db"
    with Store.open(path) as reader:
        assert reader.db.execute("SELECT count(*) FROM annotator").fetchone()[0] == 0
        Store.open(path).close()  # as every other page and request of the app does
        done = subprocess.run(
            [sys.executable, "-c", WRITE_AND_CLOSE, str(path)], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        # The last connection to close removes the log. This one is still open, so it must be there.
        assert path.with_name("labels.db-wal").exists()
        assert reader.db.execute("SELECT name FROM annotator").fetchall() == [("Ada",)]


def test_only_the_owner_may_read_a_new_database(tmp_path):
    path = tmp_path / "labels.db"
    Store.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labels.db", "labels.db-turn"]
    assert (tmp_path / "labels.db-turn").stat().st_mode & 0o777 == 0o600


def test_a_busy_writer_lets_other_writers_through(tmp_path):
    path = tmp_path / "labels.db"
    with ExitStack() as later, Store.open(path) as store:
        files = [tmp_path / str(number) for number in range(3)]
        for file in files:
            command = [sys.executable, "-c", HOG, str(path), str(file)]
            hog = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            later.callback(hog.communicate)
            later.callback(hog.kill)
            assert hog.stdout is not None and hog.stdout.readline() == "ready\n"

        def taken():
            return sum(int.from_bytes(file.read_bytes(), "big") for file in files)

        for number in range(10):
            before = taken()
            until(lambda seen=before: taken() > seen)  # they are at it again
            before = taken()
            with store.write() as db:
                assert taken() - before <= MOST_TURNS
                db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, '')", (str(number), f"n{number}"))
        assert store.db.execute("SELECT count(*) FROM annotator").fetchone() == (10,)


@pytest.mark.parametrize(
    "change",
    [
        lambda store, made, batch: delete_items(store, batch.id, batch.created),
        lambda store, made, batch: archive(store, made),
        lambda store, made, batch: save_draft(store, made, read_draft(store, made)),
        lambda store, made, batch: discard_draft(store, made),
        lambda store, made, batch: set_quotas(store, made, {}),
    ],
    ids=["delete_items", "archive", "save_draft", "discard_draft", "set_quotas"],
)
def test_a_locked_database_is_reported_in_one_sentence(fresh_store, change, monkeypatch):
    made, _ = filled_project(fresh_store, 1)
    begun = Batch.begin(fresh_store, made, "more.txt")
    monkeypatch.setattr("evenhand.annotations.database.store.BUSY_MS", 10)
    with locked(fresh_store.path), pytest.raises(Busy, match="Nothing was stored"):
        change(fresh_store, made, begun)


def test_a_job_waits_longer_for_the_lock_than_a_page(fresh_store, monkeypatch):
    monkeypatch.setattr("evenhand.annotations.database.store.BUSY_MS", 10)
    times, has_begun = [], write_lock._has_begun

    def begun(connection):
        times.append(time.monotonic())
        if len(times) == 100:  # each of them half a millisecond after the last one, so far more than 10 ms in all
            other.execute("ROLLBACK")
        return has_begun(connection)

    monkeypatch.setattr(write_lock, "_has_begun", begun)
    with closing(connect(fresh_store.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with long_lock_timeout(60), fresh_store.write() as db:
            db.execute("UPDATE database SET uid = uid")
    assert len(times) >= 100 and times[-1] - times[0] > 0.01
    with locked(fresh_store.path), pytest.raises(Busy, match="Nothing was stored"), fresh_store.write():
        pass


def test_the_cause_of_a_failed_import_is_raised_when_cleanup_is_locked_out(fresh_store, monkeypatch):
    made, _ = filled_project(fresh_store, 1)
    with (
        ExitStack() as later,
        pytest.raises(ValueError, match="first"),
        Batch.begin(fresh_store, made, "more") as batch,
    ):
        batch.add(new_items(1, first=9))
        monkeypatch.setattr("evenhand.annotations.database.store.BUSY_MS", 10)
        later.enter_context(locked(fresh_store.path))
        raise ValueError("first")
    assert broken_rules(fresh_store) == []
    assert fresh_store.db.execute("SELECT count(*) FROM batch WHERE published = 0").fetchone()[0] == 1
    delete_items(fresh_store, batch.id, batch.created)
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone()[0] == 1
