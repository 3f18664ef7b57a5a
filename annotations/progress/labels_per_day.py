"""Labels per day: counted once, then only new labels are added.

Labels are appended, never changed or deleted, and their ids grow in the order of commits. So a count up to a label
stays valid while that label exists. If it is missing, because an older database was restored, everything is counted
again.
"""

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project

MOST_KEPT = 32  # cached counts, one per project and time zone
AT_ONCE = 1 << 17  # labels per query: each makes a line of text
OF_ALL = 4  # if the project has a fourth of all labels or more, a scan in row order is faster

_RANGE = "label.project = :project AND label.id > :last AND label.id <= :newest"
_OWN = (
    "member JOIN {labels} AS label ON label.annotator = member.annotator"
    f" AND {_RANGE} WHERE member.project = :project"
)
# Superseded ones too: the index that holds all that is asked here does not say which they are.
_HOW_MANY = f"SELECT count(*) FROM {_OWN.format(labels='label')}"
_ALL = f"valid_label AS label WHERE {_RANGE}"
# As one line of text: grouping the rows, or returning each, takes twice as long.
_COUNTED = "SELECT group_concat({day} || '/' || label.annotator) FROM {labels} AND choice IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Day:
    """How many labels one annotator made on one day (ISO date); changed labels count again."""

    day: str
    annotator: str
    labels: int


@dataclass(frozen=True, slots=True)
class _CountedDays:
    """The counts up to the label `last`, identified by its operation."""

    last: int
    operation: str
    labels: Counter[tuple[str, int]]


_kept: dict[tuple[str, int, int], _CountedDays] = {}
_turn = threading.Lock()


def labels_by_day(store: Store, project: Project, offset_minutes: int = 0) -> tuple[Day, ...]:
    """Labels per day and annotator, days in order; a day begins at midnight, *offset_minutes* east of Greenwich."""
    known = _counted_days(store, project, offset_minutes)
    query = "SELECT annotator.id, name FROM member JOIN annotator ON annotator.id = annotator WHERE project = ?"
    names = dict(store.db.execute(query, (project.id,)).fetchall())
    return tuple(Day(day, names[who], number) for (day, who), number in sorted(known.labels.items()))


def _counted_days(store: Store, project: Project, offset_minutes: int) -> _CountedDays:
    key = (store.uid, project.id, offset_minutes)
    with _turn:
        before = _kept.get(key)
    row = store.db.execute("SELECT id, op_id FROM label ORDER BY id DESC LIMIT 1").fetchone()
    if row is None:
        return _CountedDays(0, "", Counter())
    if before is None or not _is_current(store, before):
        before = _CountedDays(0, "", Counter())
    day = "substr(label.created, 1, 10)" if not offset_minutes else "date(label.created, :offset)"
    values = {"project": project.id, "offset": f"{offset_minutes:+d} minutes"}
    found = _CountedDays(row[0], row[1], before.labels + _counted(store, day, before.last, row[0], values))
    with _turn:
        _kept.pop(key, None)
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(_kept)))
    return found


def _counted(store: Store, day: str, last: int, newest: int, values: dict[str, Any]) -> Counter[tuple[str, int]]:
    """(day, annotator) -> number of labels after *last*, up to *newest*."""
    own = store.db.execute(_HOW_MANY, {**values, "last": last, "newest": newest}).fetchone()[0]
    which = _ALL if own * OF_ALL >= newest - last else _OWN.format(labels="valid_label")
    query = _COUNTED.format(day=day, labels=which)
    found: Counter[str] = Counter()
    for first in range(last, newest, AT_ONCE):
        part = {**values, "last": first, "newest": min(first + AT_ONCE, newest)}
        found.update((store.db.execute(query, part).fetchone()[0] or "").split(","))
    pairs = ((one.split("/"), number) for one, number in found.items() if one)
    return Counter({(made, int(who)): number for (made, who), number in pairs})


def _is_current(store: Store, known: _CountedDays) -> bool:
    row = store.db.execute("SELECT op_id FROM label WHERE id = ?", (known.last,)).fetchone()
    return row is not None and row[0] == known.operation
