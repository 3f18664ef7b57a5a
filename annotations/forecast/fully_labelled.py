"""Fully labelled items that represent all items, if a project's plan was `stop` or its share changed meanwhile.

Under `stop` an item outside the share has all labels only if everybody accepted it. After a change to `all` or a larger
share, rejected items are labelled in full too, but later. Until then accepted ones are too frequent among the items
with all labels. Three kinds of items are unbiased: those of a pilot, those that were in the share at all times, and
those whose first label is later than the last end of `stop`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store, in_list
from evenhand.annotations.items.gold import RULE_COLUMNS, LabelRules, decide_gold, wanted_now
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.labels.read import BLIND_UNTIL, FROM_FILE, ORIGIN
from evenhand.annotations.types import GoldRule, Project, Status

# Slots in relabelling: kept for their annotators, or free because these have left. A label that its annotator took back
# does not count: there the last operation has no choice.
BACK = """
back (item, annotator) AS MATERIALIZED (
    SELECT item, annotator FROM assignment INDEXED BY assignment_kept
        WHERE project = :project AND kept = 1 AND blind IS NULL AND latest IS NULL
    UNION ALL
    SELECT assignment.item, assignment.annotator FROM member CROSS JOIN assignment
        ON assignment.annotator = member.annotator AND assignment.project = :project AND state = 'released'
        JOIN valid_label AS label ON label.op_id = assignment.op_id AND label.choice IS NOT NULL
        WHERE member.project = :project AND kept = 0 AND blind IS NULL AND revealed IS NULL
)"""
# The last blind label of every annotator of the items in `back`.
WORDS = f"""
{BACK}, words (item, label) AS (
    SELECT item, (
        SELECT max(id) FROM valid_label AS label WHERE label.item = back.item AND label.annotator = back.annotator
            AND choice IS NOT NULL AND after_reveal = 0
    ) FROM back
    UNION ALL
    SELECT item, blind FROM assignment WHERE item IN (SELECT item FROM back) AND blind IS NOT NULL
)"""
# Labels first, then items: 20 to 50% faster than one join.
_ITEMS = f"""
WITH {WORDS}
SELECT item.id, cell.id, cell.pair, cell.side, item.labels, item.status, choices,
    (SELECT version FROM guideline WHERE id = oldest), (SELECT version FROM guideline WHERE id = newest),
    project.gold, {RULE_COLUMNS}
FROM (
    SELECT words.item AS said, group_concat(choice) AS choices, min(guideline) AS oldest, max(guideline) AS newest
    FROM words JOIN label ON label.id = words.label GROUP BY words.item
) JOIN published_item AS item ON item.id = said
    JOIN cell ON cell.id = item.cell JOIN project ON project.id = item.project
WHERE {{which}}
"""


class LastWords(NamedTuple):
    """An item in relabelling.

    `cell`: row id. `labels`, `status`: without the labels to be made again. `choices`: the last blind one of each
    annotator; `oldest`, `newest`: the versions of the guideline of these.
    """

    item: int
    cell: int
    pair: str
    side: str
    labels: int
    status: Status
    choices: tuple[str, ...]
    oldest: int
    newest: int
    rule: GoldRule
    terms: LabelRules

    @property
    def waits(self) -> bool:
        """True if the item lacks labels and no adjudicator has decided it."""
        return self.status == "pending" and self.labels < self.terms.before

    @property
    def outcome(self) -> Status:
        """The status that follows from these choices."""
        return decide_gold(self.choices, wanted_now(self.terms, self.choices), self.rule).status


def decided_before(back: Iterable[LastWords], generations: bool = False) -> dict[tuple[str, str], tuple[int, int]]:
    """Return by (pair, side) how many items were decided before their relabelling, and how many of them were kept."""
    result: dict[tuple[str, str], tuple[int, int]] = {}
    for words in back:
        if (outcome := words.outcome) != "pending":
            items, kept = result.get((words.pair, words.side), (0, 0))
            result[words.pair, words.side] = items + 1, kept + (generations or outcome == "accepted")
    return result


def last_words(
    store: Store, project: Project, which: str = "true", values: Mapping[str, Any] | None = None
) -> Iterator[LastWords]:
    """Yield items with labels to be made again; *which*: an SQL condition on `item`."""
    query = _ITEMS.format(which=which)
    for row in store.db.execute(query, {"project": project.id, **(values or {})}):
        yield LastWords._make([*row[:6], tuple(row[6].split(",")), *row[7:10], LabelRules._make(row[10:])])


_OPEN_OF_ALL = """
census JOIN cell ON cell.id = census.cell WHERE cell.project = ? AND labels BETWEEN 1 AND ? AND items > 0
"""
_OPEN_OF_SHARE = "item WHERE project = ? AND shared = 1 AND labels BETWEEN 1 AND ?"
_FULL = f"""
WITH {BACK} SELECT id, hash FROM item
WHERE project = :project AND (labels >= :per_item OR id IN (SELECT item FROM back))
"""
# For relabelling: the item may have no valid label, or not all of them yet.
_BACK = f"WITH {BACK} SELECT 1 FROM back LIMIT 1"
# In a query over `item`, with the values of `values`.
SPEAKS = f"""
(item.pilot IS NOT NULL OR item.id {in_list(":shared")}
    OR :since <> '' AND (SELECT min(created) FROM label WHERE label.item = item.id) > :since)
"""


# Items that lack labels now and of whose labels valid at `until`, when `stop` ended last, at least one was a reject and
# fewer than wanted were made. A label that was sent back later counts: its item had it, so no reject ended that item.
_ENDED = f"""
SELECT item.hash, item.shared FROM published_item AS item JOIN valid_label AS label ON label.item = item.id
WHERE item.project = :project AND item.labels BETWEEN 1 AND :per_item - 1 AND item.pilot IS NULL AND item.known IS NULL
    AND {BLIND_UNTIL}
GROUP BY item.id HAVING max(label.choice = 'reject') AND count(*) < :wanted
"""


# Items of the random share with a label of a file, and whether a reject ended them: they lack labels of the plan.
_IMPORTED = f"""
SELECT item.id, max(label.choice = 'reject') AND item.labels < item.wanted
FROM published_item AS item JOIN assignment ON assignment.item = item.id JOIN label ON label.id = assignment.blind
    {FROM_FILE}
WHERE item.project = ? AND item.shared = 1 GROUP BY item.id HAVING max({ORIGIN} = 'imported')
"""


class Unselected(NamedTuple):
    """Items that count: those of the smallest share so far, and those first labelled after *since* ("": none)."""

    share: float
    since: str

    def values(self, store: Store, project: Project, per_item: int) -> dict[str, Any]:
        """Return the values of `SPEAKS`, for items with *per_item* labels or more, or in relabelling."""
        rows = store.db.execute(_FULL, {"project": project.id, "per_item": per_item})
        drawn = [item for item, identity in rows if is_shared(project.seed, bytes(identity), self.share)]
        return {"shared": json.dumps(drawn), "since": self.since}


def unselected(store: Store, project: Project, per_item: int) -> Unselected | None:
    """Return the items with *per_item* labels that count; None: all of them (under `stop`: all of the share)."""
    plan, share, since, shares = project.plan, project.share, "", list[float]()
    for event in reversed(events(store, project, action="plan")):
        old = event.data.get("old") or {}  # unchecked in an import of a package
        if plan == "stop":
            shares.append(share)
        elif old.get("plan") == "stop" and project.plan == "all" and not since:
            since = event.created
        plan, share = old.get("plan", plan), old.get("share", share)
    if plan == "stop":
        shares.append(share)
    if not shares or (project.plan == "stop" and min(shares) == project.share):
        return None
    begun = _OPEN_OF_SHARE if project.plan == "stop" else _OPEN_OF_ALL
    if not store.has(begun, (project.id, per_item - 1)) and store.value(_BACK, {"project": project.id}) is None:
        return None
    return Unselected(min(shares), since)


def imported_into_share(store: Store, project: Project) -> tuple[int, set[int]]:
    """Return how many shared items an imported reject ended, and the row ids of items that do not count.

    Under `stop`; else (0, no items). At the origin of the labels, a first reject may have ended items of the share,
    too. While these lack labels, accepted ones are too frequent among the imported items that have all, so no imported
    item counts.
    """
    if project.plan != "stop":
        return 0, set()
    rows = store.db.execute(_IMPORTED, (project.id,)).fetchall()
    ended = sum(is_ended for _, is_ended in rows)
    return ended, {item for item, _ in rows} if ended else set()


def ended_at_reject(store: Store, project: Project) -> int:
    """Return how many items a reject ended under an earlier plan `stop` and still lack labels of the present plan.

    While there are any, accepted items are too frequent among those with all their labels. 0 under `stop`.
    """
    if project.plan == "stop":
        return 0
    narrow = unselected(store, project, project.per_item)
    if narrow is None:
        return 0
    drawn_once = project.share <= narrow.share  # all items now in the share were in it under every plan
    values = {"project": project.id, "per_item": project.per_item, "until": narrow.since}
    rows = store.db.execute(_ENDED, values | {"wanted": _per_item_at(store, project, narrow.since)})
    ended = [identity for identity, shared in rows if not (shared and drawn_once)]
    return sum(not is_shared(project.seed, bytes(identity), narrow.share) for identity in ended)


def _per_item_at(store: Store, project: Project, moment: str) -> int:
    """Return the number of labels per item that the plan wanted at *moment* (a timestamp)."""
    per_item = project.per_item
    for event in reversed(events(store, project, action="plan")):
        if event.created <= moment:
            break
        per_item = int((event.data.get("old") or {}).get("per_item", per_item))
    return per_item
