"""The frame of a sample: the items that no annotator has seen, with strata, judges' labels and probabilities.

Also the number of labels that each design needs in a project, by core.sampling.labels_needed.
"""

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.generation_labels import item_table, measures_of
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.queue.leases import free_absent_leases
from evenhand.annotations.sampling.samples import Planned, refuse_beside, samples, weighing_samples
from evenhand.annotations.types import Kind, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.sampling.designs import (
    LEAST_SHARE,
    SHARE,
    SIZED,
    WRONG_SHARE,
    Design,
    deviations,
    disagreement,
    draw,
    equal_strata,
    probabilities,
    random_place,
    rates_of,
    to_close_quotas,
)
from evenhand.core.sampling.labels_needed import MOST, Expected, Listed, Needed, labels_needed

if TYPE_CHECKING:
    import pandas as pd

# The columns by which items can be drawn separately.
STRATA: dict[Kind, tuple[str, ...]] = {
    "generations": ("model", "pronoun", "setting", "dataset", "language"),
    "sentences": ("pair", "side", "language"),
}
NO_STRATA = N_("Choose at least one column for the strata.")
NO_COLUMN = N_("Items of this project have no column {column}.")
NO_VOTES = N_("This design needs labels of judges: run two judges, or one that gives shares, on these items first.")
NO_QUOTA_OPEN = N_("All quotas are met, or no more sentences can be drawn for them.")
TOO_MANY = N_("{items} items were requested, but only {available} can be drawn. Request at most {available}.")
NO_MEASURE = N_("{measure} is not measured in this project.")

# No label, on no desk, not skipped, in no pilot, without a known answer, not drawn by a sample by which labels weigh.
# A lease that ended without a label leaves the item free: its desk may never have shown it.
_FREE = """
item.labels = 0 AND item.pilot IS NULL AND item.known IS NULL AND item.settlement IS NULL AND item.aside = 0
    AND NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id AND state <> 'released')
    AND NOT EXISTS (SELECT 1 FROM drawn_item WHERE drawn_item.item = item.id AND drawn_item.sample IN ({weighing}))
"""
_FRAME = f"""
SELECT item.uid, item.id, item.hash, cell.pair, cell.side, {_FREE}
FROM published_item AS item JOIN cell ON cell.id = item.cell WHERE item.project = ?
"""
_VOTES = """
SELECT item.uid, judge.name, choice, extraneous, shares FROM judge_label AS label JOIN judge ON judge.id = label.judge
JOIN published_item AS item ON item.id = label.item WHERE judge.project = ? AND round = 0 ORDER BY label.id
"""


@dataclass(frozen=True)
class Frame:
    """The items of a project as a sampling design sees them.

    `table`: a row an item, seen or not, with the columns of `item_table`, pair, side, id, hash and `free` (whether it
    can be drawn); `votes`: items x judges, what each judge says of the measure, 0 to 1, NaN = nothing; `judges`: their
    names.
    """

    table: "pd.DataFrame"
    votes: np.ndarray
    judges: tuple[str, ...]
    measure: str

    @property
    def free(self) -> np.ndarray:
        """The items that can be drawn, True or False for each row."""
        values: np.ndarray = self.table["free"].to_numpy(dtype=bool)
        return values

    @property
    def expected(self) -> np.ndarray:
        """The mean label of the judges per item, 0 to 1; without their labels the mean of the other items."""
        known = np.isfinite(self.votes)
        count = known.sum(axis=1)
        mean = np.divide(np.where(known, self.votes, 0).sum(axis=1), count, out=np.full(len(count), np.nan),
                         where=count > 0)  # fmt: skip
        values: np.ndarray = np.where(np.isfinite(mean), mean, np.nanmean(mean) if known.any() else 0.5)
        return values

    @property
    def accept_rates(self) -> np.ndarray:
        """With which probability each sentence is kept: by its pair and side, what judges say, and what was kept."""
        finished = self.table[f"people_{self.measure}"].notna().to_numpy(dtype=bool)
        seen = np.where(finished, self.table["status"].to_numpy() == "accepted", np.nan).astype(float)
        known = seen[finished]
        usual = self.expected if self.judges else np.full(len(seen), known.mean() if len(known) else 0.5)
        strata = list(zip(self.strata(("pair", "side")), np.round(4 * usual).tolist(), strict=True))
        return rates_of(strata, usual, seen)

    @property
    def reference(self) -> int:
        """The index of the judge closest to the mean of all; with it a rate needs the fewest labels of people."""
        apart = np.abs(self.votes - self.expected[:, None])
        return int(
            np.argmin([np.mean(entry[np.isfinite(entry)]) if np.isfinite(entry).any() else 2.0 for entry in apart.T])
        )

    @property
    def errors(self) -> np.ndarray:
        """The expected rate, 0 to 1, at which people differ from most judges, from labels of judges and of people."""
        values: np.ndarray = _deviations(self, ()) ** 2
        return values

    def strata(self, by: Sequence[str]) -> list[str]:
        """Return the stratum of each item as one text. Raises Refused for an unknown column."""
        for column in by:
            if column not in self.table:
                raise Refused(NO_COLUMN, column=column)
        columns = [self.table[name].astype(str).tolist() for name in by]
        return [" | ".join(values) for values in zip(*columns, strict=True)] if columns else [""] * len(self.table)


def free_items(store: Store, project: Project) -> int:
    """Return how many items can be drawn."""
    rows = f"published_item AS item WHERE item.project = ? AND {_FREE}"
    return store.count(_of_weighing(store, project, rows), (project.id,))


def _of_weighing(store: Store, project: Project, query: str) -> str:
    """Return *query* with the row ids of the samples whose items cannot be drawn again."""
    return query.format(weighing=", ".join(str(sample.id) for sample in weighing_samples(store, project)))


def frame(store: Store, project: Project, *, measure: str = "", judges: Sequence[str] = ()) -> Frame:
    """Return the items of a project.

    *measure*: of `measures_of`, else the first; *judges*: whose labels count, else all.
    """
    measures = measures_of(store, project)
    wanted = measure or next(iter(measures))
    if wanted not in measures:
        raise Refused(NO_MEASURE, measure=wanted)
    import pandas as pd

    rows = store.db.execute(_of_weighing(store, project, _FRAME), (project.id,)).fetchall()
    own = pd.DataFrame(rows, columns=["item", "id", "hash", "pair", "side", "free"])
    table = item_table(store, project).merge(own, on="item", how="inner", validate="one_to_one")
    names, votes = _votes(store, project, table["item"].tolist(), measures[wanted], judges)
    return Frame(table, votes, names, wanted)


def _votes(
    store: Store, project: Project, items: Sequence[str], choice: str, wanted: Sequence[str]
) -> tuple[tuple[str, ...], np.ndarray]:
    at = {item: place for place, item in enumerate(items)}
    result: dict[str, np.ndarray] = {}
    for item, judge, code, extraneous, shares in store.db.execute(_VOTES, (project.id,)):
        if item not in at or (wanted and judge not in wanted):
            continue
        column = result.setdefault(judge, np.full(len(items), np.nan))
        if not choice:
            column[at[item]] = np.nan if extraneous is None else float(extraneous)
        else:
            given = json.loads(shares) if shares else {}
            column[at[item]] = float(given.get(choice, 0.0)) if given else float(code == choice)
    return tuple(result), np.stack(list(result.values()), axis=1) if result else np.full((len(items), 0), np.nan)


def plan_sample(
    store: Store,
    project: Project,
    design: Design,
    items: int,
    *,
    share: float = SHARE,
    by: Sequence[str] = (),
    measure: str = "",
    judges: Sequence[str] = (),
) -> Planned:
    """Draw *items* of those that can be drawn.

    The design quotas ignores *items* and draws as many as are expected to close the open quotas.

    *by*: the columns of STRATA for strata; *share*: see core.sampling.designs; *measure*, *judges*: the labels that the
    designs by judges' labels use. The draw follows from the project's seed, the number of the sample, its design and
    the items. Raises NotAllowed while a sample or pilot is open, and Refused if the design lacks what it needs or fewer
    than *items* can be drawn.
    """
    refuse_beside(store, project)
    free_absent_leases(store, project)
    sampling_frame = frame(store, project, measure=measure, judges=judges)
    rows = np.flatnonzero(sampling_frame.free)
    settings: dict[str, Any] = {"by": list(by)}
    groups: list[str] | None
    if design == "quotas":
        every, strata, in_random_order = _to_close_quotas(store, project, sampling_frame, share)
        settings["in_random_order"] = in_random_order
        rows, groups = rows[every[rows] > 0], strata
        chances = every[rows]
    else:
        if 0 < len(rows) < items:  # without any `probabilities` says so
            raise Refused(TOO_MANY, items=f"{items:,}", available=f"{len(rows):,}")
        sizes, strata, groups = sizes_of(sampling_frame, design, by)
        chances = probabilities(sizes[rows], items, 1.0 if design in ("simple", "clusters") else share)
    number = 1 + len(samples(store, project))
    key = f"{project.seed}|sample|{number}|{design}"
    hashes = [bytes(entry) for entry in sampling_frame.table["hash"]]
    places = np.array([random_place(key, hashes[row]) for row in rows], dtype=np.int64)
    listed = None if groups is None else [groups[row] for row in rows]
    mine = draw(chances, listed, places, random_place(key, "start") / 2**63)
    if design not in ("simple", "stratified", "clusters"):
        settings |= {"measure": sampling_frame.measure, "judges": sorted(sampling_frame.judges)}
    ids = sampling_frame.table["id"].tolist()
    return Planned(
        number, design, 1.0 if design in ("simple", "clusters") else share, settings, [int(ids[row]) for row in rows],
        chances.tolist(), [strata[row] for row in rows], mine.tolist(),
    )  # fmt: skip


def sizes_of(
    sampling_frame: Frame, design: Design, by: Sequence[str]
) -> tuple[np.ndarray, list[str], list[str] | None]:
    """Return the size of each item, the stratum in which it counts, and the groups of the list that is drawn from."""
    alike, none = np.ones(len(sampling_frame.table)), [""] * len(sampling_frame.table)
    if design == "stratified":
        if not by:
            raise Refused(NO_STRATA)
        strata = sampling_frame.strata(by)
        sizes = alike
        sizes[sampling_frame.free] = equal_strata(
            [text for text, free in zip(strata, sampling_frame.free, strict=True) if free]
        )
        return sizes, strata, strata
    if design == "clusters":
        return alike, none, sampling_frame.table["cluster"].astype(str).tolist()
    if design == "simple":
        return alike, none, None
    if not has_votes(sampling_frame):
        raise Refused(NO_VOTES)
    if design == "disagreement":
        return disagreement(sampling_frame.votes), none, None
    return _deviations(sampling_frame, by), none, None


def _to_close_quotas(
    store: Store, project: Project, sampling_frame: Frame, share: float
) -> tuple[np.ndarray, list[str], int]:
    """Return the probability of each item, its pair and side, and the number of items needed in random order.

    Raises Refused if no quota is open or no item is left.
    """
    if not LEAST_SHARE <= share <= 1:
        raise Refused(WRONG_SHARE, least=LEAST_SHARE, share=share)
    missing: dict[Hashable, int] = {
        f"{cell.pair} | {cell.side}": max(0, (cell.quota or 0) - cell.accepted) for cell in counts(store, project).cells
    }
    strata = sampling_frame.strata(("pair", "side"))
    chances = np.zeros(len(strata))
    free = sampling_frame.free
    kept, cells = sampling_frame.accept_rates[free], [text for text, left in zip(strata, free, strict=True) if left]
    chances[free] = to_close_quotas(kept, cells, missing, share)
    if not chances.any():
        raise Refused(NO_QUOTA_OPEN)
    in_random_order = to_close_quotas(kept, cells, missing, 1.0).sum()
    return chances, strata, round(float(in_random_order))


def has_votes(sampling_frame: Frame) -> bool:
    """Tell whether judges differ or can differ: there are two of them, or one gives shares."""
    known = sampling_frame.votes[np.isfinite(sampling_frame.votes)]
    return bool(len(known)) and (len(sampling_frame.judges) > 1 or not set(np.unique(known)) <= {0.0, 1.0})


def _deviations(sampling_frame: Frame, by: Sequence[str]) -> np.ndarray:
    """Return how often people differ from most judges, by strata of *by* and of the judges' mean label."""
    expected = sampling_frame.expected
    most = expected > 0.5
    strata = list(zip(sampling_frame.strata(by), np.round(4 * expected).tolist(), strict=True))
    people = sampling_frame.table[f"people_{sampling_frame.measure}"].to_numpy(dtype=float)
    seen = np.abs(people - most)
    return deviations(strata, np.minimum(expected, 1 - expected), seen)


ACCURACY = 0.85  # of a judge, while it is unknown
NO_RATE = N_("Without labels of judges the simulation needs an assumed rate.")


@dataclass(frozen=True)
class Forecast:
    """The labels that designs need for an interval of `width`.

    `of`: how many items can be drawn; `simulated`: how many of these the simulation took; `judge`: the judge whose
    labels the rate uses in addition to people's, "" for none; `assumed`: the rate or the accuracy was assumed.
    """

    needed: list[Needed]
    width: float
    of: int
    simulated: int
    judge: str
    assumed: bool
    signature: str


def forecast(
    sampling_frame: Frame,
    width: float,
    *,
    by: Sequence[str] = (),
    share: float = SHARE,
    rate: float | None = None,
    accuracy: float | None = None,
    seed: int = 0,
    report: Callable[[float], None] = lambda _: None,
) -> Forecast:
    """Forecast the labels that each design needs for an interval of *width* (0 to 1), of the free items.

    It uses the labels of judges if there are some: people choose what most judges choose, except for errors, of which
    the share is expected (see the design variance) or 1 - *accuracy*. *rate*: assumed of all items instead, with a
    judge of *accuracy*, or without one. Raises Refused without labels of judges and without *rate*.
    """
    rows = _some(sampling_frame, seed)
    clusters = sampling_frame.table["cluster"].astype(str).iloc[rows].tolist()
    expected = Expected(np.full(len(rows), rate), np.full(len(rows), np.nan), clusters, accuracy)
    if rate is None:
        if not sampling_frame.judges:
            raise Refused(NO_RATE)
        most = sampling_frame.expected > 0.5
        errors = np.full(len(most), 1 - accuracy) if accuracy is not None else sampling_frame.errors
        rates = np.where(most, 1 - errors, errors)
        expected = Expected(rates[rows], np.round(sampling_frame.votes[rows, sampling_frame.reference]), clusters)
    strata = [sampling_frame.strata(by)[row] for row in rows]
    designs: dict[Design, Listed] = {}
    for design in SIZED:
        if design in ("disagreement", "variance") and (rate is not None or not has_votes(sampling_frame)):
            continue
        if design == "stratified":
            if by:
                designs[design] = Listed(equal_strata(strata), strata, strata)
            continue
        sizes, own, groups = sizes_of(sampling_frame, design, by)
        listed = None if groups is None else [groups[row] for row in rows]
        designs[design] = Listed(sizes[rows], [own[row] for row in rows], listed)
    needed = labels_needed(expected, designs, width, share=share, seed=seed, report=report)
    judge = "" if rate is not None or not sampling_frame.judges else sampling_frame.judges[sampling_frame.reference]
    text = f"rate={rate:g}" if rate is not None else f"judges={'+'.join(sampling_frame.judges)}"
    signature = (
        f"labels-needed|measure={sampling_frame.measure}|width={width:g}|{text}|accuracy={accuracy}|by={'+'.join(by)}"
        f"|share={share:g}|items={len(rows)}|seed={seed}"
    )
    free, assumed = int(sampling_frame.free.sum()), rate is not None or accuracy is not None
    return Forecast(needed, width, free, len(rows), judge, assumed, signature)


def _some(sampling_frame: Frame, seed: int) -> list[int]:
    """Return the rows that are simulated, drawn at random if there are many."""
    free = np.flatnonzero(sampling_frame.free).tolist()
    if len(free) <= MOST:
        return free
    hashes = [bytes(entry) for entry in sampling_frame.table["hash"]]
    return sorted(sorted(free, key=lambda row: random_place(f"{seed}|forecast", hashes[row]))[:MOST])
