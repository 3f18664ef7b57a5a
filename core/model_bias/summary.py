"""Bias_man, Bias_woman, Model_bias of one model and the measures shown with them, with intervals.

See docs/model_bias.md#means.

Bounds show how far sentences without a value could move a mean, if all of them leaned to one word as far as any.

A mean over the sentences with a value is a mean of all only if the others are like them, which is unknown. The bounds
assume only the size (Manski 1989): every missing value is +v, then every missing value is -v.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.model_bias.means import (
    BOUNDS,
    MEASURES,
    NO_VALUE,
    STEM_MEASURES,
    Mass,
    VarianceShares,
    mass_of,
    over_stems,
    sizes,
    stems_of,
    variance_shares,
    weighted,
)
from evenhand.core.model_bias.score_files import is_reference, rows_of
from evenhand.core.resources import keyword_pairs
from evenhand.core.sentence_bias.bias import LN10, OBVIOUS, Denominator, Obvious, SideMeans, obvious, side_means
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling
from evenhand.core.statistics.intervals import T_OVER_UNITS, over_units
from evenhand.core.statistics.resampling import subsets_signature
from evenhand.core.statistics.units import UnitChoice, UnitKind, Units, units_of
from evenhand.core.typed_json import fields_of, to_json, with_reasons
from evenhand.core.types import JsonObject

NO_SIZE = Note(N_("No sentence has a finite non-zero value, so the magnitude of missing values is unknown."))
NO_ROWS = Note(N_("There are no sentences."))


@dataclass(frozen=True, slots=True)
class MissingValues:
    """Bounds over all `rows`: those with a value, `infinite` ones (side known, size not), `missing` ones.

    `missing`: undefined, rejected by the scoring, or under the chosen pair mass. `size` in log10 is what each missing
    or infinite one is given, by `size_is` the largest |Bias_c| of the model's rows or a requested one.
    The signed mean (log10), and the share of sentences that lean to the male word (0 to 1, no size is needed), if all
    missing ones lean to the female word, and if all lean to the male word. None with `reason`.
    """

    rows: int
    missing: int
    infinite: int
    size: float | None
    size_is: Literal["largest", "asked"]
    signed_mean_if_female: float | None = None
    signed_mean_if_male: float | None = None
    male_share_if_female: float | None = None
    male_share_if_male: float | None = None
    reason: Note | None = None
    explained_by: ClassVar = "reason"


def missing_values(rows: pd.DataFrame, *, least_mass: float | None = None, size: float | None = None) -> MissingValues:
    """Return the bounds for one model's rows; *size*: |Bias_c| (log10) of a missing value, None for the largest."""
    values = rows["bias_log10"].to_numpy(dtype=float)
    small = np.zeros(len(rows), dtype=bool) if least_mass is None else (rows["pair_mass"] < least_mass).to_numpy(bool)
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0)) or None
    chosen: Literal["largest", "asked"] = "largest" if size is None else "asked"
    given = largest if size is None else size
    missing = int((np.isnan(values) | small).sum())
    kept = values[~small & ~np.isnan(values)]
    infinite = int(np.isinf(kept).sum())
    if not len(rows):
        return MissingValues(0, 0, 0, given, chosen, reason=NO_ROWS)
    male = int((kept > 0).sum())
    share = (male / len(rows), (male + missing) / len(rows))
    if given is None and missing + infinite:
        return MissingValues(len(rows), missing, infinite, None, chosen, None, None, *share, NO_SIZE)
    given = given or 0.0
    total = math.fsum(np.where(np.isinf(kept), np.sign(kept) * given, kept))
    bounds = ((total - missing * given) / len(rows), (total + missing * given) / len(rows))
    return MissingValues(len(rows), missing, infinite, given, chosen, *bounds, *share)


Grouping = Literal["pair", "side", "masks", "group"]

NO_MALE = Note(N_("No sentence leans towards the male word."))
NO_FEMALE = Note(N_("No sentence leans towards the female word."))
NO_SIDE = Note(N_("One side has no sentences, so the mean of both sides is undefined."))
NO_TWO_SIDES = Note(N_("No word pair has sentences on both sides, so nothing can be compared."))


@dataclass(frozen=True, slots=True)
class Thresholded:
    """The means after every |Bias_c| < 0.3 is set to 0, in log10 (docs/model_bias.md#what-bias_c-mixes).

    A value of 0 belongs to no side, so `model_bias` rises while `mean_abs` falls: both are needed. `zeroed` of the
    values were set to 0.
    """

    model_bias: float | None
    mean_abs: float | None
    zeroed: int
    reason: Note | None = None
    explained_by: ClassVar = "reason"


@dataclass(frozen=True, slots=True)
class Summary:
    """One model (or a `group` of its sentences) in numbers; every mean is in log10, `ln` gives it in ln.

    `rows` = `n` (finite) + `undefined` + `infinite` + `left_out` (pair mass under the chosen threshold).
    `signed_mean` > 0 leans male. `obvious` counts add up to `n`. Undefined estimates have a reason.
    The intervals of `signed_mean` and `side_auc` are over the `stems` of the word pairs, of which each is one
    independent lean; `fixed_pairs` has the two with intervals over sentences or articles, and these hold for other
    contexts of these pairs only. So do the intervals of the other means. A group that is a single pair has the latter.
    """

    model: str
    signature: str
    group: str
    rows: int
    n: int
    undefined: int
    infinite: int
    left_out: int
    n_man: int
    n_woman: int
    bias_man: Estimate
    bias_woman: Estimate
    model_bias: Estimate
    signed_mean: Estimate
    mean_abs: Estimate
    obvious: Obvious
    pair_mass: Mass
    variance_shares: VarianceShares
    side_auc: Estimate
    small_set_to_zero: Thresholded
    denominator: Denominator
    unit: UnitKind
    units: int
    intervals: str
    reference: bool
    missing: MissingValues
    stems: int
    fixed_pairs: Mapping[str, Estimate]

    def ln(self, name: str) -> Estimate:
        """Return a measure by its name, in natural logarithms: `summary.ln("model_bias")`."""
        return in_ln(getattr(self, name))

    def to_json(self) -> JsonObject:
        """Return everything but the names of model and group; means in log10 and ln."""
        facts = {name: fact for name, fact in fields_of(self).items() if name not in ("model", "group")}
        measures = measures_json({name: fact for name, fact in facts.items() if isinstance(fact, Estimate)})
        data: JsonObject = to_json(facts | measures | {"fixed_pairs": measures_json(self.fixed_pairs)})
        return data


def measures_json(estimates: Mapping[str, Estimate]) -> dict[str, JsonObject]:
    """Return measures by name: means in log10 and ln (`low`, `high` are log10), the side AUC on its own scale."""
    return {
        name: estimate.to_json("units", reasons="every") if name == "side_auc" else _mean_json(estimate)
        for name, estimate in estimates.items()
    }


def _mean_json(estimate: Estimate) -> JsonObject:
    ln = in_ln(estimate)
    data: JsonObject = {
        "log10": estimate.value, "ln": ln.value, "low": estimate.low, "high": estimate.high, "low_ln": ln.low,
        "high_ln": ln.high,
    }  # fmt: skip
    note = {"note": str(estimate.note)} if estimate.note and estimate.low is not None else {}
    return with_reasons(data, estimate.missing) | note | estimate.method_data


def in_ln(estimate: Estimate) -> Estimate:
    """Convert an estimate from log10 to ln."""
    value, low, high, se = (
        None if x is None else x * LN10 for x in (estimate.value, estimate.low, estimate.high, estimate.se)
    )
    inner = estimate.inner and (estimate.inner[0] * LN10, estimate.inner[1] * LN10)
    return replace(estimate, value=value, low=low, high=high, se=se, inner=inner)


def summarise(
    rows: pd.DataFrame,
    *,
    model: str | None = None,
    denominator: Denominator = "side",
    unit: UnitChoice = "auto",
    least_mass: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    group: str = "",
    missing_size: float | None = None,
) -> Summary:
    """Return the summary of one model's rows (the rows of *model*, if the frame has several models).

    denominator "side" divides each side's sum by the sentences of that side, "all" by all sentences. least_mass leaves
    out rows whose pair mass is known and below it. Intervals are over units, see `units_of`. missing_size: see
    `missing_values`. Source: docs/methods.md#bias-of-a-model.
    """
    rows = rows if model is None else rows_of(rows, model)
    kept = rows if least_mass is None else rows[~(rows["pair_mass"] < least_mass)]
    means = side_means(kept["bias_log10"].tolist(), denominator=denominator)
    finite = kept[np.isfinite(kept["bias_log10"])]
    units, draws = units_of(finite, unit), Resampling(resamples, seed)
    fixed, headline, drawn = _intervals(finite, units, means, denominator, draws, group)
    name = str(rows["model"].iloc[0]) if len(rows) else model or ""
    return Summary(
        model=name,
        signature=" + ".join(s for s in rows["signature"].drop_duplicates() if s),
        group=group,
        rows=len(rows),
        n=means.n,
        undefined=means.undefined,
        infinite=means.infinite,
        left_out=len(rows) - len(kept),
        n_man=means.n_man,
        n_woman=means.n_woman,
        **(fixed | headline),
        obvious=obvious(kept["bias_log10"].tolist()),
        pair_mass=mass_of(kept),
        variance_shares=variance_shares(kept),
        small_set_to_zero=thresholded(finite["bias_log10"]),
        denominator=denominator,
        unit=units.kind,
        units=units.count,
        intervals=drawn,
        reference=is_reference(name),
        missing=missing_values(rows, least_mass=least_mass, size=missing_size),
        stems=stems_of(finite).count,
        fixed_pairs={name: fixed[name] for name in STEM_MEASURES},
    )


def _intervals(
    finite: pd.DataFrame,
    units: Units,
    means: SideMeans,
    denominator: Denominator,
    resampling: Resampling,
    group: str,
) -> tuple[dict[str, Estimate], dict[str, Estimate], str]:
    """Return all measures over sentences or articles, the headline measures over stems, and the method of both."""
    values = over_units(resampling, weighted(finite, units, denominator), units.count, BOUNDS, sizes(finite, units))
    fixed = {name: values.get(name) or _undefined(name, means) for name in (*MEASURES, "side_auc")}
    drawn = resampling.signature(units.kind, T_OVER_UNITS)
    if group and finite["pair"].nunique() == 1:
        return fixed, {}, drawn
    how = subsets_signature("stem", stems_of(finite).count, resampling.seed)
    headline = over_stems(finite, STEM_MEASURES, denominator=denominator, seed=resampling.seed)
    return fixed, headline, f"{drawn}; {','.join(STEM_MEASURES)} {how}"


def summarise_by(
    rows: pd.DataFrame,
    by: Grouping,
    *,
    model: str | None = None,
    unit: UnitChoice = "auto",
    **how: Any,
) -> list[Summary]:
    """Return one summary per word pair, side of the source, mask width, or `group` of the file; `group` names it.

    Pairs come in the order of the pair table, then in that of the file; sides male first; widths and
    groups ascending. Where
    *unit* is "auto" it is chosen for all rows together, so that the groups compare. *how*: as in `summarise`.
    """
    rows = rows if model is None else rows_of(rows, model)
    kind: UnitChoice = "source" if units_of(rows, unit).kind == "source" else "sentence"
    chosen = rows[rows[by] != ""] if by in ("side", "group") else rows
    names = {str(name): part for name, part in chosen.groupby(by, sort=False)}
    return [summarise(names[name], unit=kind, group=name, **how) for name in _ordered(list(names), by)]


def thresholded(values: pd.Series) -> Thresholded:
    """Return Model_bias and mean |Bias_c| after every |Bias_c| < OBVIOUS is set to 0 (denominator "side")."""
    finite = values[np.isfinite(values)]
    small = finite.abs() < OBVIOUS
    cut = finite.mask(small, 0.0)
    mean_abs = float(cut.abs().mean()) if len(cut) else None
    model_bias = side_means(cut.tolist()).model_bias
    reason = NO_VALUE if mean_abs is None else NO_SIDE if model_bias is None else None
    return Thresholded(model_bias, mean_abs, int(small.sum()), reason)


def _ordered(names: Sequence[str], by: Grouping) -> list[str]:
    if by in ("masks", "group"):
        return sorted(names, key=int if by == "masks" else str)
    known = ["male", "female"] if by == "side" else [pair.name for pair in keyword_pairs()]
    return [*(name for name in known if name in names), *(name for name in names if name not in known)]


def _undefined(name: str, means: SideMeans) -> Estimate:
    if means.n == 0:
        return Estimate.undefined(NO_VALUE)
    reasons = {"bias_man": NO_MALE, "bias_woman": NO_FEMALE, "model_bias": NO_SIDE, "side_auc": NO_TWO_SIDES}
    return Estimate.undefined(reasons[name], means.n)
