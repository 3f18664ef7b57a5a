"""How many labels each item should get, and which items are drawn into a sample with all labels.

Three plans: the same number for all items; one label each and a random sample labelled twice or more (`doubled`); or no
more labels after a first reject (`stop`), except for a random share that everybody labels. A sample is a pure function
of the project's seed and the items' identities: the same in any database and independent of labels. While a change of
these settings is being recounted, the project has a mark: two events, begun and done.
"""

import hashlib
import heapq
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evenhand.annotations.database.events import RECOUNT_BEGUN, RECOUNT_DONE, current_project
from evenhand.annotations.database.store import Store, in_list, update_rows
from evenhand.annotations.items.gold import (
    OF_ITS_PILOT,
    RULE_COLUMNS,
    STATES,
    LabelRules,
    recounted_state,
    stored_state,
)
from evenhand.annotations.types import Plan, Project
from evenhand.core.errors import N_, Refused

MOST_HOURS = 24 * 365  # before a retest


AMONG = f"id {in_list(':items')}"
_THERE = "FROM item WHERE item.project = ? AND (item.batch IN (SELECT id FROM published_batch) OR item.batch = ?)"
# `wanted_at_first` as SQL, for projects without a doubly labelled sample.
_PER_ITEM, _PLAN = (f"(SELECT {setting} FROM project WHERE id = :project)" for setting in ("per_item", "plan"))
AT_FIRST = f"""
iif({_PLAN} = 'all' OR shared OR pilot IS NOT NULL OR known IS NOT NULL,
    max({_PER_ITEM}, coalesce({OF_ITS_PILOT}, 0)), 1)
"""


def draw_position(seed: int, identity: bytes) -> int:
    """Return the position of an item in the draw of the doubly labelled sample, which takes the lowest.

    It does not depend on the order of work, so that the sample is spread over the queue.
    """
    return _hash_point(f"{seed}|doubled", identity)


def doubled_sample(seed: int, identities: Iterable[bytes], number: int) -> set[bytes]:
    """Draw the *number* identities that get several labels: every subset of that size is equally likely."""
    return set(heapq.nsmallest(number, identities, key=lambda one: (draw_position(seed, one), one)))


def is_shared(seed: int, identity: bytes, share: float) -> bool:
    """Return whether an item is in the random share that all annotators label under the plan `stop`.

    *share*, 0 to 1, is the probability, independent for each item; a larger share holds a smaller one.
    """
    return _hash_point(f"{seed}|shared", identity) < share * 2**64


def _hash_point(key: str, identity: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(identity, digest_size=8, key=key.encode()).digest(), "big")


def wanted_in_sample(per_item: int, doubled: int | None, identity: bytes, sample: Collection[bytes]) -> int:
    """Return the number of labels for an item: *per_item*, or 1 if a sample is *doubled* and does not hold the item."""
    return per_item if doubled is None or identity in sample else 1


def wanted_at_first(per_item: int, plan: Plan, always: bool) -> int:
    """Return the number of labels wanted by an unlabelled item; *always*: all annotators label it under any plan."""
    return 1 if plan == "stop" and not always else per_item


def check_plan(fields: Mapping[str, Any]) -> None:
    """Raise Refused for an invalid value of the plan."""
    if fields.get("plan", "all") not in ("all", "stop"):
        raise Refused(N_("The labelling plan must be all or stop, not {value}."), value=fields["plan"])
    for field in ("share", "retest"):
        value = fields.get(field, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise Refused(N_("{field} must be a share from 0 to 1, not {value}."), field=field, value=value)
    hours = fields.get("retest_hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int) or not 0 <= hours <= MOST_HOURS:
        raise Refused(
            N_("The retest interval must be a whole number of hours from 0 to {most}, not {value}."),
            most=MOST_HOURS,
            value=hours,
        )


def check_stop(project: Project) -> None:
    """Raise Refused if a project cannot stop at a first reject: one reject decides only under unanimity."""
    if project.plan != "stop":
        return
    if project.kind != "sentences":
        raise Refused(N_("Only a project of sentences can stop at the first reject: generations have no reject."))
    if project.gold != "unanimous":
        message = N_(
            "Stop at the first reject requires the rule that all must accept, because a majority may overrule a reject."
        )
        raise Refused(message)
    if project.doubled is not None:
        message = N_("A sample with several labels and stop at the first reject are mutually exclusive. Choose one.")
        raise Refused(message)


def draw_share(store: Store, project: Project, items: Sequence[int]) -> None:
    """Draw the random share again among *items* (row ids); in the caller's transaction.

    Only items that enter or leave it are written. The caller recounts those with labels.
    """
    now = current_project(store, project)
    rows = store.db.execute(f"SELECT id, hash, shared FROM item WHERE {AMONG}", {"items": json.dumps(items)})
    draw, below = hashlib.blake2b(digest_size=8, key=f"{now.seed}|shared".encode()), now.share * 2**64
    turned: dict[bool, list[int]] = {True: [], False: []}
    for item, identity, before in rows:
        one = draw.copy()  # `is_shared` with a reused key
        one.update(identity)
        shared = int.from_bytes(one.digest(), "big") < below
        if shared != bool(before):
            turned[shared].append(item)
    for shared, ids in turned.items():
        store.db.execute(
            f"UPDATE item SET shared = :shared WHERE {AMONG}", {"shared": int(shared), "items": json.dumps(ids)}
        )


def set_wanted(
    store: Store, project: Project, items: Sequence[int], sample: Collection[bytes] | None = None
) -> list[int]:
    """Give *items* (row ids) their wanted number; in the caller's transaction.

    *sample*: the identities that get several labels, from `sample_of`; None: the project has no such sample. Returns
    the labelled items whose number may change: the caller recounts them, which without a sample also stores the number.
    """
    if sample is not None:
        return _redraw(store, project, items, sample)
    where = {"project": project.id, "items": json.dumps(items)}
    unlabelled = f"{AMONG} AND labels = 0 AND wanted <> {AT_FIRST}"
    store.db.execute(f"UPDATE item SET wanted = {AT_FIRST} WHERE {unlabelled}", where)
    return labelled_among(store, items)


def labelled_among(store: Store, items: Sequence[int], condition: str = "true") -> list[int]:
    """Return those of *items* (row ids) that have a label and fulfil an SQL condition on `item`."""
    query = f"SELECT id FROM item WHERE {AMONG} AND labels > 0 AND {condition}"
    return store.column(query, {"items": json.dumps(items)})


def sample_of(store: Store, project: Project, batch: int | None = None) -> set[bytes] | None:
    """Draw the doubly labelled sample from the published items and those of the unpublished *batch*.

    Returns None if the project has no such sample. The draw compares all items, so all are read.
    """
    now = current_project(store, project)
    if now.doubled is None:
        return None
    rows = store.db.execute(f"SELECT item.hash {_THERE}", (project.id, batch))
    return doubled_sample(now.seed, (bytes(row[0]) for row in rows), now.doubled)


def redraw_sample(store: Store, project: Project, batch: int) -> list[int]:
    """Redraw the doubly labelled sample, if the project has one, for a *batch* that is being published (`set_wanted`).

    An item that leaves the sample, because a later file has lower positions, keeps its labels. Without such a sample it
    does nothing: the items have the numbers of the plan.
    """
    sample = sample_of(store, project, batch)
    if sample is None:
        return []
    return _redraw(store, project, store.column(f"SELECT item.id {_THERE}", (project.id, batch)), sample)


def _redraw(store: Store, project: Project, items: Sequence[int], sample: Collection[bytes]) -> list[int]:
    rows = store.db.execute(
        f"SELECT item.id, item.hash, item.labels, project.doubled, {RULE_COLUMNS} FROM item"
        f" JOIN project ON project.id = item.project WHERE item.{AMONG}",
        {"items": json.dumps(items)},
    ).fetchall()
    changed = []
    for item, identity, labels, doubled, *rest in rows:
        terms = LabelRules(*rest)
        wanted = max(wanted_in_sample(terms.per_item, doubled, bytes(identity), sample), terms.pilot or 0)
        if wanted != terms.before:
            update_rows(store.db, "item", {"wanted": wanted}, id=item)
            changed += [item] if labels else []
    return changed


def shared_by_labels(store: Store, project: Project) -> dict[int, int]:
    """Return how many published items of the random share have how many labels."""
    query = (
        "SELECT item.labels, count(*) FROM item JOIN published_batch AS batch ON batch.id = item.batch"
        " WHERE batch.project = ? AND item.shared = 1 GROUP BY item.labels"
    )
    return dict(store.db.execute(query, (project.id,)).fetchall())


def labels_planned(project: Project, items: int) -> int:
    """Return the number of labels that a project with so many items wants, under `stop` the maximum."""
    if project.doubled is None:
        return items * project.per_item
    return items + min(project.doubled, items) * (project.per_item - 1)


class PlanEffects(NamedTuple):
    """The effect of another plan on labelled items: how many are unchanged, decided by it, or open again."""

    same: int
    decided: int
    reopened: int


def plan_effects(store: Store, project: Project, *, plan: Plan, per_item: int, share: float) -> PlanEffects:
    """Return the effect of a change of the plan on the labelled items of *project*; it changes nothing."""
    query = STATES.format(items="published_item", more="item.hash, ")
    decided = reopened = same = 0
    for identity, *row in store.db.execute(f"{query} WHERE item.project = ? AND item.labels > 0", (project.id,)):
        before = stored_state(row)
        shared = is_shared(project.seed, bytes(identity), share)
        terms = before.terms._replace(plan=plan, per_item=per_item, shared=shared)
        after = recounted_state(before._replace(terms=terms))
        if (before.status == "pending") == (after.status == "pending"):
            same += 1
        else:
            decided, reopened = decided + (after.status != "pending"), reopened + (after.status == "pending")
    return PlanEffects(same, decided, reopened)


COUNT_SETTINGS = frozenset({"per_item", "doubled", "plan", "share"})  # they decide how many labels an item wants
RECOUNTING = N_("A setting has just changed and the items are being recounted. Try again in a moment.")


class RecountMark(NamedTuple):
    """A running recount: its event, and the settings that changed."""

    event: int
    changed: frozenset[str]


def open_recount(store: Store, project: Project) -> RecountMark | None:
    """Return the mark of a running recount; None if all items are up to date."""
    # "+id" makes SQLite use the index on actions, not read every event of the project.
    query = "SELECT id, action, data FROM event WHERE project = ? AND action IN (?, ?) ORDER BY +id DESC LIMIT 1"
    row = store.db.execute(query, (project.id, RECOUNT_BEGUN, RECOUNT_DONE)).fetchone()
    return (
        RecountMark(row[0], frozenset(json.loads(row[2])["changed"]))
        if row is not None and row[1] == RECOUNT_BEGUN
        else None
    )
