"""How many labels each item should get, and who is drawn into a sample of which all get all.

Three plans: all items the same number; one label each and a random sample labelled twice or more (`doubled`); or no
more labels after a first reject (`stop`), but for a random share that everybody labels. Who is in a sample is a pure
function of the project's seed and the items' identities: the same in any database, drawn before there is a label, and
nobody's labels change it.
"""

import hashlib
import heapq
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annotations.database.store import Store
from annotations.types import Plan, Project
from core.errors import N_, Refused

MOST_HOURS = 24 * 365  # before a label comes again


class LabelRules(NamedTuple):
    """What decides how many labels one item wants beside its labels.

    `before` is what it wanted so far, `pilot` how many label each item of its pilot (None: it is in none).
    """

    per_item: int
    doubled: int | None
    plan: Plan
    before: int
    shared: bool
    pilot: int | None
    known: bool


RULE_COLUMNS = (
    "project.per_item, project.doubled, project.plan, item.wanted, item.shared,"
    " (SELECT people FROM pilot WHERE pilot.id = item.pilot), item.known IS NOT NULL"
)

AMONG = "id IN (SELECT value FROM json_each(:items))"
_THERE = "FROM item WHERE item.project = ? AND (item.batch IN (SELECT id FROM published_batch) OR item.batch = ?)"
# `wanted_now` for a statement over many items, where no sample is doubly labelled.
_PER_ITEM, _PLAN = (f"(SELECT {one} FROM project WHERE id = :project)" for one in ("per_item", "plan"))
WANTED = f"""
CASE WHEN {_PLAN} = 'all' OR shared OR pilot IS NOT NULL OR known IS NOT NULL
    THEN max({_PER_ITEM}, coalesce((SELECT people FROM pilot WHERE pilot.id = item.pilot), 0))
WHEN EXISTS (SELECT 1 FROM assignment JOIN label ON label.id = assignment.blind
    WHERE assignment.item = item.id AND label.choice <> 'accept') THEN labels
ELSE min({_PER_ITEM}, labels + 1) END
"""


def draw_position(seed: int, identity: bytes) -> int:
    """Where an item stands in the draw of the doubly labelled sample: the lowest are in it.

    Another draw than that of the order of work, so that the sample lies anywhere in the queue.
    """
    return _hash_point(f"{seed}|doubled", identity)


def doubled_sample(seed: int, identities: Iterable[bytes], number: int) -> set[bytes]:
    """The *number* identities that get several labels: every subset of that size is equally likely."""
    return set(heapq.nsmallest(number, identities, key=lambda one: (draw_position(seed, one), one)))


def is_shared(seed: int, identity: bytes, share: float) -> bool:
    """Whether all label an item under the plan `stop`, whatever the first says.

    *share*, 0 to 1, is the probability, independent for each item; a larger share holds a smaller one.
    """
    return _hash_point(f"{seed}|shared", identity) < share * 2**64


def _hash_point(key: str, identity: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(identity, digest_size=8, key=key.encode()).digest(), "big")


def wanted_in_sample(per_item: int, doubled: int | None, identity: bytes, sample: Collection[bytes]) -> int:
    """How many labels an item should get: *per_item*, or 1 where a sample is *doubled* and the item is not in it."""
    return per_item if doubled is None or identity in sample else 1


def wanted_at_first(per_item: int, plan: Plan, always: bool) -> int:
    """How many labels an item without labels wants; *always*: all label it under every plan."""
    return 1 if plan == "stop" and not always else per_item


def wanted_now(terms: LabelRules, choices: Sequence[str]) -> int:
    """How many labels an item wants, given its blind labels, one per annotator.

    Under `stop` an item outside the share wants one label more than it has while all accept, up to `per_item`; after a
    reject it wants what it has. Items of a pilot want all who took part in it.
    """
    full = max(terms.per_item, terms.pilot or 0)
    if terms.doubled is not None:
        return max(terms.before, terms.pilot or 0)  # as `set_wanted` left it, which sees the whole sample
    if terms.plan == "all" or terms.shared or terms.pilot or terms.known:
        return full
    if any(choice != "accept" for choice in choices):
        return len(choices)
    return min(full, len(choices) + 1)


def check_plan(fields: Mapping[str, Any]) -> None:
    """Raise Refused where a value of the plan cannot be."""
    if fields.get("plan", "all") not in ("all", "stop"):
        raise Refused(N_("The plan of labels is all or stop, not {value}."), value=fields["plan"])
    for field in ("share", "retest"):
        value = fields.get(field, 0.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise Refused(N_("{field} is a share from 0 to 1, not {value}."), field=field, value=value)
    hours = fields.get("retest_hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int) or not 0 <= hours <= MOST_HOURS:
        raise Refused(
            N_("A label comes again after 0 to {most} whole hours, not {value}."), most=MOST_HOURS, value=hours
        )


def check_stop(project: Project) -> None:
    """Raise Refused where a project cannot stop at a first reject: nothing but unanimity is decided by one label."""
    if project.plan != "stop":
        return
    if project.kind != "sentences":
        raise Refused(N_("Only a project of sentences can stop at the first reject: generations have no reject."))
    if project.gold != "unanimous":
        message = N_("Stop at the first reject needs the rule that all must accept: a majority may overrule a reject.")
        raise Refused(message)
    if project.doubled is not None:
        message = N_(
            "A sample with several labels and stop at the first reject exclude each other. Choose one of them."
        )
        raise Refused(message)


def draw_share(store: Store, project: Project, items: Sequence[int]) -> None:
    """Draw the share that all label anew among *items* (row ids); in the caller's transaction.

    Only items that enter or leave it are written. Those with labels are to be settled after that.
    """
    seed, share = store.db.execute("SELECT seed, share FROM project WHERE id = ?", (project.id,)).fetchone()
    rows = store.db.execute(f"SELECT id, hash, shared FROM item WHERE {AMONG}", {"items": json.dumps(items)})
    draw, below = hashlib.blake2b(digest_size=8, key=f"{seed}|shared".encode()), share * 2**64
    turned = []
    for item, identity, before in rows:
        one = draw.copy()  # `is_shared`, without making the key anew for each
        one.update(identity)
        now = int.from_bytes(one.digest(), "big") < below
        if now != bool(before):
            turned.append((int(now), item))
    store.db.executemany("UPDATE item SET shared = ? WHERE id = ?", turned)


def set_wanted(
    store: Store, project: Project, items: Sequence[int], sample: Collection[bytes] | None = None
) -> list[int]:
    """Give *items* (row ids) their wanted number; in the caller's transaction.

    *sample*: the identities that get several labels, as `sample_of` draws them; None: there is no such sample. Returns
    the items that have labels and want another number than before: they are to be settled anew, which without a sample
    also gives them that number.
    """
    if sample is not None:
        return _redraw(store, project, items, sample)
    where = {"project": project.id, "items": json.dumps(items)}
    store.db.execute(f"UPDATE item SET wanted = {WANTED} WHERE {AMONG} AND labels = 0 AND wanted <> {WANTED}", where)
    query = f"SELECT id FROM item WHERE {AMONG} AND labels > 0 AND wanted <> {WANTED}"
    return [row[0] for row in store.db.execute(query, where)]


def sample_of(store: Store, project: Project, batch: int | None = None) -> set[bytes] | None:
    """The doubly labelled sample, drawn from the published items and those of the unpublished *batch*.

    None: the project has no such sample. Nobody is in it or not without the others, so all are read.
    """
    query = "SELECT seed, doubled FROM project WHERE id = ?"  # the caller's project may be of before
    seed, doubled = store.db.execute(query, (project.id,)).fetchone()
    if doubled is None:
        return None
    rows = store.db.execute(f"SELECT item.hash {_THERE}", (project.id, batch))
    return doubled_sample(seed, (bytes(row[0]) for row in rows), doubled)


def redraw_sample(store: Store, project: Project, batch: int) -> list[int]:
    """What `set_wanted` does, where the items of a *batch* that is being published may be of a doubly labelled sample.

    An item that leaves the sample, because a later file holds lower ones, keeps the labels that it has got. Without
    such a sample nothing is done: a batch comes in with the numbers of the plan.
    """
    sample = sample_of(store, project, batch)
    if sample is None:
        return []
    items = [row[0] for row in store.db.execute(f"SELECT item.id {_THERE}", (project.id, batch))]
    return _redraw(store, project, items, sample)


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
            store.db.execute("UPDATE item SET wanted = ? WHERE id = ?", (wanted, item))
            changed += [item] if labels else []
    return changed


def labels_planned(project: Project, items: int) -> int:
    """How many labels a project with so many items wants in all, under `stop` at most."""
    if project.doubled is None:
        return items * project.per_item
    return items + min(project.doubled, items) * (project.per_item - 1)


def labels_expected(per_item: int, plan: Plan, share: float, accepted: int, labelled: int) -> float:
    """How many labels an item can be expected to get, if all accept as often as one annotator did.

    *accepted* of *labelled* own labels were accepts; two labels of either kind are added, so that the first ones do
    not decide. Between 1 and *per_item*.
    """
    if plan == "all":
        return per_item
    rate = (accepted + 2) / (labelled + 4)
    return share * per_item + (1 - share) * sum(rate**n for n in range(per_item))
