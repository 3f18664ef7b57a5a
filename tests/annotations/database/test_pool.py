"""The pool of open stores: one at a time each, none of a file that is gone, none after an error."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.annotations.database.pool import MOST_KEPT, Pool
from evenhand.annotations.database.store import Store
from evenhand.core.errors import Busy


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


def test_a_store_is_kept_for_the_next_request(pool: Pool) -> None:
    with pool.borrow() as first:
        pass
    with pool.borrow() as second, pool.borrow() as third:
        assert second is first and third is not first


def test_a_replaced_file_is_reopened(pool: Pool, fresh_store: Store, tmp_path: Path) -> None:
    with pool.borrow() as before:
        assert before.uid == fresh_store.uid
    with Store.open(tmp_path / "other.db") as other:
        uid = other.uid
    (tmp_path / "other.db").replace(fresh_store.path)
    for ending in ("-wal", "-shm"):
        fresh_store.path.with_name(fresh_store.path.name + ending).unlink(missing_ok=True)
    with (
        pytest.raises(Busy, match="was replaced by another file"),
        pool.borrow(),
    ):  # the old one is open in this process still
        pass
    fresh_store.close()
    with pool.borrow() as after:
        assert after is not before and after.uid == uid


def test_after_an_error_a_store_is_not_kept(pool: Pool) -> None:
    with pytest.raises(KeyError), pool.borrow() as broken:
        raise KeyError
    with pool.borrow() as next_one:
        assert next_one is not broken


def test_threads_never_share_a_store_and_lose_nothing(pool: Pool, fresh_store: Store) -> None:
    lent: set[int] = set()
    twice: list[int] = []
    start = threading.Barrier(MOST_KEPT + 2)

    def work(number: int) -> None:
        start.wait()
        for turn in range(10):
            with pool.borrow() as store:
                if id(store) in lent:
                    twice.append(number)
                lent.add(id(store))
                with store.write() as db:
                    row = (f"{number}-{turn}", f"{number}-{turn}")
                    db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, 'now')", row)
                lent.discard(id(store))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(MOST_KEPT + 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert twice == []
    assert fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone() == (10 * len(threads),)


@pytest.mark.parametrize(("in_memory", "setting"), [(False, 0), (True, 2)], ids=["files", "memory"])
def test_temporary_pages_are_in_memory_or_in_files(fresh_store: Store, in_memory: bool, setting: int) -> None:
    pool = Pool(in_memory=in_memory)
    with pool.borrow() as lent:
        assert lent.db.execute("PRAGMA temp_store").fetchone()[0] == setting
    pool.close()
