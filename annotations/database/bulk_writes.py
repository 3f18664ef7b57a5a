"""How long work of many rows keeps others from writing, and what it leaves to the disk between two commits.

The time is short while people label and longer while no one does. A commit writes each changed page once, so larger
commits write less in all.
"""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple

from evenhand.annotations.database.hash_chain import last_entry
from evenhand.annotations.database.store import Store
from evenhand.core.errors import Busy


class Pace(NamedTuple):
    """How long work writes, in seconds: for how long a commit keeps others from writing, and its wait for the next."""

    hold: float
    pause: float


# While people label, while desks are open, and while none is. A row of an import changes a page of each of three
# indexes in random order.
BESIDE, NEAR, ALONE = Pace(0.004, 0.046), Pace(0.1, 0.003), Pace(1.0, 0.003)
ALONE_S = 10.0  # without a label
OF_LABELS = ("label", "assignment", "skip", "retest_label", "retest")  # kinds of entries
PART = 128  # rows written between two looks at the clock
WRITE_BACK_ROWS = 2_000  # after so many rows the log is written back: fewer pages than a commit would do it at


def pace_of(store: Store) -> Pace:
    """Return the pace for the present load of the database."""
    last = last_entry(store.db)
    if last is not None and last.kind in OF_LABELS and abs(time.time() - last.at / 1000) < ALONE_S:
        return BESIDE
    return NEAR if store.has("member WHERE seen > ?", (time.time(),)) else ALONE


def until_over(pace: Pace, work: Callable[[int], int]) -> int:
    """Call *work* inside the caller's transaction until its time is over or nothing is left; returns the rows done.

    *work* is told how many rows to do at most, and returns how many it did; 0: nothing is left.
    """
    until, done, part = time.monotonic() + pace.hold, 0, 1
    while found := work(part):
        done, part = done + found, min(PART, 2 * part)
        if time.monotonic() > until:
            break
    return done


class Disk:
    """Has the disk take what was committed, in a thread: the next rows are made ready meanwhile."""

    def __init__(self, store: Store, thread: ThreadPoolExecutor) -> None:
        self._store, self._thread, self._rows = store, thread, 0
        self._running: Future[float] | None = None

    def write(self, rows: int) -> None:
        """Begin to write the commits, with *rows* rows; call `ready` afterwards."""
        self._rows += rows
        back = self._rows >= WRITE_BACK_ROWS
        self._rows = 0 if back else self._rows
        self._running = self._thread.submit(self._write, back)

    def _write(self, back: bool) -> float:
        if not back:
            self._store.sync_log()
        else:
            with suppress(Busy), Store.open(self._store.path) as beside:  # the next commit says what is wrong
                beside.write_back()
        return time.monotonic()

    def ready(self) -> float:
        """Wait until it is written; since when it is (monotonic seconds)."""
        return 0.0 if self._running is None else self._running.result()


def in_commits(store: Store, work: Callable[[int], int], report: Callable[[int], object] | None = None) -> int:
    """Do *work* (see `until_over`) in as many commits as needed, each as long as `pace_of` allows; return the rows.

    *report* is called after each commit with the rows done so far. Commits wait for no disk (`Store.unsynced`), but the
    disk has them on return.
    """
    done, found = 0, 1
    with ThreadPoolExecutor(1) as thread, store.bulk():
        disk = Disk(store, thread)
        while found:
            pace = pace_of(store)
            time.sleep(max(0.0, disk.ready() + pace.pause - time.monotonic()))
            with store.write():
                found = until_over(pace, work)
            done += found
            disk.write(found)
            if found and report is not None:
                report(done)
        disk.ready()
    return done
