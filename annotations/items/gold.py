"""From labels to gold: the choice that counts for an item, and whether it is kept (SPEC 1.4, 4.9)."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.wanted_labels import RULE_COLUMNS, LabelRules, is_shared, wanted_now
from evenhand.annotations.types import GoldRule, Plan, Project, Status

LABELS = (
    "SELECT label.choice, label.extraneous FROM assignment JOIN label ON label.id = assignment.blind"
    " WHERE assignment.item = ?"
)
STATE = (
    f"item.id, item.cell, item.labels, item.status, item.gold, item.split, project.gold, project.rescue,"
    " settlement.choice, ifnull(brought.holds AND brought.settlement IS item.settlement, 0), brought.gold,"
    " EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.blind > brought.label),"
    f" {RULE_COLUMNS}"
)
# The last gold label that a package brought for an item; `STATE` needs it.
BROUGHT = (
    "LEFT JOIN imported_gold AS brought"
    " ON brought.id = (SELECT max(id) FROM imported_gold AS one WHERE one.item = item.id)"
)
_JOINED = f"JOIN project ON project.id = item.project LEFT JOIN settlement ON settlement.id = item.settlement {BROUGHT}"
_LABELLED = (
    f"SELECT group_concat(label.choice), group_concat(label.extraneous), {STATE} FROM published_item AS item {_JOINED}"
    " JOIN assignment ON assignment.item = item.id JOIN label ON label.id = assignment.blind"
    " WHERE item.project = ? {some} GROUP BY item.id"
)


class Outcome(NamedTuple):
    """The result of labels: the choice that counts (None: none yet), the status, and whether annotators differ."""

    gold: str | None
    status: Status
    split: bool


def decide_gold(choices: Sequence[str], wanted: int, rule: GoldRule) -> Outcome:
    """The outcome of the blind labels of one item, one per annotator.

    Fewer than *wanted* labels: pending. "unanimous": the choice that all made;
    sentences on which annotators differ are rejected (SPEC 1.4), generations
    wait for adjudication. "majority": more than half decide; a tie is pending.
    """
    if len(choices) < wanted or not choices:
        return Outcome(None, "pending", False)
    counted = Counter(choices)
    (first, most), split = counted.most_common(1)[0], len(counted) > 1
    if not split or (rule == "majority" and 2 * most > len(choices)):
        return Outcome(first, _status(first), split)
    if rule == "unanimous" and set(counted) <= {"accept", "reject"}:
        return Outcome("reject", "rejected", True)
    return Outcome(None, "pending", True)


def _status(gold: str) -> Status:
    # Generations are neither kept nor dropped: with a gold label they are finished.
    return "rejected" if gold == "reject" else "accepted"


def generation_status(status: Status, split: bool) -> str:
    """The status of a generation in files: generations are neither accepted nor rejected, they get a gold label."""
    if status != "pending":
        return "has_gold"
    return "awaiting_adjudication" if split else "awaiting_labels"


class StoredState(NamedTuple):
    """An item before a recount, and the rules of its project.

    `brought`: whether a gold label of a package holds while no later labels decide; `brought_gold`: that label;
    `later`: whether the item has a label that is newer.
    """

    item: int
    cell: int
    labels: int
    status: Status
    gold: str | None
    split: int
    rule: GoldRule
    rescue: int
    decided: str | None
    brought: int
    brought_gold: str | None
    later: int
    terms: LabelRules


class RecountedState(NamedTuple):
    """An item after a recount."""

    wanted: int
    labels: int
    status: Status
    gold: str | None
    split: int


def recount_item(store: Store, item: int) -> int:
    """Recount one item: update wanted, labels, gold and status; returns the number of blind labels.

    Call it in the transaction that changes labels, a settlement, a pilot or a known answer. A decision of the
    adjudicator overrides the labels, but it cannot accept rejected sentences unless the project allows that (`rescue`).
    A gold label that a package brought without its labels overrides both, until an adjudicator acts on the item, or
    the item has all its labels and one of them is newer.
    """
    rows = store.db.execute(LABELS, (item,)).fetchall()
    before = stored_state(store.db.execute(f"SELECT {STATE} FROM item {_JOINED} WHERE item.id = ?", (item,)).fetchone())
    flags = {extraneous for _, extraneous in rows if extraneous is not None}
    _write(store, before, recounted_state(before, [choice for choice, _ in rows], len(flags) > 1))
    return len(rows)


def stored_state(row: Sequence[Any]) -> StoredState:
    """Return the stored state of an item from a row of the columns STATE."""
    return StoredState._make([*row[:12], LabelRules._make(row[12:])])


def recounted_state(before: StoredState, choices: Sequence[str], flags_differ: bool) -> RecountedState:
    """Return the state that follows from the blind *choices* of an item and from the decision in force.

    *flags_differ*: whether the labels differ in the flag for extraneous gendered language.
    """
    wanted = wanted_now(before.terms, choices)
    outcome = decide_gold(choices, wanted, before.rule)
    split = outcome.split or (len(choices) >= wanted and flags_differ)
    if before.brought and not (len(choices) >= wanted and before.later):
        gold = before.brought_gold
        return RecountedState(wanted, len(choices), _status(gold) if gold else "pending", gold, int(split))
    decided = before.decided
    counts = decided and (decided != "accept" or outcome.status != "rejected" or before.rescue)
    gold, status = (decided, _status(decided)) if counts and decided else (outcome.gold, outcome.status)
    return RecountedState(wanted, len(choices), status, gold, int(split))


def _write(store: Store, before: StoredState, after: RecountedState) -> None:
    """Store the changes.

    An item that now wants more labels counts as returned: it is offered again to annotators whose walk has passed it.
    """
    if after == (before.terms.before, before.labels, before.status, before.gold, before.split):
        return
    more = int(after.wanted > before.terms.before)
    if more:
        query = "UPDATE project SET returns = returns + 1 WHERE id = (SELECT project FROM item WHERE id = ?)"
        store.db.execute(query, (before.item,))
    store.db.execute(
        "UPDATE item SET wanted = ?, labels = ?, status = ?, gold = ?, split = ?, returned ="
        " iif(?, (SELECT returns FROM project WHERE id = item.project), returned) WHERE id = ?",
        (*after, more, before.item),
    )
    if before.status == "accepted" != after.status:
        _reopen_cell(store, before.cell)


def _reopen_cell(store: Store, cell: int) -> None:
    # A cell that was closed by its quota may be open again, so annotators look at its returned items once more.
    store.db.execute(
        "UPDATE member SET looked = 0 WHERE project = (SELECT project FROM cell WHERE id = ? AND quota IS NOT NULL)",
        (cell,),
    )


def recount_items(store: Store, project: Project, items: Sequence[int]) -> None:
    """`recount_item` for many labelled items (row ids) of published files at once."""
    query = _LABELLED.format(some="AND item.id IN (SELECT value FROM json_each(?))")
    turned = []
    for choices, flags, *row in store.db.execute(query, (project.id, json.dumps(items))).fetchall():
        before = stored_state(row)
        turned.append((before, recounted_state(before, choices.split(","), flags_differ_in(flags))))
    number = store.db.execute("SELECT returns FROM project WHERE id = ?", (project.id,)).fetchone()[0]
    values = []
    for before, after in turned:
        more = int(after.wanted > before.terms.before)
        number += more
        values.append((*after, more, number, before.item))
    store.db.executemany(
        "UPDATE item SET wanted = ?, labels = ?, status = ?, gold = ?, split = ?, returned = iif(?, ?, returned)"
        " WHERE id = ?",
        values,
    )
    store.db.execute("UPDATE project SET returns = ? WHERE id = ?", (number, project.id))
    for cell in {before.cell for before, after in turned if before.status == "accepted" != after.status}:
        _reopen_cell(store, cell)


def flags_differ_in(flags: str | None) -> bool:
    """Return whether flags joined by commas differ; None: no label has the flag."""
    return len(set(flags.split(",") if flags else ())) > 1


class PlanEffects(NamedTuple):
    """The effect of another plan on labelled items: how many are unchanged, decided by it, or open again."""

    same: int
    decided: int
    reopened: int


def plan_effects(store: Store, project: Project, *, plan: Plan, per_item: int, share: float) -> PlanEffects:
    """The effect of a change of the plan on the labelled items of *project*; changes nothing."""
    query = _LABELLED.format(some="").replace("SELECT ", "SELECT item.hash, ", 1)
    decided = reopened = same = 0
    for identity, choices, flags, *row in store.db.execute(query, (project.id,)):
        before = stored_state(row)
        shared = is_shared(project.seed, bytes(identity), share)
        terms = before.terms._replace(plan=plan, per_item=per_item, shared=shared)
        after = recounted_state(before._replace(terms=terms), choices.split(","), flags_differ_in(flags))
        if (before.status == "pending") == (after.status == "pending"):
            same += 1
        else:
            decided, reopened = decided + (after.status != "pending"), reopened + (after.status == "pending")
    return PlanEffects(same, decided, reopened)
