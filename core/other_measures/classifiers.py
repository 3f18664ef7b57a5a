"""Gaps of a classifier from its predictions: FPED and FNED, swap consistency, the F1 gap of WinoBias.

See docs/other_measures.md#classifiers.

FPED of Dixon et al. 2018: the sum over groups of |FPR - FPR_g|, FPR over all texts. The thesis (002) defines it
between the originals and their swapped copies, |FPR - FPR_swapped|: another quantity, so it has another name here. FNED
likewise with the false negative rate. F1 here is over decisions: right ones against all predicted and all wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.readers import open_source, rows
from evenhand.core.statistics import Estimate, Note, wilson

GOLD, PREDICTED, SWAPPED, GROUP, SET = "gold", "predicted", "predicted_swapped", "group", "set"
YES = {"1", "true", "yes", "positive", "toxic"}
NO = {"0", "false", "no", "negative", "neutral"}
SHUFFLES = 2_000
MOST_ROWS = 200_000
EVERY_LABEL = 30  # different labels at most in a message

NO_COLUMNS = N_("{file} needs the columns gold and predicted; it has: {found}.")
NOTHING_TO_DO = N_(
    "{file} needs one of the columns group (for FPED and FNED), predicted_swapped (for swapped"
    " copies) and set with pro and anti (for the F1 gap)."
)
NO_LABEL = N_("{file}, line {line}: {found} is not a binary label; use 1 or 0.")
TOO_MANY = N_("{file} has more than {most} rows.")
NO_NEGATIVES = Note(N_("A group has no negative texts, so its false positive rate is undefined."))
NO_POSITIVES = Note(N_("A group has no positive texts, so its false negative rate is undefined."))
NO_SWAPS = Note(N_("No text has a prediction for its swapped copy."))
NO_F1 = Note(N_("F1 is undefined for one of the two sets."))
SUM_OF_SIZES = Note(
    N_("No interval: a sum of absolute gaps exceeds 0 by chance. Compare it with its null distribution.")
)
NO_STUDY = Note(N_("No interval: its coverage has not been studied."))

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap of error rates: `value` (0 or more), the rate of each group, and the gap of shuffled groups.

    `null`: the mean and the 95th percentile where groups are shuffled within each gold label; `p` = (k + 1)/(n + 1).
    """

    name: str
    value: Estimate
    overall: float | None
    by_group: dict[str, float | None]
    null: tuple[float, float] | None = None
    p: float | None = None

    def to_json(self) -> dict[str, object]:
        """Return the gap for `--json`."""
        null = dict(zip(("null_mean", "null_95"), self.null or (None, None), strict=True))
        value = {"value": self.value.value} | self.value.reason_of("value")
        return {**value, "overall": self.overall, "by_group": self.by_group, **null, "p": self.p}


@dataclass(slots=True)
class ClassifierGaps:
    """The results that a table of predictions allows: gaps, swap consistency (None: not asked), F1 of both sets."""

    rows: int
    gaps: list[Gap] = field(default_factory=list)
    consistency: Estimate | None = None
    f1: dict[str, float | None] = field(default_factory=dict)
    f1_gap: Estimate | None = None

    def to_json(self) -> dict[str, object]:
        """Return the gaps by name for `--json`."""
        result: dict[str, object] = {"rows": self.rows} | {gap.name: gap.to_json() for gap in self.gaps}
        if self.consistency is not None:
            result["swap_consistency"] = self.consistency.numbers("n") | self.consistency.reason_of("value")
        if self.f1_gap is not None:
            result["f1"] = {**self.f1, "gap": self.f1_gap.value} | self.f1_gap.reason_of("gap")
        return result


def read_gaps(path: Path, seed: int = 0) -> ClassifierGaps:
    """Return all gaps that a table of predictions allows.

    Its columns are gold and predicted, and optionally group, predicted_swapped, set.

    With group or predicted_swapped labels are 1 and 0 (also yes and no, toxic and neutral); with set (pro, anti) they
    may be anything, an empty prediction is none. Raises BadFile.
    """
    source = open_source(path)
    if not {GOLD, PREDICTED} <= set(source.columns):
        raise BadFile(NO_COLUMNS, file=path.name, found=", ".join(source.columns[:EVERY_LABEL]))
    if not {GROUP, SWAPPED, SET} & set(source.columns):
        raise BadFile(NOTHING_TO_DO, file=path.name)
    table: list[tuple[int, dict[str, str]]] = []
    for row in rows(source):
        if len(table) == MOST_ROWS:
            raise BadFile(TOO_MANY, file=path.name, most=f"{MOST_ROWS:,}")
        table.append((row.line, {key: str(value or "").strip() for key, value in row.values.items()}))
    classifier_gaps = ClassifierGaps(len(table))
    if {GROUP, SWAPPED} & set(source.columns):
        gold, predicted = (_labels(path.name, table, name) for name in (GOLD, PREDICTED))
        if GROUP in source.columns:
            classifier_gaps.gaps += error_gaps(gold, predicted, [row[GROUP] for _, row in table], seed)
        if SWAPPED in source.columns:
            _add_swapped(classifier_gaps, path.name, table, gold, predicted)
    if SET in source.columns:
        _add_f1(classifier_gaps, [row for _, row in table])
    return classifier_gaps


def error_gaps(gold: Flags, predicted: Flags, groups: Sequence[str], seed: int = 0) -> list[Gap]:
    """Return FPED and FNED over *groups* (Dixon et al. 2018), each with its null."""
    names = list(dict.fromkeys(group for group in groups if group))
    codes = np.array([names.index(group) if group in names else -1 for group in groups])
    return [
        _gap("fped", predicted, ~gold, codes, names, NO_NEGATIVES, seed),
        _gap("fned", ~predicted, gold, codes, names, NO_POSITIVES, seed),
    ]


def _gap(
    name: str, wrong: Flags, among: Flags, codes: NDArray[np.int64], names: Sequence[str], why: Note, seed: int
) -> Gap:
    """Return the gaps of the rate of *wrong* within *among*, over all rows and by group."""
    errors, own = wrong[among].astype(float), codes[among]
    counts = np.bincount(own[own >= 0], minlength=len(names))
    by_group = {text: float(errors[own == i].mean()) if counts[i] else None for i, text in enumerate(names)}
    overall = float(errors.mean()) if len(errors) else None
    if overall is None or not names or not counts.all():
        return Gap(name, Estimate.undefined(why, len(errors)), overall, by_group)
    value = _sum_of_gaps(errors, own, counts)
    random = np.random.default_rng(seed)
    null = np.array([_sum_of_gaps(errors, random.permutation(own), counts) for _ in range(SHUFFLES)])
    p = (int((null >= value - 1e-9).sum()) + 1) / (SHUFFLES + 1)
    estimate = Estimate(value, units=len(errors), note=SUM_OF_SIZES)
    return Gap(name, estimate, overall, by_group, (float(null.mean()), float(np.percentile(null, 95))), p)


def _sum_of_gaps(errors: NDArray[np.float64], codes: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    named = codes >= 0
    sums = np.bincount(codes[named], weights=errors[named], minlength=len(counts))
    return float(np.abs(sums / counts - errors.mean()).sum())


def swapped_gap(name: str, wrong: Flags, wrong_swapped: Flags, among: Flags, why: Note) -> Gap:
    """Return the thesis's gap between originals and swapped copies: |rate - rate of the copies|."""
    if not among.any():
        return Gap(name, Estimate.undefined(why), None, {})
    original, swapped = float(wrong[among].mean()), float(wrong_swapped[among].mean())
    estimate = Estimate(abs(original - swapped), units=int(among.sum()), note=NO_STUDY)
    return Gap(name, estimate, original, {"original": original, "swapped": swapped})


def _add_swapped(
    classifier_gaps: ClassifierGaps,
    file: str,
    table: Sequence[tuple[int, dict[str, str]]],
    gold: Flags,
    predicted: Flags,
) -> None:
    both = np.array([bool(row[SWAPPED]) for _, row in table])
    swapped = np.zeros(len(table), dtype=bool)
    swapped[both] = _labels(file, [row for row, known in zip(table, both, strict=True) if known], SWAPPED)
    classifier_gaps.gaps += [
        swapped_gap("fped_swapped", predicted, swapped, both & ~gold, NO_NEGATIVES),
        swapped_gap("fned_swapped", ~predicted, ~swapped, both & gold, NO_POSITIVES),
    ]
    classifier_gaps.consistency = wilson(int((predicted == swapped)[both].sum()), int(both.sum()), nothing=NO_SWAPS)


def _add_f1(classifier_gaps: ClassifierGaps, table: Sequence[dict[str, str]]) -> None:
    for name in ("pro", "anti"):
        classifier_gaps.f1[name] = f1([(row[GOLD], row[PREDICTED]) for row in table if row[SET].lower() == name])
    pro, anti = classifier_gaps.f1["pro"], classifier_gaps.f1["anti"]
    units = sum(row[SET].lower() in ("pro", "anti") for row in table)
    classifier_gaps.f1_gap = Estimate.undefined(NO_F1, units)
    if pro is not None and anti is not None:
        classifier_gaps.f1_gap = Estimate(pro - anti, units=units, note=NO_STUDY)


def f1(decisions: Sequence[tuple[str, str]]) -> float | None:
    """Return F1 of (gold, predicted), 0 to 1: 2 right / (predicted + wanted), where "" means no label; else None."""
    right = sum(gold == predicted != "" for gold, predicted in decisions)
    predicted, wanted = (sum(pair[i] != "" for pair in decisions) for i in (1, 0))
    return 2 * right / (predicted + wanted) if predicted + wanted else None


def _labels(file: str, table: Sequence[tuple[int, dict[str, str]]], column: str) -> Flags:
    result = []
    for line, row in table:
        word = row.get(column, "").lower()
        if word not in YES | NO:
            raise BadFile(NO_LABEL, file=file, line=line, found=row.get(column, "") or "''")
        result.append(word in YES)
    return np.array(result, dtype=bool)
