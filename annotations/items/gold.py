"""From labels to gold: the choice that counts for an item, and whether it is kept (docs/methods.md#gold).

A package may bring gold labels without the labels they were made of; they are records from which gold is recounted.
Precedence for an item: an act of an adjudicator since the import; then its labels, once it has all of them and one is
newer than the import; then the gold label of the package; then older labels and decisions.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from evenhand.annotations.database.store import Store, in_list, insert
from evenhand.annotations.items.changes import look_again, next_return
from evenhand.annotations.types import GoldRule, Plan, Project, Status
from evenhand.core.files.timestamps import timestamp


class LabelRules(NamedTuple):
    """The settings that decide how many labels one item wants.

    `before`: the present number; `pilot`: the number of labels in its pilot (None: in no pilot).
    """

    per_item: int
    doubled: int | None
    plan: Plan
    before: int
    shared: bool
    pilot: int | None
    known: bool


OF_ITS_PILOT = "(SELECT people FROM pilot WHERE pilot.id = item.pilot)"  # how many label an item of a pilot
RULE_COLUMNS = (
    f"project.per_item, project.doubled, project.plan, item.wanted, item.shared, {OF_ITS_PILOT}, item.known IS NOT NULL"
)

# What `stored_state` reads. Codes of choices hold neither colon nor comma.
STATE = f"""
item.id, item.project, item.cell, item.labels, item.status, item.gold, item.split, project.gold, project.rescue,
settlement.choice, ifnull(brought.holds AND brought.settlement IS item.settlement, 0), brought.gold,
EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND assignment.blind > brought.label),
(SELECT group_concat(label.choice || ':' || ifnull(label.extraneous, '')) FROM assignment
    JOIN label ON label.id = assignment.blind WHERE assignment.item = item.id), {RULE_COLUMNS}
"""
# The last gold label that a package brought for an item; `STATE` needs it.
BROUGHT = (
    "LEFT JOIN imported_gold AS brought"
    " ON brought.id = (SELECT max(id) FROM imported_gold AS one WHERE one.item = item.id)"
)
STATES = (
    f"SELECT {{more}}{STATE} FROM {{items}} AS item JOIN project ON project.id = item.project"
    f" LEFT JOIN settlement ON settlement.id = item.settlement {BROUGHT}"
)
_STATE_OF_ONE = STATES.format(items="item", more="") + " WHERE item.id = ?"
_STATE_OF_SOME = STATES.format(items="item", more="") + f" WHERE item.id {in_list('?')}"


class Outcome(NamedTuple):
    """The result of labels: the choice that counts (None: none yet), the status, and whether annotators differ."""

    gold: str | None
    status: Status
    split: bool


def decide_gold(choices: Sequence[str], wanted: int, rule: GoldRule) -> Outcome:
    """Decide the outcome of the blind labels of one item, one per annotator.

    Fewer than *wanted* labels: pending. "unanimous": the common choice of all; sentences on which annotators differ are
    rejected (docs/methods.md#gold), generations wait for adjudication. "majority": more than half decide; a tie is
    pending.
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


def wanted_now(terms: LabelRules, choices: Sequence[str]) -> int:
    """Return the number of labels an item wants, given its blind labels, one per annotator.

    Under `stop` an item outside the share wants one label more than it has while all accept, up to `per_item`; after a
    reject it wants no further label. Items of a pilot want a label of each participant.
    """
    full = max(terms.per_item, terms.pilot or 0)
    if terms.doubled is not None:
        return max(terms.before, terms.pilot or 0)  # the number of `set_wanted`, which knows the whole sample
    if terms.plan == "all" or terms.shared or terms.pilot or terms.known:
        return full
    if any(choice != "accept" for choice in choices):
        return len(choices)
    return min(full, len(choices) + 1)


def _status(gold: str) -> Status:
    # Generations are neither kept nor dropped: with a gold label they are finished.
    return "rejected" if gold == "reject" else "accepted"


def generation_status(status: Status, split: bool) -> str:
    """Return the status of a generation in files, where it has a gold label instead of accepted or rejected."""
    if status != "pending":
        return "has_gold"
    return "awaiting_adjudication" if split else "awaiting_labels"


def generation_statuses(store: Store, project: Project) -> dict[str, str]:
    """Return public id -> `generation_status`; nothing for sentences."""
    if project.kind != "generations":
        return {}
    rows = store.db.execute("SELECT uid, status, split FROM published_item WHERE project = ?", (project.id,))
    return {uid: generation_status(status, bool(split)) for uid, status, split in rows}


class StoredState(NamedTuple):
    """An item before a recount, its blind labels, and the rules of its project.

    `brought`: whether a gold label of a package holds while no later labels decide; `brought_gold`: that label;
    `later`: whether the item has a label that is newer. `flags_differ`: whether the labels differ in the flag for
    extraneous gendered language.
    """

    item: int
    project: int
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
    choices: tuple[str, ...]
    flags_differ: bool
    terms: LabelRules


class RecountedState(NamedTuple):
    """An item after a recount."""

    wanted: int
    labels: int
    status: Status
    gold: str | None
    split: int


def recount_item(store: Store, item: int) -> None:
    """Recount one item; see `recount_items`."""
    recount_items(store, [item])


def recount_items(store: Store, items: Sequence[int]) -> None:
    """Update wanted, labels, gold and status of *items* (row ids) of one project.

    Call it in the transaction that changes labels, a settlement, a pilot or a known answer. A decision of the
    adjudicator overrides the labels, but it cannot accept rejected sentences unless the project allows that (`rescue`).
    A gold label that a package brought without its labels overrides both, until an adjudicator acts on the item, or
    the item has all its labels and one of them is newer. An item that now wants more labels counts as returned: it is
    offered again to annotators whose walk has passed it.
    """
    if len(items) == 1:  # as with each label
        rows = store.db.execute(_STATE_OF_ONE, (items[0],)).fetchall()
    else:
        rows = store.db.execute(_STATE_OF_SOME, (json.dumps(items),)).fetchall()
    states = [stored_state(row) for row in rows]
    turned = [(before, after) for before in states if (after := recounted_state(before)) != stored_result(before)]
    if not turned:
        return
    more = [before for before, after in turned if after.wanted > before.terms.before]
    first = next_return(store.db, more[0].project, len(more)) if more else 0
    returned = {before.item: first + place for place, before in enumerate(more)}
    store.db.executemany(
        "UPDATE item SET wanted = ?, labels = ?, status = ?, gold = ?, split = ?, returned = ifnull(?, returned)"
        " WHERE id = ?",
        [(*after, returned.get(before.item), before.item) for before, after in turned],
    )
    for cell in {before.cell for before, after in turned if before.status == "accepted" != after.status}:
        # One that was closed by its quota may be open again, so annotators look at its returned items once more.
        if store.has("cell WHERE id = ? AND quota IS NOT NULL", (cell,)):
            look_again(store.db, turned[0][0].project)


def stored_state(row: Sequence[Any]) -> StoredState:
    """Return the stored state of an item from a row of the columns STATE."""
    labels = [label.partition(":") for label in row[13].split(",")] if row[13] else []
    flags = {flag for *_, flag in labels} - {""}
    choices = tuple(choice for choice, *_ in labels)
    return StoredState._make([*row[:13], choices, len(flags) > 1, LabelRules._make(row[14:])])


def stored_result(state: StoredState) -> RecountedState:
    """Return what is stored of the result of a recount."""
    return RecountedState(state.terms.before, state.labels, state.status, state.gold, state.split)


def recounted_state(before: StoredState) -> RecountedState:
    """Return the state that follows from the blind labels of an item and from the decision in force."""
    choices = before.choices
    wanted = wanted_now(before.terms, choices)
    outcome = decide_gold(choices, wanted, before.rule)
    split = outcome.split or (len(choices) >= wanted and before.flags_differ)
    if before.brought and not (len(choices) >= wanted and before.later):
        gold = before.brought_gold
        return RecountedState(wanted, len(choices), _status(gold) if gold else "pending", gold, int(split))
    decided = before.decided
    counts = decided and (decided != "accept" or outcome.status != "rejected" or before.rescue)
    gold, status = (decided, _status(decided)) if counts and decided else (outcome.gold, outcome.status)
    return RecountedState(wanted, len(choices), status, gold, int(split))


PART = "gold.jsonl"  # of a package
IN_FORCE = """
SELECT brought.gold, label_file.file FROM gold_in_force AS brought JOIN label_file ON label_file.id = brought.file
WHERE brought.item = ?
"""
BY_PACKAGE = """
SELECT label_file.file, label_file.sha256, count(*) FROM gold_in_force AS brought
JOIN published_item AS item ON item.id = brought.item JOIN label_file ON label_file.id = brought.file
WHERE brought.project = ? GROUP BY label_file.id ORDER BY label_file.id
"""
OF_FILE = "SELECT item, gold FROM standing_gold WHERE file = ? ORDER BY item"


class ImportedGold(NamedTuple):
    """A gold label that a package brought; `gold` None: the package says that the item has no gold label."""

    gold: str | None
    package: str


def package_of(file: str) -> str:
    """Return the name of a package from the name under which its gold labels are stored."""
    return file.removesuffix(f": {PART}")


def gold_in_force(store: Store, item: int) -> ImportedGold | None:
    """Return the imported gold label that decides an item (row id), or None."""
    row = store.db.execute(IN_FORCE, (item,)).fetchone()
    return None if row is None else ImportedGold(row[0], package_of(row[1]))


def gold_by_package(store: Store, project: Project) -> list[tuple[str, str, int]]:
    """Return the package, the SHA-256 of its gold.jsonl, and the number of its gold labels that are in force."""
    rows = store.db.execute(BY_PACKAGE, (project.id,)).fetchall()
    return [(package_of(file), sha256, number) for file, sha256, number in rows]


def gold_of_file(store: Store, file: int) -> list[tuple[int, str | None]]:
    """Return the items (row ids) whose last gold label came with this file, with that label."""
    return [(item, gold) for item, gold in store.db.execute(OF_FILE, (file,))]


def holds_gold(store: Store, file: int) -> bool:
    """Return whether a file (row id) brought gold labels."""
    return store.has("imported_gold WHERE file = ?", (file,))


def store_gold(store: Store, project: Project, item: int, file: int, gold: str | None, *, holds: bool = True) -> None:
    """Append a gold label of a package, or that it no longer *holds*, and recount its item.

    Call it inside of a transaction.
    """
    insert(store.db, "imported_gold", {
        "project": project.id, "item": item, "file": file, "gold": gold, "holds": int(holds),
        "label": store.newest("label"), "created": timestamp(),
        "settlement": store.value("SELECT settlement FROM item WHERE id = ?", (item,)),
    })  # fmt: skip
    recount_item(store, item)
