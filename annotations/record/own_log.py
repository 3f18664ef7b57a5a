"""What an annotator can check alone: the own chain of the log, and the heads of the days with an own entry.

Nothing in it depends on what others did but the heads, which say nothing: a hash of everything up to the end of a day.
Days that are not over have none, and days without an own entry are not named.
"""

from dataclasses import dataclass

from evenhand.annotations.database.chain import DAY_MS, Head, OwnEntry, daily_heads, own_chain, own_days
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Annotator


@dataclass(frozen=True, slots=True)
class OwnLog:
    """The own chain, oldest first, over all projects; the heads of the log, by day."""

    chain: tuple[OwnEntry, ...]
    heads: tuple[Head, ...]


def own_log(store: Store, annotator: Annotator) -> OwnLog:
    """The own log of an annotator."""
    chain = own_chain(store.db, annotator.id)
    return OwnLog(tuple(chain), _heads(store, {one.at // DAY_MS for one in chain}))


def own_heads(store: Store, annotator: Annotator) -> tuple[Head, ...]:
    """The heads alone."""
    return _heads(store, own_days(store.db, annotator.id))


def _heads(store: Store, days: set[int]) -> tuple[Head, ...]:
    return tuple(one for one in daily_heads(store.db) if one.number in days)
