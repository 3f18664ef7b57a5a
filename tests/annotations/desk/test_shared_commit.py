"""Requests that arrive together share a commit: each succeeds or fails alone, and is answered after the commit."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from threading import Event
from typing import Any

import pytest

from evenhand.annotations.database.pool import Pool
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.shared_commit import MOST, SharedCommit
from evenhand.core.errors import Busy, Refused
from tests.support.waiting import until

Work = Callable[[Store, None], Any]


class Commits(Pool):
    """A pool that counts the commits of its stores."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def _take(self) -> Store | None:
        store = super()._take() or Store.open(any_thread=True)
        store.db.set_trace_callback(self._note)
        return store

    def _note(self, statement: str) -> None:
        self.count += statement == "COMMIT"


@pytest.fixture
def pool(fresh_store: Store) -> Iterator[Commits]:
    result = Commits()
    yield result
    result.close()


def insert(name: str) -> Work:
    def work(store: Store, _: None) -> str:
        with store.write() as db:
            db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, 'now')", (name, name))
        return name

    return work


def names(store: Store) -> list[str]:
    return [row[0] for row in store.db.execute("SELECT name FROM annotator ORDER BY id")]


def together(shared: SharedCommit, *works: Work) -> list[Any]:
    """Return the results of *works* that all arrive while an earlier request is at work; exceptions as values."""
    busy, free = Event(), Event()

    def first(store: Store, _: None) -> None:
        busy.set()
        assert free.wait(60)

    async def run() -> list[Any]:
        tasks: list[Awaitable[Any]] = [asyncio.ensure_future(shared.run(lambda store: None, first))]
        while not busy.is_set():
            await asyncio.sleep(0.001)
        tasks += [asyncio.ensure_future(shared.run(lambda store: None, work)) for work in works]
        await asyncio.sleep(0)  # each has been put into the queue
        free.set()
        return (await asyncio.gather(*tasks, return_exceptions=True))[1:]

    return asyncio.run(run())


def test_simultaneous_requests_share_one_commit(fresh_store: Store, pool: Commits) -> None:
    assert together(SharedCommit(pool), insert("Ada"), insert("Bo"), insert("Cy")) == ["Ada", "Bo", "Cy"]
    assert pool.count == 2  # of the request before, and of these
    assert names(fresh_store) == ["Ada", "Bo", "Cy"]


def test_more_requests_than_the_limit_take_several_commits(fresh_store: Store, pool: Commits) -> None:
    made = [f"P{number}" for number in range(MOST + 1)]
    assert together(SharedCommit(pool), *map(insert, made)) == made
    assert pool.count == 3 and names(fresh_store) == made


def test_a_refused_request_is_undone_alone(fresh_store: Store, pool: Commits) -> None:
    def refused(store: Store, _: None) -> None:
        insert("half")(store, None)
        raise Refused("no")

    result = together(SharedCommit(pool), insert("Ada"), refused, insert("Bo"))
    assert result[0] == "Ada" and isinstance(result[1], Refused) and result[2] == "Bo"
    assert pool.count == 2 and names(fresh_store) == ["Ada", "Bo"]


@pytest.mark.parametrize("error", [ValueError("a mistake"), sqlite3.OperationalError("disk I/O error")])
def test_a_failing_request_does_not_undo_others(fresh_store: Store, pool: Commits, error: Exception) -> None:
    """A request that breaks may have undone the whole transaction, so each of the others is then done alone."""

    def breaks(store: Store, _: None) -> None:
        insert("half")(store, None)
        store.db.execute("ROLLBACK")
        raise error

    result = together(SharedCommit(pool), insert("Ada"), breaks, insert("Bo"))
    assert result[0] == "Ada" and result[1] is error and result[2] == "Bo"
    assert names(fresh_store) == ["Ada", "Bo"]


def test_a_failed_commit_acknowledges_no_request(
    fresh_store: Store, pool: Commits, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = []

    def check(store: Store) -> None:
        if store.db.in_transaction and names(store):  # before the commit
            failed.append(len(names(store)))
            raise Busy("the disk is full")

    monkeypatch.setattr(Store, "_check_files", check)
    result = together(SharedCommit(pool), insert("Ada"), insert("Bo"))
    assert [type(error) for error in result] == [Busy, Busy]
    assert failed == [2, 1, 1] and names(fresh_store) == []  # together, then each alone


def test_the_caller_is_identified_before_the_transaction(fresh_store: Store, pool: Commits) -> None:
    async def run() -> tuple[bool, bool]:
        found: tuple[bool, bool] = await SharedCommit(pool).run(
            lambda store: store.db.in_transaction, lambda store, known: (known, store.db.in_transaction)
        )
        return found

    assert asyncio.run(run()) == (False, True)

    def unknown(store: Store) -> None:
        raise Refused("who?")

    with pytest.raises(Refused, match="who"):
        asyncio.run(SharedCommit(pool).run(unknown, insert("Ada")))
    assert names(fresh_store) == []


def test_a_cancelled_request_is_still_stored(fresh_store: Store, pool: Commits) -> None:
    shared = SharedCommit(pool)

    async def leave(asked: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(asked)
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave(shared.run(lambda store: None, insert("Ada"))))
    until(lambda: names(fresh_store) == ["Ada"])
    assert together(shared, insert("Bo")) == ["Bo"]  # the thread continues after a loop was closed


def test_the_log_is_checkpointed_between_commits(
    fresh_store: Store, pool: Commits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that is never written back grows with each label; one that is, is used again from its beginning."""
    done: list[Store] = []
    write_back = Store.write_back
    monkeypatch.setattr(Store, "write_back", lambda store: (write_back(store), done.append(store)))
    monkeypatch.setattr("evenhand.annotations.desk.shared_commit.WRITE_BACK_S", 0.0)
    shared, log = SharedCommit(pool), fresh_store.path.with_name(f"{fresh_store.path.name}-wal")

    def large(store: Store, _: None) -> None:
        with store.write() as db:
            db.execute("CREATE TABLE IF NOT EXISTS filler (text BLOB)")
            db.execute("DELETE FROM filler")
            db.execute("INSERT INTO filler VALUES (zeroblob(400000))")

    for _ in range(8):
        before = len(done)
        together(shared, large)
        until(lambda: len(done) > before)  # noqa: B023  (called at once)
    assert log.stat().st_size < 2_000_000  # of 3.2 MB that were written


def test_the_commit_thread_survives_an_unexpected_error(
    fresh_store: Store, pool: Commits, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = SharedCommit(pool)

    def fails(_self: SharedCommit, _pieces: object, _many: bool) -> None:
        raise OSError("no clock")

    async def ask(name: str) -> Any:
        return await asyncio.wait_for(shared.run(lambda _store: None, insert(name)), timeout=60)

    with monkeypatch.context() as broken:
        broken.setattr(SharedCommit, "_gather", fails)
        with pytest.raises(OSError, match="no clock"):
            asyncio.run(ask("told"))
    assert asyncio.run(ask("served")) == "served" and names(fresh_store)[-1] == "served"
    assert "told" not in names(fresh_store)
