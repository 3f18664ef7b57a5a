"""The recount of all items after a change of settings, in short transactions, while people go on labelling.

A small project is recounted in the transaction that changes it. In a larger one that transaction sets a mark (two
events, begun and done), and the items are recounted a few hundred at a time. While the mark is set, some items follow
the old settings: releases and exports call `finish_recount` first, and pages show a notice. Two processes may recount
at once, or again after a crash: up-to-date items are not written again.
"""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from evenhand.annotations.database.events import GOLD_CORRECTED, RECOUNT_BEGUN, RECOUNT_DONE, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import complete_batches, items_after
from evenhand.annotations.items.check_derived import correct_counts, correct_items, stale_counts, stale_items
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.items.wanted_labels import (
    COUNT_SETTINGS,
    RecountMark,
    draw_share,
    labelled_among,
    open_recount,
    sample_of,
    set_wanted,
)
from evenhand.annotations.queue.assignments import restart_cursors, update_skipped
from evenhand.annotations.queue.retests import items_to_retest, reschedule_retests, void_waiting
from evenhand.annotations.types import Project

RETEST_SETTINGS = frozenset({"retest", "retest_hours"})  # they decide which items are retested
RECOUNT_SETTINGS = COUNT_SETTINGS | RETEST_SETTINGS | {"gold", "rescue"}  # a change of these needs a recount
CHUNK = 250  # items per transaction
AT_ONCE = 500  # a project with at most so many items is recounted in the transaction that changes it
PAUSE_S, MOST_PAUSE_S = 0.01, 0.05  # between transactions, at least and at most, so that labels get their turn

_TOUCHED = {"gold": "split = 1", "rescue": "settlement IS NOT NULL"}


def begin_recount(store: Store, project: Project, changed: Collection[str], *, author: str = "") -> None:
    """Recount the items after settings were *changed*, or set the mark for it, in the caller's transaction.

    Call `finish_recount` afterwards.
    """
    if not RECOUNT_SETTINGS & frozenset(changed):
        return  # the running recount goes on
    before = open_recount(store, project)
    every = RECOUNT_SETTINGS & (frozenset(changed) | (before.changed if before else frozenset()))
    if every & RETEST_SETTINGS:
        void_waiting(store, project)
    items = [item for batch in complete_batches(store, project) for item in items_after(store, batch, 0, AT_ONCE + 1)]
    if len(items) > AT_ONCE:
        record(store, project, RECOUNT_BEGUN, author=author, changed=sorted(every))
        return
    recount_project(store, project, every, items)
    if before:
        record(store, project, RECOUNT_DONE, author=author, changed=sorted(every))


def finish_recount(store: Store, project: Project) -> bool:
    """Finish a marked recount; returns whether there was one.

    Labels wait for one short transaction at most. Returns when all items are recounted, by any process.
    """
    worked = False
    while (mark := open_recount(store, project)) is not None:
        worked = True
        if _recount_in_steps(store, project, mark):
            with store.write():
                if open_recount(store, project) == mark:
                    _after_recount(store, project, mark.changed)
                    record(store, project, RECOUNT_DONE, changed=sorted(mark.changed))
    return worked


def correct_derived(store: Store, project: Project, *, author: str = "") -> int:
    """Decide gold, status and counts again where they do not follow from labels and decisions; return how many items.

    For a database that was changed outside the app. In short transactions, each with an event that names its items.
    """
    finish_recount(store, project)
    if stale_counts(store, project):
        with store.write():
            correct_counts(store, project)
    items = list(stale_items(store, project))
    for start in range(0, len(items), CHUNK):
        some = items[start : start + CHUNK]
        with _short_transaction(store):
            correct_items(store, project, some)
            named = [{"item": state.item, "status": state.stored.status, "gold": state.stored.gold} for state in some]
            record(store, project, GOLD_CORRECTED, author=author, items=len(some), before=named)
    if items:
        with store.write():
            _after_recount(store, project, {"gold"})
    return len(items)


def recount_project(
    store: Store, project: Project, changed: Collection[str] = RECOUNT_SETTINGS, items: Sequence[int] | None = None
) -> None:
    """Recount *items* (row ids; None: all published ones) after *changed* settings, inside the caller's transaction."""
    if items is None:
        items = [item for batch in complete_batches(store, project) for item in items_after(store, batch)]
    _recount_changed(
        store, project, changed, items, sample_of(store, project) if COUNT_SETTINGS & set(changed) else None
    )
    if RETEST_SETTINGS & set(changed):
        for annotator, labels in items_to_retest(store, project):
            reschedule_retests(store, project, annotator, labels)
    _after_recount(store, project, changed)


def _recount_in_steps(store: Store, project: Project, mark: RecountMark) -> bool:
    """Recount every item in short transactions; False if the settings were changed again meanwhile."""
    sample = sample_of(store, project) if COUNT_SETTINGS & mark.changed else None
    if mark.changed - RETEST_SETTINGS:
        for batch in complete_batches(store, project):
            for items in _chunks(store, batch):
                with _short_transaction(store):
                    if open_recount(store, project) != mark:
                        return False
                    _recount_changed(store, project, mark.changed, items, sample)
    if mark.changed & RETEST_SETTINGS:
        for annotator, labels in items_to_retest(store, project):
            for start in range(0, len(labels), CHUNK):
                with _short_transaction(store):
                    if open_recount(store, project) != mark:
                        return False
                    reschedule_retests(store, project, annotator, labels[start : start + CHUNK])
    return True


def _recount_changed(
    store: Store, project: Project, changed: Collection[str], items: Sequence[int], sample: Collection[bytes] | None
) -> None:
    """Recount only items with another wanted number or other rules."""
    found: set[int] = set()
    if "share" in changed:
        draw_share(store, project, items)
    if COUNT_SETTINGS & set(changed):
        found.update(set_wanted(store, project, items, sample))
    for setting, where in _TOUCHED.items():
        if setting in changed:
            found.update(labelled_among(store, items, where))
    if found:
        recount_items(store, sorted(found))


def _after_recount(store: Store, project: Project, changed: Collection[str]) -> None:
    if COUNT_SETTINGS & set(changed):
        # Full items may be open again, so every annotator's walk starts again.
        restart_cursors(store.db, project.id)
    if set(changed) - RETEST_SETTINGS:
        update_skipped(store, project)


def _chunks(store: Store, batch: int) -> Iterator[list[int]]:
    last = 0
    while items := items_after(store, batch, last, CHUNK):
        yield items
        last = items[-1]


@contextmanager
def _short_transaction(store: Store) -> Iterator[None]:
    """Run a short transaction, then pause for about the same length, so that labels can be stored."""
    with store.write():
        begun = time.monotonic()  # after the lock was taken
        yield
        spent = time.monotonic() - begun
    time.sleep(min(max(PAUSE_S, spent), MOST_PAUSE_S))
