"""The former labels of items in relabelling, until they have all their labels again.

Relabelling selects labels by their content: rejects that name a changed criterion, not accepts. So the labels that stay
valid are biased, and a forecast from them would expect too many kept items. Such an item therefore counts by the last
blind label of each of its annotators, valid or not. Each new label replaces the former one. When all are made, nothing
of this is left.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.gold import RULE_COLUMNS, LabelRules, decide_gold, wanted_now
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
        """Whether it lacks labels and no adjudicator has decided it."""
        return self.status == "pending" and self.labels < self.terms.before

    @property
    def outcome(self) -> Status:
        """The status that follows from these choices."""
        return decide_gold(self.choices, wanted_now(self.terms, self.choices), self.rule).status


def decided_before(back: Iterable[LastWords], generations: bool = False) -> dict[tuple[str, str], tuple[int, int]]:
    """(pair, side) -> items that were decided before their relabelling, and how many of them were kept."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for one in back:
        if (outcome := one.outcome) != "pending":
            items, kept = found.get((one.pair, one.side), (0, 0))
            found[one.pair, one.side] = items + 1, kept + (generations or outcome == "accepted")
    return found


def last_words(
    store: Store, project: Project, which: str = "true", values: Mapping[str, Any] | None = None
) -> Iterator[LastWords]:
    """Items with labels to be made again; *which*: an SQL condition on `item`."""
    query = _ITEMS.format(which=which)
    for row in store.db.execute(query, {"project": project.id, **(values or {})}):
        yield LastWords._make([*row[:6], tuple(row[6].split(",")), *row[7:10], LabelRules._make(row[10:])])
