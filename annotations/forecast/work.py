"""What labelling a project will take: labels, hours and candidates, estimated from fully labelled items.

Under the plan `all` these are the items with all labels; under `stop` only the pilot and the random share, because
other items have many labels only if everybody accepted. After a change of the plan it is the same until reopened items
are finished (`forecast.fully_labelled`). Items with a known answer are left out: they were chosen, not drawn. An item
in relabelling counts by its former labels (`annotations.forecast.sent_back`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.forecast.fully_labelled import (
    SPEAKS,
    WORDS,
    Unselected,
    decided_before,
    last_words,
    unselected,
)
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.batch import OF_PILOTS
from evenhand.annotations.items.wanted_labels import labels_planned
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.forecast.work_model import Cell, Work, WorkForecast, forecast_work
from evenhand.core.statistics import Estimate, Note

Sample = Literal["pilot", "all"]
TIMES = 5_000  # newest labels for the mean time

NO_REJECT = Note(N_("Generations cannot stop at the first reject: their labels include no reject."))

_PATTERNS = """
SELECT cell, labels, rejects, oldest, newest, count(*) FROM (
    SELECT item.cell AS cell, count(*) AS labels, sum(label.choice <> 'accept') AS rejects,
        min(label.guideline) AS oldest, max(label.guideline) AS newest
    FROM item {how} JOIN published_batch AS batch ON batch.id = item.batch
    JOIN assignment ON assignment.item = item.id JOIN label ON label.id = assignment.blind
    WHERE {which} AND item.labels >= :per_item AND item.known IS NULL GROUP BY item.id
) GROUP BY cell, labels, rejects, oldest, newest
"""
_ALL = "item.project = :project AND (:plan = 'all' OR item.shared = 1 OR item.pilot IS NOT NULL)"
_TIMES = """
SELECT label.item, label.seconds FROM valid_label AS label
WHERE project = :project AND seconds IS NOT NULL AND choice IS NOT NULL ORDER BY id DESC LIMIT :most
"""
# Rejects take longer than accepts, so labels sent back for relabelling count too.
_PILOT_TIMES = f"""
WITH {WORDS}
SELECT item.id, label.seconds FROM item JOIN (
    SELECT item, blind AS label FROM assignment WHERE blind IS NOT NULL AND item NOT IN (SELECT item FROM back)
    UNION ALL SELECT item, label FROM words
) AS said ON said.item = item.id JOIN label ON label.id = said.label
WHERE {OF_PILOTS} AND label.seconds IS NOT NULL LIMIT :most
"""


class Versions(NamedTuple):
    """The oldest and newest version of the guideline that the labels of so many items were made under."""

    oldest: int
    newest: int
    items: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """The forecast for both plans, and the present counts.

    `items`: in the project; `made`: its labels; `people`: active annotators; `sample`: the items that the forecast
    uses, `reviewed` their number. `work` has the numbers. `returned`: how many of `reviewed` are in relabelling and
    count by their former labels. `narrowed`: other items with all their labels are left out as biased, because the
    plan was `stop` or the share smaller until lately.
    """

    items: int
    made: int
    people: int
    sample: Sample
    reviewed: int
    work: WorkForecast
    narrowed: bool = False
    returned: int = 0
    versions: tuple[Versions, ...] = ()
    json_names: ClassVar = {
        "made": "labels_made", "people": "annotators", "reviewed": "labelled_in_full", "work": "",
        "returned": "counted_by_last_word", "versions": "guideline_versions",
    }  # fmt: skip


@consistent_read
def forecast(
    store: Store,
    project: Project,
    *,
    per_item: int | None = None,
    share: float | None = None,
    candidates: int | None = None,
    on: Sample | None = None,
) -> Forecast:
    """Return the work that labelling *project* takes under both plans.

    Arguments default to the project's settings. `candidates`: assume so many, without quotas. `on`: the items to use,
    "pilot" or "all" fully labelled ones (None: the pilot's if there are any).
    """
    wanted = project.per_item if per_item is None else per_item
    drawn = project.share if share is None else share
    sample = on or _sample(store, project, wanted)
    narrow = unselected(store, project, wanted) if sample == "all" else None
    result = _patterns(store, project, wanted, sample, narrow) if project.kind == "sentences" else _Sample()
    cells = _cells(store, project, result.patterns)
    if candidates is not None:
        cells = [Cell("", "", candidates, patterns=_together(cells))]
    work = forecast_work(cells, wanted, drawn, seconds=_times(store, project, sample))
    if project.kind == "generations":
        work = _of_generations(project, work, sum(cell.stock for cell in cells))
    work = replace(work, signature=work.signature + result.signature(narrow is not None))
    stock, people = counts(store, project), store.count("active_member WHERE project = ?", (project.id,))
    made = sum(labels * number for labels, number in stock.by_labels.items())
    return Forecast(
        stock.items, made, people, sample, work.rate.units, work, narrow is not None, result.returned, result.by_version
    )


def has_pilot(store: Store, project: Project, per_item: int) -> bool:
    """Return whether an item of a pilot has been labelled in full, now or before its relabelling."""
    if store.has(f"item WHERE {OF_PILOTS} AND labels >= :per_item", {"project": project.id, "per_item": per_item}):
        return True
    return any(len(words.choices) >= per_item for words in last_words(store, project, OF_PILOTS))


def _sample(store: Store, project: Project, per_item: int) -> Sample:
    return "pilot" if has_pilot(store, project, per_item) else "all"


@dataclass(slots=True)
class _Sample:
    """The items that a forecast uses: cell -> (labels, rejects) -> items, and the origin of their labels."""

    patterns: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)
    versions: dict[tuple[int, int], int] = field(default_factory=dict)
    returned: int = 0

    def add(self, cell: int, pattern: tuple[int, int], versions: tuple[int, int], items: int) -> None:
        """Count *items* more."""
        of = self.patterns.setdefault(cell, {})
        of[pattern] = of.get(pattern, 0) + items
        self.versions[versions] = self.versions.get(versions, 0) + items

    @property
    def by_version(self) -> tuple[Versions, ...]:
        """The items by the versions of their labels, the oldest first."""
        return tuple(Versions(*versions, items) for versions, items in sorted(self.versions.items()))

    def signature(self, narrowed: bool) -> str:
        """Return the part of the signature that says which labels of which items were used."""
        seen = sorted({version for versions in self.versions for version in versions})
        text = "|guideline:" + "+".join(f"v{version}" for version in seen) if seen else ""
        text += "|sent-back:last-word" if self.returned else ""
        return text + ("|items:not-chosen-by-outcome" if narrowed else "")


def _patterns(store: Store, project: Project, per_item: int, sample: Sample, narrow: Unselected | None) -> _Sample:
    # A scan in row order is twice as fast as by an index.
    which, how = (OF_PILOTS, "") if sample == "pilot" else (_ALL, "NOT INDEXED")
    values = {"project": project.id, "per_item": per_item, "plan": project.plan}
    if narrow is not None:
        which = f"item.project = :project AND {SPEAKS}"
        values |= narrow.values(store, project, per_item)
    cells, number = _Sample(), {guideline.id: guideline.version for guideline in guidelines(store, project)}
    query = _PATTERNS.format(which=which, how=how)
    for cell, labels, rejects, oldest, newest, items in store.db.execute(query, values):
        cells.add(cell, (labels, rejects), (number[oldest], number[newest]), items)
    which += " AND item.labels < :per_item AND item.known IS NULL"
    for words in last_words(store, project, which, values):
        if len(words.choices) >= per_item:
            rejects = sum(choice != "accept" for choice in words.choices)
            cells.add(words.cell, (len(words.choices), rejects), (words.oldest, words.newest), 1)
            cells.returned += 1
    return cells


def _cells(store: Store, project: Project, found: Mapping[int, dict[tuple[int, int], int]]) -> list[Cell]:
    query = (
        "SELECT cell.id, pair, side, coalesce(sum(items), 0), quota,"
        " coalesce(sum(iif(status = 'accepted', items, 0)), 0),"
        " coalesce(sum(iif(status = 'pending' AND aside = 0, items, 0)), 0)"
        " FROM cell LEFT JOIN census ON census.cell = cell.id WHERE cell.project = ? GROUP BY cell.id ORDER BY cell.id"
    )
    rows = store.db.execute(query, (project.id,)).fetchall()
    before = decided_before(words for words in last_words(store, project) if words.waits)
    again = {cell: before.get(cell, (0, 0)) for cell in ((row[1], row[2]) for row in rows)}
    return [
        Cell(pair, side, stock, quota, kept, found.get(cell, {}), left - again[pair, side][0], again[pair, side][1])
        for cell, pair, side, stock, quota, kept, left in rows
        if stock or quota is not None
    ]


def _together(cells: list[Cell]) -> dict[tuple[int, int], int]:
    result: dict[tuple[int, int], int] = {}
    for cell in cells:
        for pattern, items in cell.patterns.items():
            result[pattern] = result.get(pattern, 0) + items
    return result


def _times(store: Store, project: Project, sample: Sample) -> dict[int, list[float]]:
    query = _PILOT_TIMES if sample == "pilot" else _TIMES
    times: dict[int, list[float]] = {}
    for item, seconds in store.db.execute(query, {"project": project.id, "most": TIMES}):
        times.setdefault(item, []).append(seconds)
    return times


def _of_generations(project: Project, work: WorkForecast, items: int) -> WorkForecast:
    """Forecast generations: no stop at a reject, none kept or dropped; a sample may get more labels than the rest."""
    none = Estimate.undefined(NO_REJECT)
    every = work.all
    if project.doubled is not None and items:
        every = _scaled(every, labels_planned(project, items) / (items * project.per_item))
    stop = Work(none, none, none)
    return replace(work, all=every, stop=stop, saved=none, needed=none, rate=none, cells=())


def _scaled(work: Work, factor: float) -> Work:
    def times(value: float | None) -> float | None:
        return None if value is None else value * factor

    parts = (work.judgements, work.each, work.hours)
    return Work(*(replace(part, value=times(part.value), low=times(part.low), high=times(part.high)) for part in parts))
