"""The queue of the write lock: it orders writers, and never forbids writing."""

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.annotations.database import write_lock
from evenhand.annotations.database.store import Store
from evenhand.annotations.database.write_lock import ThreadQueue
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[3]
SPLIT_OFF = """
import os, sqlite3, sys, time
from pathlib import Path
from evenhand.annotations.database import write_lock as turns
from evenhand.annotations.database.store import Store
path = Path(sys.argv[1])
reading, writing = os.pipe()
store = Store.open(path)

def child(work):
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        os.read(reading, 1)  # until its parent says so, or has ended
        try:
            work()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    return pid

def write():  # in a database of its own: SQLite's are not to be taken along
    with turns.acquire_write_lock(sqlite3.connect(":memory:", isolation_level=None), path, 60):
        pass

with turns._first_in_the_queue(path.resolve(), time.monotonic() + 60):
    first = child(lambda: None)  # it has the file of the queue open as long as it lives
with store.write():
    second = child(write)  # and this one a line in which its parent stands
with store.write():
    pass
os.write(writing, b"12")
ended = [os.waitpid(pid, 0)[1] for pid in (first, second)]
print(ended)
"""


def add(store: Store, name: str) -> None:
    with store.write() as db:
        db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, '')", (name, name))


def names(store: Store) -> list[str]:
    return [row[0] for row in store.db.execute("SELECT name FROM annotator ORDER BY id")]


def test_threads_write_in_the_order_of_their_requests() -> None:
    line, order = ThreadQueue(Path("evenhand.db")), list[int]()
    assert line.enter(0)

    def stand(number: int) -> None:
        assert line.enter(600)
        order.append(number)
        line.leave()

    people = [threading.Thread(target=stand, args=(number,)) for number in range(3)]
    for number, thread in enumerate(people, 1):
        thread.start()
        until(lambda wanted=number: len(line._waiting) == wanted)
    assert order == []
    line.leave()
    for thread in people:
        thread.join()
    assert order == [0, 1, 2]
    assert line.enter(0)


def test_a_thread_leaves_the_queue_after_its_timeout() -> None:
    line, came = ThreadQueue(Path("evenhand.db")), list[bool]()
    assert line.enter(0)
    other = threading.Thread(target=lambda: came.append(line.enter(0)))
    other.start()
    other.join()
    assert came == [False]
    line.leave()
    assert line.enter(0)


@pytest.mark.parametrize("called", [False, True], ids=["while waiting", "at the very moment of its turn"])
def test_an_interrupted_wait_does_not_block_the_queue(called: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    line, lock = ThreadQueue(Path("evenhand.db")), threading.Lock

    class Interrupted:
        def __init__(self) -> None:
            self.own = lock()

        def acquire(self, timeout: float | None = None) -> bool:
            if timeout is None:
                return self.own.acquire()
            if called:
                line.leave()
            raise KeyboardInterrupt

        def release(self) -> None:
            self.own.release()

    broken = list[str]()

    def wait() -> None:
        try:
            line.enter(60)
        except KeyboardInterrupt:
            broken.append("off")

    assert line.enter(0)
    with monkeypatch.context() as patch:
        patch.setattr(
            write_lock, "threading", SimpleNamespace(Lock=Interrupted, get_ident=lambda: -1)
        )  # another thread
        wait()
    assert broken == ["off"]
    if not called:
        line.leave()
    assert line.enter(0)


def test_a_transaction_of_another_store_within_one_raises_at_once(fresh_store: Store) -> None:
    raises = pytest.raises(RuntimeError, match="within another one")
    with Store.open(fresh_store.path) as second, raises, fresh_store.write(), second.write():
        pass
    add(fresh_store, "Ada")  # and nothing is left over from it
    assert names(fresh_store) == ["Ada"]


def test_a_nested_transaction_is_committed_or_undone_with_the_outer_one(fresh_store: Store) -> None:
    with fresh_store.write():
        add(fresh_store, "Ada")
        with Store.open(fresh_store.path) as second:
            assert names(second) == []
    assert names(fresh_store) == ["Ada"]
    with pytest.raises(KeyError), fresh_store.write():
        add(fresh_store, "Ben")
        raise KeyError
    assert names(fresh_store) == ["Ada"]


def test_all_paths_of_a_database_share_one_queue(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "other").mkdir()
    real, link = tmp_path / "real" / "labels.db", tmp_path / "other" / "link.db"
    with Store.open(real) as store:
        link.symlink_to(real)
        lines = set(write_lock._lines)
        for name in (link, tmp_path / "other" / ".." / "real" / "labels.db"):
            with Store.open(name) as same:
                add(same, name.parent.name)
        assert set(write_lock._lines) == lines
        assert names(store) == ["other", "real"]
    assert [file.name for file in link.parent.iterdir()] == ["link.db"]


@pytest.mark.parametrize("code", [errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS])
def test_writing_works_on_a_disk_without_file_locks(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def flock(_file: int, _how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    add(fresh_store, "Ada")
    assert names(fresh_store) == ["Ada"]


def test_writing_works_when_the_queue_file_cannot_be_created(fresh_store: Store) -> None:
    fresh_store.path.with_name(f"{fresh_store.path.name}-turn").mkdir()
    add(fresh_store, "Ada")
    assert names(fresh_store) == ["Ada"]


def test_deleting_a_locked_queue_file_does_not_block_writers(fresh_store: Store) -> None:
    queue = fresh_store.path.with_name(f"{fresh_store.path.name}-turn")
    with queue.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        queue.unlink()
        add(fresh_store, "Ada")
    assert names(fresh_store) == ["Ada"]
    assert queue.exists()


def test_a_halted_process_with_the_turn_does_not_block_writers(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.annotations.database.store.BUSY_MS", 40)
    queue = fresh_store.path.with_name(f"{fresh_store.path.name}-turn")
    with queue.open("w") as held:  # by a process that was halted
        fcntl.flock(held, fcntl.LOCK_EX)
        add(fresh_store, "Ada")
    assert names(fresh_store) == ["Ada"]


def test_forked_processes_can_write(tmp_path: Path) -> None:
    path = tmp_path / "labels.db"
    quiet = ["-W", "ignore::DeprecationWarning"]  # from 3.12 on, Python warns of fork() in a process with threads
    command = [sys.executable, *quiet, "-c", SPLIT_OFF, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[0, 0]\n", "")
