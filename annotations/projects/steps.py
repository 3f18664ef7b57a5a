"""How far projects are: the steps of one in the order of work, and the counts of sentences of all open ones.

Of each step the state is shown, and one is the next. Every count comes from a table of counts, an index that holds only
what is counted, or one row a member: a project of any size takes a few milliseconds. All of it depends on labels of
everybody, so it is for those who may see them. In the counts of all projects a text in several of them, as in a project
and its copy from a package, counts once: its identity is the hash of the text.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.annotations.database.store import Store, in_list
from evenhand.annotations.items.batch import is_importing
from evenhand.annotations.labels.blind_labels import REVIEWED, SAME_CHOICE
from evenhand.annotations.projects.annotators import BY_LINK
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.types import Project, ProjectCounts

Step = Literal[
    "sources",
    "guideline",
    "plan",
    "people",
    "review",
    "adjudication",
    "progress",
    "agreement",
    "quality",
    "describe",
    "release",
]
State = Literal["done", "waiting", "not begun"]

_FACTS = f"""
SELECT (SELECT count(*) FROM active_member AS member WHERE project = :project
        AND NOT {BY_LINK.format(who="member.annotator")}) AS people,
       (SELECT count(*) FROM active_member AS member JOIN annotator ON annotator.id = member.annotator
        WHERE member.project = :project AND EXISTS (SELECT 1 FROM account)
            AND NOT {BY_LINK.format(who="member.annotator")} AND NOT EXISTS (
            SELECT 1 FROM open_account WHERE open_account.annotator = member.annotator) AND NOT EXISTS (
            SELECT 1 FROM access_link AS link WHERE link.project = :project AND link.purpose = 'invite'
            AND link.used < link.uses AND link.expires > :now AND annotator.name = link.name)) AS uninvited,
       (SELECT count(*) FROM guideline WHERE project = :project) AS versions,
       (SELECT count(*) FROM pilot WHERE project = :project) AS pilots,
       (SELECT id FROM open_pilot WHERE project = :project) AS pilot,
       EXISTS (SELECT 1 FROM event WHERE project = :project AND action = 'plan') AS planned,
       cases, cases_pending,
       EXISTS (SELECT 1 FROM published_item WHERE project = :project AND settlement IS NOT NULL) AS settled,
       EXISTS (SELECT 1 FROM published_item WHERE project = :project AND known IS NOT NULL) AS known,
       (SELECT max(created) FROM frozen_release WHERE project = :project) AS released,
       (SELECT max(newest) FROM (
            SELECT (SELECT created FROM label WHERE annotator = member.annotator AND project = :project
                    ORDER BY id DESC LIMIT 1) AS newest
            FROM member WHERE project = :project
            UNION ALL SELECT * FROM (SELECT created FROM settlement WHERE project = :project ORDER BY id DESC LIMIT 1)
       )) AS changed
FROM (SELECT count(*) AS cases, count(*) FILTER (WHERE status = 'pending') AS cases_pending FROM published_item
      WHERE project = :project AND split = 1 AND settlement IS NULL)
"""
_PILOT_LEFT = "published_item AS item WHERE item.pilot = ? AND item.labels < item.wanted"


@dataclass(frozen=True, slots=True)
class StepState:
    """One step. `number`: how many are done or wait, None if there is nothing to count."""

    step: Step
    state: State
    number: int | None = None


@dataclass(frozen=True, slots=True)
class StepCounts:
    """What the states follow from. `uninvited`: annotators who have neither an account nor an open invitation; 0 on a
    server without accounts."""

    stock: ProjectCounts
    per_item: int
    retest: bool
    importing: bool
    people: int
    uninvited: int
    versions: int
    pilots: int
    pilot_open: bool
    pilot_left: int
    planned: bool
    cases: int
    cases_pending: int
    settled: bool
    known: bool
    released: str | None
    changed: str | None

    @property
    def labelled(self) -> bool:
        """True if any item has a label."""
        return any(labels and items for labels, items in self.stock.by_labels.items())

    @property
    def few(self) -> bool:
        """True if the project has fewer annotators than labels per item.

        While items want labels, only annotators who can open a desk count.
        """
        able = self.people - self.uninvited if self.unlabelled else self.people
        return able < self.per_item

    @property
    def unlabelled(self) -> int:
        """The number of items that still want labels: of the open pilot, else of cells whose quota is not met."""
        if self.pilot_open:
            return self.pilot_left
        cells = self.stock.cells
        wanted = sum(cell.pending for cell in cells if cell.quota is None or cell.accepted < cell.quota)
        return max(0, wanted - self.cases_pending - self.stock.aside)


def facts(store: Store, project: Project) -> StepCounts:
    """Return the counts of a project as they are now."""
    (row,) = store.rows(dict[str, Any], _FACTS, {"project": project.id, "now": time.time()})
    row |= {name: bool(row[name]) for name in ("planned", "settled", "known")}
    pilot = row.pop("pilot")
    left = 0 if pilot is None else store.count(_PILOT_LEFT, (pilot,))
    return StepCounts(
        stock=counts(store, project), importing=is_importing(store, project), per_item=project.per_item,
        retest=project.retest > 0, pilot_open=pilot is not None, pilot_left=left, **row,
    )  # fmt: skip


def steps(step_counts: StepCounts) -> tuple[StepState, ...]:
    """Return every step with its state, in the order of work."""
    items, labelled, left = step_counts.stock.items, step_counts.labelled, step_counts.unlabelled
    reviewed: State = "not begun" if not labelled else "waiting" if left else "done"
    decided = step_counts.stock.accepted + step_counts.stock.rejected
    return (
        StepState("sources", "waiting" if step_counts.importing else "done" if items else "not begun", items or None),
        _guideline(step_counts),
        StepState("plan", "done" if step_counts.planned else "not begun"),
        StepState(
            "people",
            "not begun" if not step_counts.people else "waiting" if step_counts.few else "done",
            step_counts.people or None,
        ),
        StepState("review", "waiting" if items and left else "done" if items else "not begun", left or None),
        _adjudication(step_counts),
        StepState("progress", reviewed, decided if labelled else None),
        StepState("agreement", reviewed),
        StepState("quality", "done" if step_counts.known or step_counts.retest else "not begun"),
        StepState(
            "describe", "done" if step_counts.stock.accepted else "not begun", step_counts.stock.accepted or None
        ),
        StepState(
            "release",
            "not begun" if step_counts.released is None else "done" if _is_current(step_counts) else "waiting",
        ),
    )


def next_step(step_counts: StepCounts, allowed: Sequence[Step]) -> Step | None:
    """Return the next thing to do among the *allowed* steps; None if none of these steps waits."""
    labelled, left = step_counts.labelled, step_counts.unlabelled
    first_look = not labelled and not step_counts.pilots and step_counts.versions <= 1
    wanted: tuple[tuple[Step, bool], ...] = (
        ("sources", not step_counts.stock.items),
        ("people", step_counts.few),
        ("guideline", first_look or (step_counts.pilot_open and not left)),
        ("review", left > 0),
        ("progress", left > 0),  # for a lead who does not label: cases wait until the annotators are done
        ("adjudication", step_counts.cases > 0),
        ("release", step_counts.stock.accepted > 0 and (step_counts.released is None or not _is_current(step_counts))),
    )
    return next((step for step, waits in wanted if waits and step in allowed), None)


def _guideline(step_counts: StepCounts) -> StepState:
    if step_counts.pilot_open:
        return StepState("guideline", "waiting", step_counts.pilot_left or None)
    begun = step_counts.pilots or step_counts.versions > 1 or step_counts.labelled
    return StepState("guideline", "done" if begun else "not begun")


def _adjudication(step_counts: StepCounts) -> StepState:
    if step_counts.cases:
        return StepState("adjudication", "waiting", step_counts.cases)
    return StepState("adjudication", "done" if step_counts.settled or step_counts.labelled else "not begun")


def _is_current(step_counts: StepCounts) -> bool:
    return step_counts.released is not None and (
        step_counts.changed is None or step_counts.changed <= step_counts.released
    )


# Only sentence projects that are not archived count, and of these the ones that are asked for.
OPEN = f"project.archived IS NULL AND project.kind = 'sentences' AND (:only IS NULL OR project.uid {in_list(':only')})"

# A row a text: {text} is item.hash, or item.id where one project has each text once and no sort is needed.
COUNTS = f"""
SELECT count(*), coalesce(sum(reviewed), 0), coalesce(sum(same), 0), coalesce(sum(kept), 0) FROM (
    SELECT max({REVIEWED}) AS reviewed, max({SAME_CHOICE}) AS same, max(item.status = 'accepted') AS kept
    FROM published_item AS item JOIN project ON project.id = item.project
    WHERE {OPEN} GROUP BY {{text}}
)
"""

STATE = """
SELECT (SELECT coalesce(max(published), 0) + count(*) FROM published_batch),
       (SELECT json_group_array(json_array(uid, gold, per_item, doubled, plan, share, archived)) FROM project)
"""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Counts of texts; each is a subset of the one before, except that `kept` depends on the rule for gold.

    A text counts where it does so in at least one project. candidates: in a published batch. reviewed: with all wanted
    blind labels. unanimous: reviewed, with at least two blind labels, all of the same choice. kept: accepted as gold.
    """

    candidates: int
    reviewed: int
    unanimous: int
    kept: int


def state(store: Store) -> tuple[str, ...]:
    """Return a value that changes each time the counts may have changed.

    It costs three index look-ups and one row per project.
    """
    newest = (store.newest(table) for table in ("label", "imported_gold", "event"))
    return (store.uid, *map(str, (*newest, *store.db.execute(STATE).fetchone())))


def latest(store: Store) -> tuple[str, ...]:
    """Return a value that also changes with every entry of the log, for results that depend on more than counts."""
    return (*state(store), str(store.newest("log")))


def pipeline(store: Store, only: Iterable[str] | None = None) -> Pipeline:
    """Return the counts of the open sentence projects, or of those among *only* (public ids), together.

    Reads every item once, so keep it by `state`.
    """
    values = {"only": None if only is None else json.dumps(sorted(only))}
    text = "item.hash" if store.count(f"project WHERE {OPEN}", values) > 1 else "item.id"
    return Pipeline(*store.db.execute(COUNTS.format(text=text), values).fetchone())
