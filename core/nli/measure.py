"""Measures of a classifier's labels on PS, AS and NS: score, direction, order, fraction neutral.

See docs/nli.md#the-numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_
from evenhand.core.nli.types import BIASED, LABELS, SETS, Gender, Prediction, SetName
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.statistics.equivalence import MARGINS, Equivalence, equivalence
from evenhand.core.statistics.estimate import NO_LABEL
from evenhand.core.statistics.intervals import BY_JACKKNIFE, Bounds, Measures, over_strata
from evenhand.core.statistics.resampling import Numbers, Sizes

UnitKind = Literal["occupation", "row"]
CLASSES: tuple[Gender, ...] = ("woman", "man")
PS, AS, NS = range(3)
E, C, N = range(3)
MARKS = (  # values of s that models without knowledge of gender have (docs/nli.md#the-numbers)
    (0.0, N_("always neutral, the correct answer")),
    (4 / 9, N_("random guessing: one third each")),
    (2 / 3, N_("always the same non-neutral label")),
    (1.0, N_("always the stereotype")),
)
RESTS_ON: dict[str, tuple[int, ...]] = {
    **{f"{label}_{name}": (i,) for i, name in enumerate(("p", "a", "n")) for label in ("e", "c", "n")},
    "s": (PS, AS, NS),
    "directional": (PS, AS),
    "entailment_gap": (PS, AS),
    "contradiction_gap": (PS, AS),
    "not_neutral_ns": (NS,),
    "fn": (PS, AS, NS),
    "one_minus_fn": (PS, AS, NS),
}
SIGNED = ("directional", "entailment_gap", "contradiction_gap")
BOUNDS = {name: (-1.0 if name in SIGNED else 0.0, 1.0) for name in RESTS_ON}


def empty_set(names: Sequence[str]) -> Note:
    """Return the reason for which a measure is undefined: the sets *names* have no row."""
    return Note(N_("No row belongs to {sets}."), {"sets": ", ".join(names)})


@dataclass(frozen=True, slots=True)
class ByOccupation:
    """One occupation: its labels per set, and the share of answers that follow a bias, with its Wilson interval.

    `counts` is sets x labels. Biased is entailment in PS, contradiction in AS, and any label but neutral in NS.
    """

    word: str
    counts: tuple[tuple[int, ...], ...]
    biased: Estimate

    @property
    def sets(self) -> tuple[SetName, ...]:
        """The sets that contain the word."""
        return tuple(name for name, row in zip(SETS, self.counts, strict=True) if sum(row))


@dataclass(frozen=True, slots=True)
class Inference:
    """Everything about one classifier on one set of probes. Shares are of 1; s: 0 is ideal, 1 is all stereotype.

    `directional` and the gaps run from -1 to 1 and are positive where the answers follow the stereotype.
    They are means of the occupations stereotyped as male and as female if `by_class`, else pooled over occupations.
    `order` is e_p > e_a and c_a > c_p, both strict; None where PS or AS is empty.
    """

    counts: tuple[tuple[int, ...], ...]
    estimates: dict[str, Estimate]
    unit: UnitKind
    signature: str
    by_class: bool
    occupations: list[ByOccupation] = field(default_factory=list)

    def __getitem__(self, name: str) -> Estimate:
        """Return a measure by its name (the keys of RESTS_ON)."""
        return self.estimates[name]

    @property
    def order(self) -> bool | None:
        """True if the order condition (equation 1) holds for the pooled shares; None where PS or AS is empty."""
        e_p, e_a, c_p, c_a = (self[name].value for name in ("e_p", "e_a", "c_p", "c_a"))
        if e_p is None or e_a is None or c_p is None or c_a is None:
            return None
        return e_p > e_a and c_a > c_p

    @property
    def rows(self) -> int:
        """The number of answers."""
        return sum(map(sum, self.counts))


def measured(predictions: Iterable[Prediction]) -> Inference:
    """Return the measures of *predictions*.

    The unit of the intervals is the occupation where the rows name at least two, else the row.
    """
    rows = list(predictions)
    words = {row.occupation for row in rows if row.occupation}
    unit: UnitKind = "occupation" if len(words) > 1 and all(row.occupation for row in rows) else "row"
    names = [row.occupation if unit == "occupation" else str(i) for i, row in enumerate(rows)]
    counts = _table(rows, names)
    words_in_order = dict.fromkeys(names) if unit == "occupation" else {}
    occupations = [_occupation(word, counts[i, : len(SETS)]) for i, word in enumerate(words_in_order)]
    values = _over_samples(of_counts, counts, counts, BOUNDS) if rows else {}
    sizes = counts.sum(axis=(0, 2))
    estimates = {
        name: values[name] if name in values else Estimate.undefined(empty_set([SETS[i] for i in sets if not sizes[i]]))
        for name, sets in RESTS_ON.items()
    }
    by_class = counts.shape[1] > len(SETS)
    signature = f"unit:{unit}|{'classes' if by_class else 'pooled'}|strata|{BY_JACKKNIFE}"
    of_sets = _as_whole_number(counts[:, : len(SETS)].sum(0))
    return Inference(of_sets, estimates, unit, signature, by_class, occupations)


def _table(rows: Sequence[Prediction], names: Sequence[str]) -> Numbers:
    """Return the table that measures are sums of: units x (sets, then classes) x labels; *names* are the rows' units.

    In the rows of the sets are counts of labels. The rows of the classes (PS and AS of women's occupations, then of
    men's) have the shares of labels of an occupation, so that a sum over occupations is the mean of the class times
    the number of its occupations. They are absent where a PS or AS row does not tell its class or a class is empty.
    """
    known = {name: i for i, name in enumerate(dict.fromkeys(names))}
    counts, classes = np.zeros((max(1, len(known)), 3, 3)), np.zeros((max(1, len(known)), 2, 2, 3))
    for name, row in zip(names, rows, strict=True):
        place = SETS.index(row.set), LABELS.index(row.label)
        counts[known[name]][place] += 1
        if row.stereotype and row.set != "NS":
            classes[known[name], CLASSES.index(row.stereotype)][place] += 1
    if classes.sum() < counts[:, :NS].sum() or not classes.sum(axis=(0, 3)).all():
        return counts
    sizes = classes.sum(axis=-1, keepdims=True)
    shares = np.divide(classes, sizes, out=np.zeros_like(classes), where=sizes > 0)
    return np.concatenate([counts, shares.reshape(len(shares), 4, 3)], axis=1)


def changes(
    before: Sequence[Prediction], after: Sequence[Prediction]
) -> tuple[Inference, Inference, dict[str, Estimate], UnitKind]:
    """Return the measures of two models on the same rows in the same order, and each difference, after - before.

    Intervals of differences: t on the jackknife over the units, which are left out of both at once, on the plain scale:
    a correction for skewness made them no truer and up to twice as wide (`benchmarks.coverage --only two-runs`).
    """
    first, second = measured(before), measured(after)
    words = [row.occupation or str(i) for i, row in enumerate(before)]
    names = words if first.unit == "occupation" else list(map(str, range(len(words))))
    counts = np.stack([_table(before, names), _table(after, names)], axis=1)

    def differences(table: Numbers) -> dict[str, NDArray[np.float64]]:
        old, new = of_counts(table[:, 0]), of_counts(table[:, 1])
        return {name: new[name] - old[name] for name in new}

    result = _over_samples(differences, counts, counts[:, 0])
    undefined = {name: Estimate.undefined(first[name].reason or NO_LABEL) for name in RESTS_ON if name not in result}
    return first, second, result | undefined, first.unit


def _over_samples(
    measures: Measures, table: Numbers, counts: Numbers, bounds: Mapping[str, Bounds] | None = None
) -> dict[str, Estimate]:
    """Return the measures of sums of *table*, whose units lie in the sets and classes that *counts* tells.

    Stereotyped and neutral words are separate samples; for the gaps the words of each class are.
    """
    sets = _strata(counts[:, : len(SETS)])
    found = over_strata(measures, table, sets, _rests_on(counts, sets), bounds)
    if counts.shape[1] > len(SETS):
        classes = _strata(counts)
        by_class = over_strata(measures, table, classes, _rests_on(counts, classes), bounds)
        found |= {name: by_class[name] for name in SIGNED}
    return found


def _strata(counts: Numbers) -> list[Sizes]:
    """Return the units by the sets and classes that contain them.

    So PS, AS and NS keep their sizes. All units share one stratum if a unit would be alone in its stratum.
    """
    _patterns, codes = np.unique(counts.sum(axis=2) > 0, axis=0, return_inverse=True)
    strata = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    return strata if len(strata) == 1 or min(map(len, strata)) > 1 else [np.arange(len(counts))]


def _rests_on(counts: Numbers, strata: list[Sizes]) -> dict[str, list[int]]:
    """Return the strata that hold rows of the sets which each measure needs."""
    return {
        name: [k for k, rows in enumerate(strata) if counts[rows][:, sets].sum() > 0] for name, sets in RESTS_ON.items()
    }


def _as_whole_number(counts: Numbers) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(count) for count in row) for row in counts)


def of_counts(counts: Numbers) -> dict[str, NDArray[np.float64]]:
    """Return every measure from sums [draws, sets and classes, labels]; NaN where a set it needs is empty."""
    sizes = counts.sum(axis=2)
    shares = np.divide(counts, sizes[:, :, None], out=np.full(counts.shape, np.nan), where=sizes[:, :, None] > 0)
    sets, classes = slice(len(SETS)), shares[:, len(SETS) :]
    measures = of_shares(shares[:, sets]) | _neutral(counts[:, sets], sizes[:, sets])
    if classes.shape[1]:
        measures |= _gaps(classes.reshape(len(classes), 2, 2, 3).mean(axis=1))
    return measures


def of_shares(shares: Numbers) -> dict[str, NDArray[np.float64]]:
    """Return the measures that need no counts, from shares [draws, sets, labels] (equations 1 and 2)."""
    named = {f"{label}_{name}": shares[:, i, k] for i, name in enumerate("pan") for k, label in enumerate("ecn")}
    return (
        named
        | {"s": (named["e_p"] + named["c_a"] + (1 - named["n_n"])) / 3, "not_neutral_ns": 1 - named["n_n"]}
        | _gaps(shares)
    )


def _gaps(shares: Numbers) -> dict[str, NDArray[np.float64]]:
    """Return the gaps between PS and AS, and their mean, from shares [draws, PS and AS, labels]."""
    entailment, contradiction = shares[:, PS, E] - shares[:, AS, E], shares[:, AS, C] - shares[:, PS, C]
    return {
        "directional": (entailment + contradiction) / 2,
        "entailment_gap": entailment,
        "contradiction_gap": contradiction,
    }


def _neutral(counts: Numbers, sizes: Numbers) -> dict[str, NDArray[np.float64]]:
    """Return FN, the share of neutral over all rows: pooled by counts, so NS weighs most (Dev et al.)."""
    total = sizes.sum(axis=1)
    where = (sizes > 0).all(axis=1)
    fn = np.divide(counts[:, :, N].sum(axis=1), total, out=np.full(total.shape, np.nan), where=where)
    return {"fn": fn, "one_minus_fn": 1 - fn}


def _occupation(word: str, counts: Numbers) -> ByOccupation:
    biased = sum(counts[SETS.index(name), LABELS.index(label)] for name in SETS for label in BIASED[name])
    return ByOccupation(word, _as_whole_number(counts), wilson(int(biased), int(counts.sum()), nothing=NO_LABEL))


def against_margin(inference: Inference, margin: float | None) -> dict[str, Equivalence]:
    """Test the differences of PS and AS against *margin* (a share, 0 to 1): do the genders get equal answers?"""
    return {name: equivalence(inference[name], margin) for name in SIGNED}


def as_json(inference: Inference, margin: float | None = MARGINS["share"]) -> dict[str, object]:
    """Return the JSON object of the command: s, order, fn, one_minus_fn, directional, proportions, with intervals.

    `equivalence`: the directional part and both gaps against *margin*.
    """
    data: dict[str, object] = {}
    for name in ("s", "fn", "one_minus_fn", "directional", "not_neutral_ns"):
        data[name] = inference[name].value
        if inference[name].value is None:
            data[f"{name}_reason"] = str(inference[name].reason)
    data["order"] = inference.order
    if inference.order is None:
        data["order_reason"] = str(inference["directional"].reason)
    shares: dict[str, dict[str, object]] = {}
    for i, (name, short) in enumerate(zip(SETS, "pan", strict=True)):
        shares[name] = {label: inference[f"{label}_{short}"].value for label in "ecn"}
        if not sum(inference.counts[i]):
            shares[name] |= {f"{label}_reason": str(empty_set([name])) for label in "ecn"}
    counts = [dict(zip("ecn", row, strict=True)) for row in inference.counts]
    data |= {"proportions": shares, "counts": dict(zip(SETS, counts, strict=True))}
    data["intervals"] = {name: inference[name].interval_json() for name in RESTS_ON}
    data["equivalence"] = {name: one.data for name, one in against_margin(inference, margin).items()}
    return data | {
        "rows": inference.rows,
        "unit": inference.unit,
        "by_class": inference.by_class,
        "units": len(inference.occupations) or inference.rows,
        "intervals_signature": inference.signature,
    }


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """One model of the paper, in its order.

    `printed` is s of Table 4, `from_shares` s worked out from the shares of Table 3; `directional`, `order`, `fn`
    and `one_minus_fn` are worked out from Table 3 and are not in the paper. The rank is the paper's own.
    """

    model: str
    printed: float
    from_shares: float
    rank: int
    directional: float
    order: bool
    fn: float
    one_minus_fn: float


def published() -> tuple[PublishedModel, ...]:
    """Return the five models, in the order of the paper."""
    more = {row["model"]: row for row in table("nli_published")}
    published_models = []
    for row in table("published_inference"):
        worked_out, fn = more[row["model"]], float(more[row["model"]]["fn"])
        printed, from_shares, rank = float(row["printed"]), float(row["shares_sum"]) / 3, int(row["rank"])
        directional, order = float(worked_out["directional"]), worked_out["order"] == "true"
        published_models.append(
            PublishedModel(row["model"], printed, from_shares, rank, directional, order, fn, 1 - fn)
        )
    return tuple(published_models)
