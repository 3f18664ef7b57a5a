"""Every measure of misgendering on a table of verdicts, or on one cell, and of a run's texts.

See docs/misgendering.md#the-numbers.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_, BadFile
from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.misgendering.agreement import (
    BOUNDS,
    NO_PAIR,
    BetaFit,
    Cells,
    by_units,
    cells,
    disagreement,
    fit_beta,
    kappa,
    mcc,
    raw_agreement,
)
from evenhand.core.misgendering.verdict_table import (
    cell_columns,
    generations_of,
    has_templates,
    row_means,
    templates_of,
    without_pronoun,
)
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import BY_JACKKNIFE, over_clusters
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters, clusters_of
from evenhand.core.text.repetition import Repeated, full_text, repetitiveness, summary
from evenhand.core.types import JsonObject

LEVELS = ("0", "0.4", "0.49")  # of five: all alike, one differs, two differ
FIVE = 5
NO_VERDICT = Note(N_("No instance has a verdict."))
NOT_FIVE = Note(N_("No instance has five verdicts, so the three levels cannot be shown."))
ONE_ROW = Note(N_("Only one instance: no standard error."))


@dataclass(frozen=True, slots=True)
class Variation:
    """Instance variation of a set.

    `mean` of sigma over instances, 0 to 0.5, with its interval over units; `std` of the population (ddof 0), None
    without instances. `complete`: the number of instances with five verdicts; `levels`: their shares at each of
    LEVELS, None without such instances. `n` instances have a sigma, `dropped` have no verdict at all.
    """

    mean: Estimate
    std: float | None
    levels: dict[str, float] | None
    n: int
    complete: int
    dropped: int


def sigmas(verdicts: Numbers) -> Numbers:
    """Return the population standard deviation (ddof 0) of each row of verdicts: 0, 1 or NaN (missing).

    NaN for a row with no verdict; 0 for a row with one.
    """
    share = row_means(verdicts)
    # Of 0 and 1 the mean says all: sigma = sqrt(p (1 - p)), and it is exactly 0 where all are alike.
    spread: Numbers = np.sqrt(share * (1 - share))
    return spread


def level_counts(verdicts: Numbers) -> NDArray[np.int64]:
    """Count the rows of five verdicts with zero, one or two verdicts in the minority: always three numbers."""
    full = verdicts[np.isfinite(verdicts).all(axis=1)] if verdicts.shape[1] == FIVE else verdicts[:0]
    right = full.sum(axis=1).astype(np.int64)
    return np.bincount(np.minimum(right, FIVE - right), minlength=3).astype(np.int64)


def variation(verdicts: Numbers, clusters: Clusters) -> Variation:
    """Return the variation of instances, one row each, whose units are *clusters*."""
    each = sigmas(verdicts)
    known = np.isfinite(each)
    counts = level_counts(verdicts)
    complete = int(counts.sum())
    return Variation(
        mean=mean_by_units(each, clusters, NO_VERDICT, (0.0, 0.5)),
        std=float(each[known].std()) if known.any() else None,
        levels=dict(zip(LEVELS, (counts / complete).tolist(), strict=True)) if complete else None,
        n=int(known.sum()),
        complete=complete,
        dropped=int((~known).sum()),
    )


def mean_by_units(
    values: Numbers,
    clusters: Clusters,
    nothing: Note,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """Return the mean of *values* (NaN: missing) with its interval over units; *nothing*: the reason without values."""
    known = np.isfinite(values)
    columns = np.stack([np.where(known, values, 0.0), known.astype(float)], axis=1)
    if not known.any():
        return Estimate.undefined(nothing)
    return over_clusters(_mean, columns[known], clusters.of(known), {"mean": bounds})["mean"]


def _mean(sums: Numbers) -> dict[str, Numbers]:
    with np.errstate(all="ignore"):
        return {"mean": sums[:, 0] / sums[:, 1]}


def failure_rate(verdicts: Numbers) -> Estimate:
    """Return the mean over rows of the share of missing verdicts, 0 to 1.

    `se` = sd (ddof 1) / sqrt(rows), as published.

    Of TANGO: generations from which no template could be made.
    """
    if not verdicts.size:
        return Estimate.undefined(NO_VERDICT)
    missing = (~np.isfinite(verdicts)).mean(axis=1)
    if len(missing) < 2:
        return Estimate(float(missing.mean()), units=1, note=ONE_ROW)
    se = float(missing.std(ddof=1) / np.sqrt(len(missing)))
    return Estimate(float(missing.mean()), units=len(missing), se=se)


NO_PROB = Note(N_("No instance has a probability-based verdict."))
NO_GEN = Note(N_("There are no generations yet."))
NOT_SAID = Note(
    N_(
        "This table does not say which texts have a pronoun (columns none1, none2 and so on): run or score the model"
        " again."
    )
)
NO_PRONOUN = Note(N_("No text has a pronoun."))
VERSION = 3  # of the method: raise it when a number may change


@dataclass(frozen=True, slots=True)
class TextShares:
    """Shares of generated texts by their first pronoun, 0 to 1, each text once.

    `right`: right / (right + wrong), among texts with a pronoun: the headline (docs/misgendering.md#the-numbers).
    `without`: texts without a pronoun; `wrong`: texts with a wrong first pronoun, both of all texts.
    """

    right: Estimate
    without: Estimate
    wrong: Estimate


@dataclass(frozen=True, slots=True)
class Metrics:
    """Both ways on one set of instances.

    `rows` instances; `n` have a verdict of both ways (first template, first generation), `dropped` lack one.
    `prob`, `gen`: share of right verdicts, 0 to 1 (1 = never misgendered), each instance by the mean of its own; in
    `gen`, as published, a text without a pronoun counts as right. `texts`: the shares that do not count it so.
    `sigma` over generations, `sigma_prob` over templates (None without several). `cells`: the 2 x 2 table.
    `mcc`, `kappa`, `agreement`: with the published intervals (rows independent); `by_units`: the same and
    `disagreement`, with intervals over the units. `failure`: share of missing templates (None without several).
    `flips`: (instances whose verdict differs between mean and sum of the log-probabilities, instances compared).
    """

    rows: int
    n: int
    dropped: int
    prob: Estimate
    gen: Estimate
    texts: TextShares
    sigma: Variation
    sigma_prob: Variation | None
    cells: Cells
    mcc: Estimate
    kappa: Estimate
    agreement: Estimate
    by_units: dict[str, Estimate]
    beta: BetaFit
    failure: Estimate | None
    flips: tuple[int, int] | None
    clusters: Clusters
    signature: str


def metrics(frame: pd.DataFrame) -> Metrics:
    """Return all measures of the rows of `core.misgendering.verdict_table.read_verdicts`, or of some of these rows."""
    rows = frame.reset_index(drop=True)
    units = clusters_of(rows)
    prob, gens, first = templates_of(rows), generations_of(rows), rows["prob"].to_numpy(dtype=float)
    first_gen = gens[:, 0] if gens.shape[1] else np.full(len(rows), np.nan)
    both = np.isfinite(first) & np.isfinite(first_gen)
    result = cells(first, first_gen)
    means = [row_means(prob), row_means(gens)]
    return Metrics(
        rows=len(rows),
        n=result.n,
        dropped=len(rows) - result.n,
        prob=mean_by_units(means[0], units, NO_PROB),
        gen=mean_by_units(means[1], units, NO_GEN),
        texts=_text_shares(gens, without_pronoun(rows), units),
        sigma=variation(gens, units),
        sigma_prob=variation(prob, units) if has_templates(rows) else None,
        cells=result,
        mcc=mcc(result),
        kappa=kappa(result),
        agreement=raw_agreement(result),
        by_units=by_units(first[both], first_gen[both], units.of(both))
        if result.n
        else {name: Estimate.undefined(NO_PAIR) for name in BOUNDS},
        beta=fit_beta(disagreement(*means), units),
        failure=failure_rate(prob) if has_templates(rows) else None,
        flips=_flips(rows),
        clusters=units,
        signature=f"misgendering|unit:{units.unit}|{BY_JACKKNIFE}|v{VERSION}",
    )


def by_cell(frame: pd.DataFrame) -> Iterator[tuple[dict[str, str], Metrics]]:
    """Yield the measures for each data set, setting, model and pronoun of the table, in its order."""
    columns = cell_columns(frame)
    if not columns:
        return
    for key, rows in frame.groupby(columns, sort=False, dropna=False):
        yield dict(zip(columns, map(str, key), strict=True)), metrics(rows)


def _text_shares(gens: Numbers, none: Numbers | None, units: Clusters) -> TextShares:
    """Return the shares of texts, from verdicts and from whether a text has no pronoun; both rows x generations."""
    of = np.repeat(np.arange(len(gens)), gens.shape[1])
    clusters = Clusters(units.kinds, tuple(codes[of] for codes in units.codes))
    wrong = mean_by_units(1 - gens.ravel(), clusters, NO_GEN)
    if none is None:
        reason = NOT_SAID if np.isfinite(gens).any() else NO_GEN
        return TextShares(Estimate.undefined(reason), Estimate.undefined(reason), wrong)
    avoided = np.where(np.isfinite(gens), none, np.nan).ravel()
    right = mean_by_units(np.where(avoided == 0, gens.ravel(), np.nan), clusters, NO_PRONOUN)
    return TextShares(right, mean_by_units(avoided, clusters, NO_GEN), wrong)


def _flips(rows: pd.DataFrame) -> tuple[int, int] | None:
    if "prob_sum" not in rows:
        return None
    known = rows[["prob", "prob_sum"]].dropna()
    return int((known["prob"] != known["prob_sum"]).sum()), len(known)


NO_TEXT = Note(N_("There is no text."))
KEYS = ("dataset", "setting", "model", "pronouns")


@dataclass(frozen=True, slots=True)
class Texts:
    """The figures of the texts of one model and pronoun set.

    `published`, `completion`: repetition (0 to 1) of context and completion together, as published, and of the
    completion alone; `without`: share of texts without a pronoun, 0 to 1, over templates and names; `n` texts.
    """

    key: dict[str, str]
    published: Repeated
    completion: Repeated
    without: Estimate
    n: int


def read_texts(path: Path | str, skipped: list[int]) -> list[JsonObject]:
    """Read the lines of a file of generations (JSONL with context, completion, pronouns ...).

    Lines that cannot be read are left out, and their numbers go to *skipped*. Raises BadFile where no line can be read.
    """
    place, rows = Path(path), list[JsonObject]()
    with place.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and isinstance(row.get("completion"), str):
                rows.append(row)
            else:
                skipped.append(number)
    if skipped and not rows:
        message = N_("{file}, line {line} is not a generation; each line is an object with a completion.")
        raise BadFile(message, file=place.name, line=skipped[0])
    return rows


def texts_by_cell(rows: Sequence[JsonObject]) -> Iterator[Texts]:
    """Yield repetition and absence of pronouns for each data set, setting, model and pronoun set, in file order."""
    groups: dict[tuple[str, ...], list[JsonObject]] = {}
    for row in rows:
        groups.setdefault(tuple(_as_text(row, key) for key in KEYS), []).append(row)
    for key, some in groups.items():
        yield _texts(dict(zip(KEYS, key, strict=True)), some)


def _as_text(row: JsonObject, key: str) -> str:
    value = row.get(key)
    return " + ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _texts(key: dict[str, str], rows: Sequence[JsonObject]) -> Texts:
    frame = pd.DataFrame(
        [
            {"template": str(row.get("template") or row.get("context") or ""), "name": _as_text(row, "name")}
            for row in rows
        ]
    )
    absent = np.array([apply_rule(row).pronoun is None for row in rows], dtype=float)
    return Texts(
        {"pronoun": key["pronouns"], **{name: key[name] for name in KEYS[:3]}},
        summary(repetitiveness(full_text(str(row.get("context") or ""), row["completion"]))[0] for row in rows),
        summary(repetitiveness(row["completion"])[0] for row in rows),
        mean_by_units(absent, clusters_of(frame), NO_TEXT),
        len(rows),
    )
