"""From labels to gold: which choice counts for an item, and whether it is kept (SPEC 1.4, 4.9)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from annotations.plan import TERMS, Terms, set_wanted, wanted_now
from annotations.store import Store
from annotations.types import GoldRule, Project, Status

LABELS = (
    "SELECT label.choice, label.extraneous FROM assignment JOIN label ON label.id = assignment.blind"
    " WHERE assignment.item = ?"
)
BEFORE = (
    f"SELECT status, item.cell, settlement.choice, project.rescue, project.gold, {TERMS}"
    " FROM item JOIN project ON project.id = item.project"
    " LEFT JOIN settlement ON settlement.id = item.settlement WHERE item.id = ?"
)


class Outcome(NamedTuple):
    """What labels come to: the choice that counts (None: none yet), the status, and whether annotators differ."""

    gold: str | None
    status: Status
    split: bool


def verdict(choices: Sequence[str], wanted: int, rule: GoldRule) -> Outcome:
    """What the blind labels of one item, one per annotator, come to.

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
    # Generations are not kept or dropped: with a gold label they are done.
    return "rejected" if gold == "reject" else "accepted"


def settle(store: Store, item: int) -> int:
    """Bring wanted, labels, gold and status of one item up to date; returns the number of blind labels.

    To be called in the transaction that changes what they depend on: labels, an adjudication, a pilot, a known answer.
    A decision of the adjudicator counts before the labels do; where the project
    does not let adjudication rescue sentences, it cannot accept what they reject.
    """
    rows = store.db.execute(LABELS, (item,)).fetchall()
    choices = [choice for choice, _ in rows]
    before, cell, decided, rescue, rule, *terms = store.db.execute(BEFORE, (item,)).fetchone()
    wanted = _want(store, item, Terms(*terms), choices)
    outcome = verdict(choices, wanted, rule)
    flags = {extraneous for _, extraneous in rows if extraneous is not None}
    split = outcome.split or (len(rows) >= wanted and len(flags) > 1)
    counts = decided and (decided != "accept" or outcome.status != "rejected" or rescue)
    gold, status = (decided, _status(decided)) if counts else (outcome.gold, outcome.status)
    store.db.execute(
        "UPDATE item SET labels = :labels, status = :status, gold = :gold, split = :split WHERE id = :item"
        " AND (labels <> :labels OR status <> :status OR gold IS NOT :gold OR split <> :split)",
        {"labels": len(rows), "status": status, "gold": gold, "split": int(split), "item": item},
    )
    if before == "accepted" != status:
        _look_again(store, cell)
    return len(rows)


def _want(store: Store, item: int, terms: Terms, choices: Sequence[str]) -> int:
    """How many labels the item wants now; one that wants more lies open behind those who walked past it."""
    wanted = wanted_now(terms, choices)
    if wanted > terms.before:
        project = "(SELECT project FROM item WHERE id = :item)"
        store.db.execute(f"UPDATE project SET returns = returns + 1 WHERE id = {project}", {"item": item})
        store.db.execute(
            f"UPDATE item SET wanted = :wanted, returned = (SELECT returns FROM project WHERE id = {project})"
            " WHERE id = :item",
            {"wanted": wanted, "item": item},
        )
    elif wanted < terms.before:
        store.db.execute("UPDATE item SET wanted = ? WHERE id = ?", (wanted, item))
    return wanted


def _look_again(store: Store, cell: int) -> None:
    # A cell that was closed by its quota may be open again: nobody may have gone past what came back meanwhile.
    store.db.execute(
        "UPDATE member SET looked = 0 WHERE project = (SELECT project FROM cell WHERE id = ? AND quota IS NOT NULL)",
        (cell,),
    )


def recompute(store: Store, project: Project) -> None:
    """Settle every item of a project under its present settings; inside the caller's transaction."""
    set_wanted(store, project)
    # Items that were full may be open again behind those who walked past them: everybody walks once more.
    store.db.execute("DELETE FROM progress WHERE batch IN (SELECT id FROM batch WHERE project = ?)", (project.id,))
    query = (
        "SELECT item.id FROM item JOIN batch ON batch.id = item.batch"
        " WHERE item.project = ? AND labels > 0 AND batch.published > 0"
    )
    for (item,) in store.db.execute(query, (project.id,)).fetchall():
        settle(store, item)
