"""The work of each annotator: labels by day, pace, items on the desk, and how often the others differ.

Labels per day are counted once, then only new labels are added. Labels are appended, never changed or deleted, and
their ids grow in the order of commits. So a count up to a label stays valid while that label exists. If it is missing,
because an older database was restored, everything is counted again.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.labels.own import own_conflicts, own_progress
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.queue.assignments import OF_MEMBERS
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, modified_wilson
from evenhand.core.statistics.posterior import share_of_counted

MOST_KEPT = 32  # cached counts, one per project and time zone
AT_ONCE = 1 << 17  # labels per query: each makes a line of text
OF_ALL = 4  # if the project has a fourth of all labels or more, a scan in row order is faster

_RANGE = "label.project = :project AND label.id > :last AND label.id <= :newest"
_OWN = (
    "member JOIN {labels} AS label ON label.annotator = member.annotator"
    f" AND {_RANGE} WHERE member.project = :project"
)
# Superseded ones too: the index that holds all that is asked here does not say which they are.
_HOW_MANY = _OWN.format(labels="label")
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
    """Count labels per day and annotator, in order; days begin at midnight, *offset_minutes* east of Greenwich."""
    known = _counted_days(store, project, offset_minutes)
    names = {person.id: person.name for person in annotators(store, project, active=False)}
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
    counted_days = _CountedDays(row[0], row[1], before.labels + _counted(store, day, before.last, row[0], values))
    with _turn:
        _kept.pop(key, None)
        _kept[key] = counted_days
        while len(_kept) > MOST_KEPT:
            _kept.pop(next(iter(_kept)))
    return counted_days


def _counted(store: Store, day: str, last: int, newest: int, values: dict[str, Any]) -> Counter[tuple[str, int]]:
    """Return the number of labels after *last*, up to *newest*, by (day, annotator)."""
    own = store.count(_HOW_MANY, {**values, "last": last, "newest": newest})
    which = _ALL if own * OF_ALL >= newest - last else _OWN.format(labels="valid_label")
    query = _COUNTED.format(day=day, labels=which)
    counts: Counter[str] = Counter()
    for first in range(last, newest, AT_ONCE):
        part = {**values, "last": first, "newest": min(first + AT_ONCE, newest)}
        counts.update((store.value(query, part) or "").split(","))
    pairs = ((one.split("/"), number) for one, number in counts.items() if one)
    return Counter({(made, int(who)): number for (made, who), number in pairs})


def _is_current(store: Store, known: _CountedDays) -> bool:
    return bool(store.value("SELECT op_id FROM label WHERE id = ?", (known.last,)) == known.operation)


LATELY = 500  # labels for the median time
IDLE_S = 3600.0  # an open desk without labels for so long blocks its items

NO_LABEL = Note(N_("This annotator has no valid labels."))
NO_SHARED = Note(N_("None of this annotator's items has a label by another annotator yet."))
NO_ACCEPTING = Note(N_("Texts that models wrote are not accepted or rejected."))

# Blind labels of items with more than one: "1:accept 2:reject", and the number of items. The choice is read from an
# index, because the rows of labels are in the order of time. Under `stop` only the random share: elsewhere there is a
# second label only after an accept, so a rate would be biased.
SAID = """
SELECT said, count(*), {item} FROM (
    SELECT assignment.item AS item, group_concat(assignment.annotator || ':' || label.choice, ' ') AS said
    FROM assignment {joined} CROSS JOIN label INDEXED BY label_item
        ON label.item = assignment.item AND label.annotator = assignment.annotator AND label.id = assignment.blind
    WHERE assignment.project = :project GROUP BY assignment.item HAVING count(*) > 1
) GROUP BY {item}, said
"""
OWN = "SELECT item, choice = 'accept' FROM standing_label WHERE annotator = ? AND project = ?"
PUBLISHED = """
CROSS JOIN item ON item.id = assignment.item CROSS JOIN published_batch AS batch ON batch.id = item.batch
"""
STATES = f"""
SELECT annotator, sum(state = 'leased'), sum(state = 'skipped') FROM assignment
WHERE project = :project AND {OF_MEMBERS} AND state IN ('leased', 'skipped') GROUP BY annotator
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """The shares of jointly labelled items on which an annotator differs from others (blind labels).

    `any`: from at least one of the others. `most`: from more than half of them. Shares of 0 to 1; intervals over source
    articles where one holds several labelled items, else Wilson's, modified.
    """

    any: Estimate
    most: Estimate


@dataclass(frozen=True, slots=True)
class Worker:
    """One annotator; `active` False: has left.

    `labels`: valid ones. `accepted`: share of them, 0 to 1. `today`, `week`: labels made today and in the last seven
    days; changed labels count again. `pace`: labels per hour over the last 60, without breaks of over 5 minutes;
    `seconds`: median time on an item, of the last 500 labels. `last`: time of the last label (UTC); `heard`: last
    contact of the desk (unix seconds). `leased`: items on the desk; `sent_back`: those for relabelling. `stalled`:
    since when (unix seconds) these wait without anybody at work, or None. `skipped`: items that wait as skipped.
    `conflicts`: labels of a second desk that need a decision. `participant`: came by the link of a study.
    """

    annotator: Annotator
    active: bool
    labels: int
    accepted: Estimate
    today: int
    week: int
    pace: float | None
    seconds: float | None
    last: str | None
    heard: float | None
    leased: int
    sent_back: int
    stalled: float | None
    skipped: int
    conflicts: int
    differs: Difference
    participant: bool = False


def workers(
    store: Store,
    project: Project,
    *,
    days: tuple[Day, ...] = (),
    today: str = "",
    since: str = "",
    now: float | None = None,
) -> tuple[Worker, ...]:
    """Return all present and former annotators, in the order of joining.

    `days`: of `labels_by_day`; `today`, `since` (ISO dates): today and the first day of the last week.
    """
    moment = time.time() if now is None else now
    active = {annotator.id for annotator in annotators(store, project)}
    states = {row[0]: row[1:] for row in store.db.execute(STATES, {"project": project.id})}
    sources = articles(store, project)
    apart = disagreement(store, project, sources)
    made = {who: _recent(days, who, today, since) for who in {day.annotator for day in days}}
    result, by_link = [], participants(store, project)
    for annotator in annotators(store, project, active=False):
        known = states.get(annotator.id, (0, 0)), apart, made.get(annotator.name, (0, 0))
        made_of = _worker(store, project, annotator, annotator.id in active, *known, moment, sources)
        result.append(replace(made_of, participant=annotator.id in by_link))
    return tuple(result)


def _recent(days: tuple[Day, ...], who: str, today: str, since: str) -> tuple[int, int]:
    own = [day for day in days if day.annotator == who]
    now = sum(day.labels for day in own if day.day == today)
    return now, sum(day.labels for day in own if since <= day.day <= today)


def _worker(
    store: Store,
    project: Project,
    annotator: Annotator,
    active: bool,
    states: tuple[int, int],
    apart: dict[int, Difference],
    made: tuple[int, int],
    now: float,
    sources: Mapping[int, str],
) -> Worker:
    here = (annotator.id, project.id)
    query = "SELECT sum(labelled), sum(accepted) FROM tally JOIN cell ON cell.id = tally.cell"
    labels, accepted = store.db.execute(f"{query} WHERE annotator = ? AND project = ?", here).fetchone()
    if project.kind == "generations":
        rate = Estimate.undefined(NO_ACCEPTING)
    elif sources:
        own = Counter((sources.get(item, ""), bool(accept)) for item, accept in store.db.execute(OWN, here))
        rate = share_of_counted(own, nothing=NO_LABEL)
    else:
        rate = modified_wilson(accepted or 0, labels or 0, nothing=NO_LABEL)
    seen = store.value("SELECT seen FROM member WHERE annotator = ? AND project = ?", here)
    kept = store.count("assignment WHERE kept = 1 AND annotator = ? AND project = ? AND state = 'leased'", here)
    last = store.value("SELECT created FROM label WHERE annotator = ? AND project = ? ORDER BY id DESC LIMIT 1", here)
    nothing = Difference(Estimate.undefined(NO_SHARED), Estimate.undefined(NO_SHARED))
    return Worker(
        annotator, active, labels or 0, rate, *made,
        pace=own_progress(store, project, annotator).pace, seconds=_seconds(store, here), last=last,
        heard=seen - LEASE_S if seen else None, leased=states[0] or 0, sent_back=kept,
        stalled=_stalled(seen, last, (states[0] or 0) - kept, now), skipped=states[1] or 0,
        conflicts=len(own_conflicts(store, project, annotator)), differs=apart.get(annotator.id, nothing),
    )  # fmt: skip


def _seconds(store: Store, here: tuple[int, int]) -> float | None:
    query = (
        "SELECT seconds FROM label WHERE annotator = ? AND project = ? AND seconds IS NOT NULL"
        f" ORDER BY id DESC LIMIT {LATELY}"
    )
    column = store.column(query, here)
    return median(column) if column else None


def _stalled(seen: float, last: str | None, leased: int, now: float) -> float | None:
    """Return since when *leased* items wait: the desk is closed, or open without a label for an hour; else None."""
    if not leased:
        return None
    heard = seen - LEASE_S
    if seen < now:
        return heard if seen else _unix_seconds(last)
    moment = _unix_seconds(last)
    return moment if moment is not None and now - moment > IDLE_S else None


def _unix_seconds(created: str | None) -> float | None:
    return None if created is None else datetime.fromisoformat(created).timestamp()


def disagreement(store: Store, project: Project, sources: Mapping[int, str] | None = None) -> dict[int, Difference]:
    """Return by annotator (row id) how often this one differs from the others, for those who share items.

    *sources*: of `articles`; {} or None: intervals over items.
    """
    joined = PUBLISHED if store.has("batch WHERE project = ? AND withdrawn = 1", (project.id,)) else ""
    if project.plan == "stop":
        joined = f"{PUBLISHED} AND item.shared = 1"
    some: defaultdict[int, Counter[tuple[str, bool]]] = defaultdict(Counter)
    most: defaultdict[int, Counter[tuple[str, bool]]] = defaultdict(Counter)
    query = SAID.format(joined=joined, item="item" if sources else "NULL")
    for said, items, item in store.db.execute(query, {"project": project.id}):
        labels = [entry.split(":") for entry in said.split(" ")]
        chosen = Counter(choice for _who, choice in labels)
        others = len(labels) - 1
        article = sources.get(item, "") if sources else ""
        for who, choice in labels:
            apart = len(labels) - chosen[choice]
            some[int(who)][article, apart > 0] += items
            most[int(who)][article, 2 * apart > others] += items
    return {
        who: Difference(*(share_of_counted(found[who], nothing=NO_SHARED) for found in (some, most))) for who in some
    }
