"""Counts of the items that adjudicators decided, by what the labels of these items are."""

from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project

REJECTED = """
item.labels >= item.wanted AND (
    SELECT iif(:majority, 2 * sum(label.choice = 'reject') > count(*), sum(label.choice = 'reject') > 0)
    FROM assignment JOIN label ON label.id = assignment.blind WHERE assignment.item = item.id)
"""
SETTLED = f"""
SELECT settlement.action, settlement.choice, count(*), sum(item.status = 'accepted' AND {REJECTED}),
    sum(item.status = 'rejected' AND {REJECTED}), sum(item.split = 0), sum(item.split = 0 AND item.labels < item.wanted)
FROM published_item AS item JOIN settlement ON settlement.id = item.settlement
WHERE item.project = :project GROUP BY settlement.action, settlement.choice ORDER BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class AdjudicationTotals:
    """Numbers of items. `split`: fully labelled, and their labels differ; `open`: of these, without a settlement.

    `decided`: decisions by choice; `left`: labels confirmed. `rescued`: kept although the labels reject them;
    `without_effect`: decisions that accept what stays rejected, because `rescue` is off. `not_split`: settled items
    whose valid labels do not differ (any more), by action; `lacking`: those of them that lack labels.
    """

    split: int
    open: int
    decided: dict[str, int]
    left: int
    rescued: int
    without_effect: int
    not_split: dict[str, int]
    lacking: int

    @property
    def decided_differing(self) -> int:
        """The number of decided items whose labels differ."""
        return sum(self.decided.values()) - self.not_split["decide"]

    @property
    def confirmed_differing(self) -> int:
        """The number of items whose labels differ and were confirmed."""
        return self.left - self.not_split["leave"]


def adjudication_totals(store: Store, project: Project) -> AdjudicationTotals:
    """Count the settlements in force of *project*."""
    values = {"project": project.id, "majority": project.gold == "majority"}
    rows = store.db.execute(SETTLED, values).fetchall()
    accepting = [row for row in rows if row[0] == "decide" and row[1] == "accept"]
    split = "published_item WHERE project = ? AND split = 1"
    return AdjudicationTotals(
        split=store.count(split, (project.id,)),
        open=store.count(f"{split} AND settlement IS NULL", (project.id,)),
        decided={str(choice): number for action, choice, number, *_ in rows if action == "decide"},
        left=sum(row[2] for row in rows if row[0] == "leave"),
        rescued=sum(row[3] for row in accepting),
        without_effect=sum(row[4] for row in accepting),
        not_split={action: sum(row[5] for row in rows if row[0] == action) for action in ("decide", "leave")},
        lacking=sum(row[6] for row in rows),
    )
