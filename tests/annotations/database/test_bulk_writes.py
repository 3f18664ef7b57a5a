"""Commits of long work: short while desks are open, longer otherwise, and kept when the work ends early."""

import pytest

from evenhand.annotations.database import bulk_writes
from evenhand.annotations.database.bulk_writes import ALONE, BESIDE, NEAR, Pace, in_commits, pace_of, until_over
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.queue.leases import claim
from tests.support.projects import decide, filled_project


class Work:
    """Rows into a table of annotators, with a failure after some."""

    def __init__(self, store: Store, rows: int, fails_after: int = 1_000_000) -> None:
        self.store, self.left, self.fails_after, self.asked = store, rows, fails_after, list[int]()

    def __call__(self, most: int) -> int:
        self.asked.append(most)
        some = min(most, self.left)
        for _ in range(some):
            if self.left == self.fails_after:
                raise ZeroDivisionError
            self.store.db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, '')", (f"{self.left}",) * 2)
            self.left -= 1
        return some


def rows(store: Store) -> int:
    return int(store.db.execute("SELECT count(*) FROM annotator").fetchone()[0])


def test_the_pace_follows_labels_and_desks(fresh_store: Store) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 3)
    assert pace_of(fresh_store) == ALONE
    items = claim(fresh_store, project, ada)
    assert pace_of(fresh_store) == NEAR  # a desk is open, but without labels yet
    store_operations(fresh_store, project, ada, [decide(items[0], "accept")])
    assert pace_of(fresh_store) == BESIDE


@pytest.mark.parametrize(
    ("hold", "asked", "done"), [(60.0, [1, 2, 4, 8, 16, 32, 64, 128, 128, 128], 300), (-1.0, [1], 1)]
)
def test_parts_grow_until_the_time_is_used(fresh_store: Store, hold: float, asked: list[int], done: int) -> None:
    work = Work(fresh_store, 300)
    assert (until_over(Pace(hold, 0.0), work), work.asked) == (done, asked)


@pytest.mark.parametrize(("hold", "commits"), [(60.0, [5]), (-1.0, [1, 2, 3, 4, 5])])
def test_rows_are_committed_by_time(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, hold: float, commits: list[int]
) -> None:
    monkeypatch.setattr(bulk_writes, "ALONE", Pace(hold, 0.0))
    results: list[int] = []
    assert in_commits(fresh_store, Work(fresh_store, 5), results.append) == 5
    assert results == commits and rows(fresh_store) == 5
    assert fresh_store.db.execute("PRAGMA synchronous").fetchone() == (2,)  # again FULL, as labels need it


def test_a_failure_rolls_back_only_its_own_commit(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_writes, "ALONE", Pace(-1.0, 0.0))
    with pytest.raises(ZeroDivisionError):
        in_commits(fresh_store, Work(fresh_store, 5, fails_after=2))
    assert rows(fresh_store) == 3 and not fresh_store.db.in_transaction
