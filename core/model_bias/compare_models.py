"""Several models on the same sentences: differences, correlations, agreement of signs. Never a ranking.

Several seeds of a model are one unit (docs/model_bias.md#models-side-by-side). This module finds the seeds among the
models of a file and summarises them together.

Counts of models (which models correlate, how many lean) count a model once, even if it was trained several times.
Groups are never silent: every result that uses groups shows them.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.model_bias.means import (
    BOUNDS,
    MEASURES,
    STILL,
    over_stems,
    prior_corrected,
    sizes,
    stems_of,
    weighted,
)
from evenhand.core.model_bias.score_files import finite_bias, models_of, rows_of
from evenhand.core.model_bias.summary import Summary
from evenhand.core.resources import stem_of
from evenhand.core.sentence_bias.bias import Denominator
from evenhand.core.statistics import RESAMPLES, Estimate, Note, Resampling
from evenhand.core.statistics.equivalence import Equivalence, Margins, Scale, equivalence
from evenhand.core.statistics.estimate import ACROSS_SEEDS
from evenhand.core.statistics.intervals import over_units
from evenhand.core.statistics.resampling import Numbers, over_subsets
from evenhand.core.statistics.units import UnitChoice, Units, codes_of, units_of

Method = Literal["pearson", "spearman"]
KEY = ["row", "sentence"]
COMPARED = (*MEASURES, "side_auc")
KINDS = {True: "prior-corrected", False: "raw"}
CORRELATED = ("value", "low", "high", "n", "stems", "kind", "band", "reason", "note")
LEAST = 3  # two points always lie on a line
Z = 1.959963984540054  # 97.5% of the normal distribution

NO_SHARED = Note(N_("The two models share no sentence with a finite Bias_c."))
TOO_FEW = Note(N_("Fewer than three shared sentences: the correlation of two points is always 1 or -1."))
CONSTANT = Note(N_("One model gives every sentence the same value, so the correlation is undefined."))
ONE_LACKS = Note(N_("One of the two models has no value for this measure, so there is no difference."))


def side_by_side(frame: pd.DataFrame) -> pd.DataFrame:
    """Return Bias_c in log10, a row per sentence, a column per model in the frame's order; NaN where not finite."""
    values = frame.assign(bias_log10=finite_bias(frame))
    table: pd.DataFrame = values.pivot(index=KEY, columns="model", values="bias_log10")
    return table[models_of(frame)]


def paired_difference(
    frame: pd.DataFrame,
    model_a: str,
    model_b: str,
    measure: str = "model_bias",
    **how: Any,
) -> Estimate:
    """Return *measure* of model_a minus that of model_b, in log10, on the sentences where both are finite.

    *unit* "auto": the interval is over the stems of the word pairs, each an independent lean; fewer than six give none.
    "sentence" and "source": paired, the same units are left out (or drawn) for both models, so what both find hard
    cancels out; it holds for other contexts of these pairs only. *measure*: one of MEASURES or "side_auc". Negative and
    positive say which is larger, not better. *how*: as in `paired_differences`.
    """
    if measure not in COMPARED:
        raise ValueError(f"no such measure: {measure}")
    return paired_differences(frame, model_a, model_b, **how)[measure]


def paired_differences(
    frame: pd.DataFrame,
    model_a: str,
    model_b: str,
    *,
    denominator: Denominator = "side",
    unit: UnitChoice = "auto",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return `paired_difference` of every measure from the same draws, at the cost of a single one."""
    first, second = _shared(rows_of(frame, model_a), rows_of(frame, model_b))
    if first.empty:
        return dict.fromkeys(COMPARED, Estimate.undefined(NO_SHARED))
    if unit == "auto":
        result, count = over_stems(first, less=second, denominator=denominator, seed=seed), stems_of(first).count
    else:
        units = units_of(first, unit)
        of_a, of_b = (weighted(part, units, denominator) for part in (first, second))

        def differences(weights: Numbers) -> dict[str, Numbers]:
            one, two = of_a(weights), of_b(weights)
            return {name: one[name] - two[name] for name in COMPARED}

        one, two = sizes(first, units), sizes(second, units)
        both = {name: one[name] + two[name] for name in one}
        result, count = over_units(Resampling(resamples, seed), differences, units.count, sizes=both), units.count
    return {name: result.get(name) or Estimate.undefined(ONE_LACKS, count) for name in COMPARED}


def _shared(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of both models for the same sentences, finite in both, in the same order."""
    one, two = (part[np.isfinite(part["bias_log10"])].set_index(KEY) for part in (first, second))
    common = one.index.intersection(two.index, sort=False)
    return one.loc[common].reset_index(), two.loc[common].reset_index()


def correlation(
    frame: pd.DataFrame, method: Method = "pearson", *, corrected: bool = True, seed: int = 0
) -> pd.DataFrame:
    """Return the correlation of the per-sentence Bias_c of every two models, on sentences where both are finite.

    *corrected*: Bias_c minus the mean of its pair, that is the effect of contexts. Raw values contain the leans of some
    twelve stems, which two unrelated models may share by chance. Columns a, b, value (-1 to 1), low, high (95%, over
    subsets of the stems), n, stems, kind ("prior-corrected", "raw"), band (see `null_band`; NaN for raw values),
    reason ("" where defined), note (the reason for a missing interval, else ""). Both orders and the diagonal are
    included, as a heatmap needs them. `attrs["notes"]` has the `Note` of each text for translation. The papers do not
    name the type (docs/model_bias.md#models-side-by-side). Undefined where a model is constant or fewer than 3
    sentences are shared.
    """
    values = prior_corrected(frame) if corrected else finite_bias(frame)
    table = side_by_side(frame.assign(bias_log10=values))
    places = frame.drop_duplicates(KEY).set_index(KEY)["pair"].reindex(table.index)
    entries = {
        (a, b): _correlated(table[a], table[b], places, method, seed)
        for a, b in combinations_with_replacement(table, 2)
    }
    kind = KINDS[corrected]
    rows = [
        {"a": a, "b": b, "kind": kind, **entries[(a, b) if (a, b) in entries else (b, a)]} for a in table for b in table
    ]
    data = pd.DataFrame(rows, columns=["a", "b", *CORRELATED])
    data = data if corrected else data.assign(band=np.nan)
    data = data.assign(note=["" if row["note"] is None else str(row["note"]) for row in rows])
    data.attrs["notes"] = {str(row["note"]): row["note"] for row in rows if row["note"] is not None}
    return data


def null_band(sentences: int, pairs: int) -> float:
    """Return the bound of prior-corrected correlations of unrelated models: 95 of 100 lie between minus and plus it.

    From untrained models (docs/nulls.md), Pearson and Spearman alike: 1.96 * sqrt(1.7 / (sentences - pairs) + 0.016).
    It does not shrink to 0, because any two models respond to length and position, which sentences share. 1 where
    sentences do not outnumber pairs.
    """
    return min(1.0, Z * float(np.sqrt(1.7 / (sentences - pairs) + 0.016))) if sentences > pairs else 1.0


def _correlated(
    a: "pd.Series[float]", b: "pd.Series[float]", pairs: "pd.Series[str]", method: Method, seed: int
) -> dict[str, object]:
    both = (a.notna() & b.notna()).to_numpy()
    x, y, n = a[both].to_numpy(), b[both].to_numpy(), int(both.sum())
    shared = pairs[both]
    empty = {**dict.fromkeys(("value", "low", "high", "band"), np.nan), "n": n, "stems": 0, "note": None}
    if n < LEAST:
        return {**empty, "reason": str(NO_SHARED if n == 0 else TOO_FEW)}
    if min(x.std(), y.std()) < STILL:
        return {**empty, "reason": str(CONSTANT)}
    stems = Units("stem", *codes_of(shared.map(stem_of)))
    result: dict[str, object] = {"n": n, "stems": stems.count, "band": null_band(n, shared.nunique()), "reason": ""}
    if a.name == b.name:
        return result | {"value": 1.0, "low": 1.0, "high": 1.0, "note": None}
    if method == "spearman":
        from scipy import stats  # scipy.stats takes a while to import

        x, y = stats.rankdata(x), stats.rankdata(y)
    sums = stems.sums(np.ones(n), x, y, x * x, y * y, x * y)
    estimate = over_subsets(lambda chosen: {"r": _pearson(chosen @ sums)}, stems.count, seed=seed)["r"]
    low, high = (np.nan if end is None else end for end in (estimate.low, estimate.high))
    return result | {"value": estimate.value, "low": low, "high": high, "note": estimate.note}


def _pearson(totals: Numbers) -> Numbers:
    """Return Pearson's r of sums n, x, y, xx, yy, xy (draws x 6); NaN where a variance is 0."""
    n, x, y, xx, yy, xy = totals.T
    spread = np.sqrt(np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0))
    result: Numbers = np.divide(xy - x * y / n, spread, out=np.full(n.shape, np.nan), where=spread > 1e-12)
    return np.clip(result, -1.0, 1.0)


def sign_agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for every two models the share of sentences on which both lean to the same side, 0 to 1.

    Columns a, b, value, low, high (95%, over the stems of the word pairs), n, chance (the share that two models with
    these lean rates would share by chance) and kappa (beyond chance). Only sentences that lean in both count: 0 has no
    side.
    """
    table = side_by_side(frame)
    rows = []
    for a, b in combinations_with_replacement(table, 2):
        values = _signs(frame, a, b, table)
        rows.append({"a": a, "b": b, **values})
        if a != b:
            rows.append({"a": b, "b": a, **values})
    order = {name: i for i, name in enumerate(table)}
    rows.sort(key=lambda row: (order[row["a"]], order[row["b"]]))
    return pd.DataFrame(rows, columns=["a", "b", "value", "low", "high", "n", "chance", "kappa", "reason"])


def _signs(frame: pd.DataFrame, a: str, b: str, table: pd.DataFrame) -> dict[str, object]:
    signs = np.sign(table[[a, b]].to_numpy())
    leaning = (np.nan_to_num(signs) != 0).all(axis=1)
    signs = signs[leaning]
    if not len(signs):
        return {**dict.fromkeys(("value", "low", "high", "chance", "kappa"), np.nan), "n": 0, "reason": str(NO_SHARED)}
    same = signs[:, 0] == signs[:, 1]
    male = (signs > 0).mean(axis=0)
    chance = float(male[0] * male[1] + (1 - male[0]) * (1 - male[1]))
    rows = rows_of(frame, a).set_index(KEY).loc[table.index[leaning]].reset_index()
    stems = stems_of(rows)
    sums = stems.sums(same.astype(float), np.ones(len(same)))
    share = over_subsets(lambda chosen: _share(chosen @ sums), stems.count)["share"]
    kappa = (float(same.mean()) - chance) / (1 - chance) if chance < 1 else np.nan
    interval = {"value": share.value, "low": share.low, "high": share.high}
    return {**interval, "n": len(same), "chance": chance, "kappa": kappa, "reason": ""}


def _share(totals: Numbers) -> dict[str, Numbers]:
    return {"share": totals[:, 0] / totals[:, 1]}


def scale_of(measure: str) -> Scale:
    """Return the scale of a measure of models."""
    return "auc" if measure == "side_auc" else "log10"


def against_margins(found: Mapping[str, Estimate], margins: Margins) -> dict[str, Equivalence]:
    """Return each measure of `paired_differences` against the margin of its scale."""
    return {name: equivalence(estimate, margins[scale_of(name)]) for name, estimate in found.items()}


SEED = re.compile(r"^(?P<model>.*\w)[-_. ](?:seed|s|run)[-_=]?\d+$", re.IGNORECASE)
LEAST_SEEDS = 3  # docs/model_bias.md#models-side-by-side

GROUPED = N_("Seeds of one model, counted as one: {groups}.")
FEW_SEEDS = Note(N_("Fewer than three seeds: no interval over seeds."))
NOT_ALL = Note(N_("A seed has no value for this measure."))
TAKEN = N_("{model} is in two groups of seeds.")
NO_MODEL = N_("These scores do not contain the model {model}. Available: {models}.")
UNREAD = N_("{text} is not a group of seeds. Write NAME=MODEL,MODEL.")

Groups = dict[str, tuple[str, ...]]


def seed_groups(
    models: Sequence[str], named: Mapping[str, Sequence[str]] | None = None, *, by_name: bool = True
) -> Groups:
    """Return the seeds among *models* by the name of their model: the groups of *named*, and with *by_name* others.

    *by_name* groups names that end in a seed, such as bert-seed1, bert_s2, bert-run3, if at least two models share the
    text before the seed. Raises NotFound for an unknown model, BadFile for a model that is named twice.
    """
    groups: Groups = {name: tuple(seeds) for name, seeds in (named or {}).items()}
    taken = [seed for seeds in groups.values() for seed in seeds]
    for model in taken:
        if model not in models:
            raise NotFound(NO_MODEL, model=model, models=", ".join(models))
        if taken.count(model) > 1:
            raise BadFile(TAKEN, model=model)
    result: dict[str, list[str]] = {}
    for model in models if by_name else ():
        if model not in taken and (parts := SEED.match(model)):
            result.setdefault(parts["model"], []).append(model)
    return groups | {name: tuple(seeds) for name, seeds in result.items() if len(seeds) > 1 and name not in groups}


def read_groups(texts: Sequence[str]) -> Groups:
    """Read groups of seeds as users write them: NAME=MODEL,MODEL. Raises BadFile for anything else."""
    groups: Groups = {}
    for text in texts:
        name, _, seeds = text.partition("=")
        models = tuple(part.strip() for part in seeds.split(",") if part.strip())
        if not name.strip() or len(models) < 2:
            raise BadFile(UNREAD, text=text)
        groups[name.strip()] = models
    return groups


def written_groups(groups: Groups) -> list[str]:
    """Write groups as users write them, the reverse of `read_groups`."""
    return [f"{name}={','.join(seeds)}" for name, seeds in groups.items()]


def grouping(groups: Groups) -> Note:
    """Return the sentence that shows a grouping."""
    return Note(GROUPED, {"groups": "; ".join(f"{name} ({', '.join(seeds)})" for name, seeds in groups.items())})


def unit_of(model: str, groups: Groups) -> str:
    """Return the model that a model counts as: the name of its group, or itself."""
    return next((name for name, seeds in groups.items() if model in seeds), model)


def over_seeds(summaries: Sequence[Summary]) -> dict[str, Estimate]:
    """Return each measure of a model as the mean over its seeds, with a t interval over seeds.

    Values are log10, side AUC 0 to 1. The interval shows how much another training changes the measure; word pairs and
    sentences are treated as fixed.
    """
    from scipy import stats  # scipy.stats takes a while to import

    result = {}
    for name in (*MEASURES, "side_auc"):
        known = [value for summary in summaries if (value := getattr(summary, name).value) is not None]
        if len(known) < len(summaries) or not known:
            result[name] = Estimate.undefined(NOT_ALL, len(summaries))
            continue
        values, mean, count = np.asarray(known), float(np.mean(known)), len(known)
        if count < LEAST_SEEDS:
            result[name] = Estimate(mean, units=count, note=FEW_SEEDS)
            continue
        se, bounds = float(values.std(ddof=1) / np.sqrt(count)), BOUNDS.get(name, (-np.inf, np.inf))
        reach = float(stats.t.ppf(0.975, count - 1)) * se
        ends = max(bounds[0], mean - reach), min(bounds[1], mean + reach)
        result[name] = Estimate(mean, *ends, count, se=se, df=count - 1, method=ACROSS_SEEDS)
    return result
