"""The samples of a project: stored with every inclusion probability before an item is labelled, then handed out.

While a sample is open, the queue hands out its items only, in random order.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.labels.generation_labels import item_table, measures_of
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.queue.leases import free_all_leases
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import N_, NotAllowed, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.sampling.designs import Design
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import Labels, rate_of_people

if TYPE_CHECKING:
    import pandas as pd

STARTED, CLOSED = "sample_started", "sample_closed"  # events of a project
_PLANNED = "item, probability, stratum, drawn"  # columns of an inclusion
_LABELLED = "(labels > 0 AND labels >= wanted)"
_COUNTS = f"""
SELECT count(*) AS frame, count(*) FILTER (WHERE drawn) AS drawn,
    count(*) FILTER (WHERE drawn AND {_LABELLED}) AS labelled, count(*) FILTER (WHERE drawn AND aside) AS aside,
    coalesce(min(probability), 0.0) AS least, coalesce(max(probability), 0.0) AS most
FROM inclusion JOIN published_item AS item ON item.id = inclusion.item WHERE sample = ?
"""
# Of the items of a sample: how many an annotator has labelled, and may still label.
_OWN = """
SELECT count(*) FILTER (WHERE mine.state = 'labelled'), count(*) FILTER (
    WHERE mine.state IS NOT 'labelled' AND item.aside = 0 AND (item.taken < item.wanted OR mine.state = 'leased'))
FROM drawn_item AS drawn JOIN published_item AS item ON item.id = drawn.item
     LEFT JOIN assignment AS mine ON mine.item = item.id AND mine.annotator = ?
WHERE drawn.sample = ?
"""
# Closed samples by which labels weigh: one that was closed before any drawn item had a label changes nothing.
_WEIGHING = """
SELECT id FROM sample WHERE project = ? AND EXISTS (
    SELECT 1 FROM inclusion JOIN valid_label AS label ON label.item = inclusion.item
    WHERE inclusion.sample = sample.id AND drawn = 1 AND choice IS NOT NULL AND label.created <= sample.closed)
"""
_DRAWN = f"""
SELECT item.uid, drawn.number, probability, stratum,
    (SELECT min(one.number) FROM sample AS one JOIN inclusion ON inclusion.sample = one.id
     WHERE one.id IN ({{weighing}}) AND inclusion.item = drawn.item), {_LABELLED}
FROM drawn_item AS drawn JOIN published_item AS item ON item.id = drawn.item
WHERE drawn.sample IN ({{weighing}}) ORDER BY drawn.number, item.id
"""
_FRAME_ITEMS = """
SELECT DISTINCT item.uid FROM inclusion JOIN published_item AS item ON item.id = inclusion.item
WHERE inclusion.sample IN ({weighing})
"""
_FRAMES = """
SELECT sample.number, first.number, count(*), sum(drawn)
FROM sample JOIN inclusion ON inclusion.sample = sample.id
JOIN (SELECT inclusion.item, min(sample.number) AS number FROM inclusion
      JOIN sample ON sample.id = inclusion.sample WHERE sample.id IN ({weighing}) GROUP BY inclusion.item) AS first
    ON first.item = inclusion.item
JOIN published_item AS item ON item.id = inclusion.item
WHERE sample.id IN ({weighing}) GROUP BY sample.number, first.number
"""
# Finished items that were outside every sample because people had begun them before the newest one was drawn.
_EARLIER = f"""
SELECT item.uid FROM published_item AS item WHERE item.project = :project AND {_LABELLED}
AND NOT EXISTS (SELECT 1 FROM inclusion WHERE inclusion.item = item.id AND inclusion.sample IN ({{weighing}}))
AND EXISTS (SELECT 1 FROM valid_label AS label WHERE label.item = item.id AND choice IS NOT NULL
    AND label.created <= :last)
"""
_HANDED_OUT = "temp.planned JOIN assignment ON assignment.item = planned.item WHERE state <> 'released'"
EARLIER = "labelled before"  # the stratum of items that people had labelled before a sample was drawn


@dataclass(frozen=True)
class Planned:
    """A sample that was drawn and is not stored yet: a value an item of the frame. `items`: row ids."""

    number: int
    design: Design
    share: float
    settings: dict[str, Any]
    items: list[int]
    probabilities: list[float]
    strata: list[str]
    drawn: list[bool]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a project. `items`: drawn; `share`: of the probability that all items have alike; `settings`: the
    columns of the strata (`by`), `measure` and `judges`, where the design has them; `closed` None: it is open."""

    id: int
    number: int
    design: Design
    items: int
    share: float
    settings: Mapping[str, Any]
    seed: int
    created: str
    closed: str | None

    @property
    def signature(self) -> str:
        """Everything that decided which items were drawn."""
        text = "|".join(f"{key}={_plain(value)}" for key, value in sorted(self.settings.items()) if value)
        return f"sample-{self.number}|{self.design}|items={self.items}|share={self.share:g}|{text}|seed={self.seed}"


@dataclass(frozen=True, slots=True)
class SampleState:
    """How far a sample is. `frame`: how many items it was drawn from; `labelled`: of those drawn, in full; `aside`:
    for the lead; `least`, `most`: inclusion probabilities. Withdrawn items are not counted."""

    sample: Sample
    frame: int
    drawn: int
    labelled: int
    aside: int
    least: float
    most: float


@dataclass(frozen=True)
class SampleLabels:
    """The drawn items of a project and what they weigh.

    `table`: item (public id), sample, probability, stratum, population; `frames`: see core.sampling.weights; `items`:
    every item that a sample could draw, and those of `earlier`, which people had labelled before.
    """

    table: "pd.DataFrame"
    frames: Mapping[tuple[int, int], Any] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()
    items: frozenset[str] = frozenset()
    earlier: frozenset[str] = frozenset()

    def weights(self, items: Sequence[str], labelled: Sequence[bool]) -> tuple[list[float], list[str]]:
        """Return what the label of each of *items* stands for (NaN: not drawn, or not *labelled*), and its stratum.

        A label of `earlier` stands for its own item: these items were all labelled, so none was drawn from them.
        Strata differ by sample; "" for an item that was not drawn.
        """
        from evenhand.core.sampling.weights import Drawn, weights

        known = dict(zip(items, labelled, strict=True))
        columns = ("item", "sample", "population", "probability", "stratum")
        rows = list(zip(*(self.table[name].tolist() for name in columns), strict=True))
        drawn = [Drawn(sample, of, probability, stratum) for _, sample, of, probability, stratum in rows]
        found = weights(drawn, [bool(known.get(row[0])) for row in rows], self.frames)
        by_item = {row[0]: (float(weight), f"{row[1]}|{row[4]}") for row, weight in zip(rows, found, strict=True)}
        by_item |= {item: (1.0 if known[item] else float("nan"), EARLIER) for item in self.earlier & known.keys()}
        each = [by_item.get(item, (float("nan"), "")) for item in items]
        return [weight for weight, _ in each], [stratum for _, stratum in each]


def start_sample(store: Store, project: Project, planned: Planned, *, author: str = "") -> Sample:
    """Store the draw of `annotations.sampling.frame.plan_sample`; desks hand out only its items until `close_sample`.

    Raises NotAllowed while a sample or a pilot is open, and Refused if the project has no annotator or an item was
    handed out after the draw.

    One transaction stores all, because stored probabilities are permanent: half a sample could not be withdrawn. The
    rows are computed before it. The data is on disk on return, but other writers do not wait for the disk.
    """
    with _made_ready(store, planned), store.bulk():
        _store_planned(store, project, planned, author)
        store.sync_log()
        store.write_back()  # else the next label would: these are as many pages as a few thousand labels change
    return samples(store, project)[-1]


@contextmanager
def _made_ready(store: Store, planned: Planned) -> Iterator[None]:
    """Keep the rows of a sample in a table of this connection alone meanwhile, from which one statement takes them."""
    store.db.execute(f"CREATE TEMP TABLE planned ({_PLANNED})")
    try:
        store.db.execute("BEGIN")
        rows = zip(planned.items, planned.probabilities, planned.strata, map(int, planned.drawn), strict=True)
        store.db.executemany(f"INSERT INTO planned ({_PLANNED}) VALUES (?, ?, ?, ?)", rows)
        store.db.execute("COMMIT")
        yield
    finally:
        if store.db.in_transaction:
            store.db.execute("ROLLBACK")
        store.db.execute("DROP TABLE IF EXISTS temp.planned")


def _store_planned(store: Store, project: Project, planned: Planned, author: str) -> None:
    """Store a sample with its rows in one transaction."""
    settings = json.dumps(planned.settings, ensure_ascii=False, sort_keys=True)
    with store.write() as db:
        refuse_beside(store, project)
        if not annotators(store, project):
            raise Refused(N_("This project has no annotators yet. Add them first, then draw the sample."))
        number = 1 + len(samples(store, project))
        if number != planned.number:
            raise Refused(N_("Another sample was drawn meanwhile. Draw again."))
        if store.has(_HANDED_OUT):
            raise Refused(N_("Items were handed out while the sample was drawn. Draw again."))
        row = {
            "project": project.id, "number": number, "design": planned.design, "items": sum(planned.drawn),
            "share": planned.share, "settings": settings, "seed": project.seed, "created": timestamp(), "closed": None,
        }  # fmt: skip
        sample = restore_sample(db, row)
        db.execute(
            f"INSERT INTO inclusion (sample, {_PLANNED}) SELECT ?, {_PLANNED} FROM temp.planned ORDER BY planned.rowid",
            (sample,),
        )  # a third less than one statement for each row, of which each has triggers
        free_all_leases(db, project)
        record(store, project, STARTED, author=author, sample=number, design=planned.design, items=row["items"])


def restore_sample(db: Connection, values: Mapping[str, Any]) -> int:
    """Store a sample, a value a column; returns its row id."""
    return insert(db, "sample", values)


def restore_inclusions(db: Connection, sample: int, rows: Iterable[tuple[int, float, str, bool]]) -> None:
    """Store item (row id), probability, stratum and whether it was drawn, a row an item."""
    db.executemany(
        "INSERT INTO inclusion (sample, item, probability, stratum, drawn) VALUES (?, ?, ?, ?, ?)",
        ((sample, item, probability, stratum, int(drawn)) for item, probability, stratum, drawn in rows),
    )


def refuse_beside(store: Store, project: Project) -> None:
    """Raise NotAllowed while a sample or a pilot is open."""
    if open_sample(store, project) is not None:
        raise NotAllowed(N_("A sample is open already. Close it before drawing another."))
    if store.has("open_pilot WHERE project = ?", (project.id,)):
        raise NotAllowed(N_("A pilot is open. Close it before drawing a sample."))


def close_sample(store: Store, project: Project, *, author: str = "") -> Sample:
    """End the open sample: all items are handed out again. Raises NotFound if none is open."""
    with store.write() as db:
        drawn_sample = open_sample(store, project)
        if drawn_sample is None:
            raise NotFound(N_("No sample is open in this project."))
        update_rows(db, "sample", {"closed": timestamp()}, id=drawn_sample.id)
        free_all_leases(db, project)
        record(
            store,
            project,
            CLOSED,
            author=author,
            sample=drawn_sample.number,
            labelled=state_of(store, drawn_sample).labelled,
        )
    return next(sample for sample in samples(store, project) if sample.id == drawn_sample.id)


def samples(store: Store, project: Project) -> list[Sample]:
    """Return the samples of a project, oldest first."""

    def sample(settings: str, **columns: Any) -> Sample:
        return Sample(settings=json.loads(settings), **columns)

    query = (
        "SELECT id, number, design, items, share, settings, seed, created, closed FROM sample"
        " WHERE project = ? ORDER BY number"
    )
    return store.rows(sample, query, (project.id,))


def open_sample(store: Store, project: Project) -> Sample | None:
    """Return the open sample, or None."""
    return next((sample for sample in samples(store, project) if sample.closed is None), None)


def state_of(store: Store, sample: Sample) -> SampleState:
    """Return the progress of a sample."""
    (state,) = store.rows(partial(SampleState, sample), _COUNTS, (sample.id,))
    return state


def own_sample(store: Store, project: Project, annotator: Annotator) -> tuple[int, int] | None:
    """Return how many items of the open sample an annotator has labelled and may still label; None: none is open."""
    sample = open_sample(store, project)
    if sample is None:
        return None
    labelled, left = store.db.execute(_OWN, (annotator.id, sample.id)).fetchone()
    return labelled, left


def weighing_samples(store: Store, project: Project) -> list[Sample]:
    """Return the samples by which labels weigh: all but those that were closed without a label."""
    labelled = {row for (row,) in store.db.execute(_WEIGHING, (project.id,))}
    return [sample for sample in samples(store, project) if sample.closed is None or sample.id in labelled]


def sample_labels(store: Store, project: Project) -> SampleLabels | None:
    """Return the drawn items of a project; None: its labels are taken for a simple random sample.

    That is so without a sample, and as long as no drawn item is labelled in full.
    """
    weighing = weighing_samples(store, project)

    def rows(query: str) -> list[Any]:
        ids = ", ".join(str(sample.id) for sample in weighing)
        last = max(sample.created for sample in weighing)
        return store.db.execute(query.format(weighing=ids), {"project": project.id, "last": last}).fetchall()

    drawn = rows(_DRAWN) if weighing else []
    if not any(row[-1] for row in drawn):
        return None
    import pandas as pd

    from evenhand.core.sampling.weights import Frame

    table = pd.DataFrame(
        [row[:-1] for row in drawn], columns=["item", "sample", "probability", "stratum", "population"]
    )
    frames = {(sample, population): Frame(items, some) for sample, population, items, some in rows(_FRAMES)}
    drawable, earlier = (frozenset(uid for (uid,) in rows(query)) for query in (_FRAME_ITEMS, _EARLIER))
    signatures = tuple(sample.signature for sample in weighing)
    return SampleLabels(table, frames, signatures, drawable | earlier, earlier)


def people_rates(store: Store, project: Project) -> dict[str, tuple[Estimate, float | None]]:
    """Return each measure of a project by people alone, weighed, with its design effect; {} without labelled samples.

    Over contexts. Of sentences: which of them are kept, by their gold label.
    """
    drawn = sample_labels(store, project)
    if drawn is None:
        return {}
    table = item_table(store, project)
    table = table[table["item"].isin(drawn.items)]
    result = {}
    for measure in measures_of(store, project):
        values = table[f"people_{measure}"]
        if project.kind == "sentences":
            values = (table["status"] == "accepted").astype(float).where(values.notna())
        weights, strata = drawn.weights(table["item"].tolist(), values.notna().tolist())
        rows = [at for at, weight in enumerate(weights) if weight == weight]  # not NaN
        said = [float(values.iloc[at]) for at in rows]
        clusters = [str(table["cluster"].iloc[at]) for at in rows]
        result[measure] = rate_of_people(
            Labels(
                said, said, [], clusters, [], weights=[weights[at] for at in rows], strata=[strata[at] for at in rows]
            )
        )
    return result


def drawn_items(store: Store, project: Project) -> dict[str, tuple[int, float]] | None:
    """Return public id -> number of the sample that drew an item, and its inclusion probability.

    None if the project has no sample that gives its labels weights.
    """
    weighing = weighing_samples(store, project)
    if not weighing:
        return None
    query = _DRAWN.format(weighing=", ".join(str(sample.id) for sample in weighing))
    return {uid: (sample, probability) for uid, sample, probability, *_ in store.db.execute(query)}


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
