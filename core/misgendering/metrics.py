"""Every measure of misgendering on one table of verdicts, or on one cell of it (SPEC 4.5 to 4.7)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.misgendering.agreement import BOUNDS, NO_PAIR, Cells, by_units, cells, kappa, mcc, raw_agreement
from evenhand.core.misgendering.beta import BetaFit, disagreement, fit_beta
from evenhand.core.misgendering.variation import Variation, failure_rate, mean_by_units, variation
from evenhand.core.misgendering.verdict_table import (
    cell_columns,
    generations_of,
    has_templates,
    row_means,
    templates_of,
    without_pronoun,
)
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.intervals import BY_JACKKNIFE
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters, clusters_of

NO_PROB = Note(N_("No instance has a probability-based verdict."))
NO_GEN = Note(N_("There are no generations yet."))
NOT_SAID = Note(
    N_(
        "This table does not say which texts have a pronoun (columns none1, none2 and so on): run or score the model"
        " again."
    )
)
NO_PRONOUN = Note(N_("No text has a pronoun."))
VERSION = 2


@dataclass(frozen=True, slots=True)
class TextShares:
    """Shares of generated texts by their first pronoun, 0 to 1, each text once.

    `right`: right / (right + wrong), among texts with a pronoun: the headline (SPEC 11.6). `without`: texts without a
    pronoun; `wrong`: texts with a wrong first pronoun, both of all texts.
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
    """All measures of the rows of `core.misgendering.verdict_table.read_verdicts`, or of some of them."""
    rows = frame.reset_index(drop=True)
    units = clusters_of(rows)
    prob, gens, first = templates_of(rows), generations_of(rows), rows["prob"].to_numpy(dtype=float)
    first_gen = gens[:, 0] if gens.shape[1] else np.full(len(rows), np.nan)
    both = np.isfinite(first) & np.isfinite(first_gen)
    found = cells(first, first_gen)
    means = [row_means(prob), row_means(gens)]
    return Metrics(
        rows=len(rows),
        n=found.n,
        dropped=len(rows) - found.n,
        prob=mean_by_units(means[0], units, NO_PROB),
        gen=mean_by_units(means[1], units, NO_GEN),
        texts=_text_shares(gens, without_pronoun(rows), units),
        sigma=variation(gens, units),
        sigma_prob=variation(prob, units) if has_templates(rows) else None,
        cells=found,
        mcc=mcc(found),
        kappa=kappa(found),
        agreement=raw_agreement(found),
        by_units=by_units(first[both], first_gen[both], units.of(both)) if found.n else _nothing(),
        beta=fit_beta(disagreement(*means), units),
        failure=failure_rate(prob) if has_templates(rows) else None,
        flips=_flips(rows),
        clusters=units,
        signature=f"misgendering|unit:{units.unit}|{BY_JACKKNIFE}|v{VERSION}",
    )


def by_cell(frame: pd.DataFrame) -> Iterator[tuple[dict[str, str], Metrics]]:
    """The measures of each data set, setting, model and pronoun that the table tells apart, in the table's order."""
    columns = cell_columns(frame)
    if not columns:
        return
    for key, rows in frame.groupby(columns, sort=False, dropna=False):
        yield dict(zip(columns, map(str, key), strict=True)), metrics(rows)


def _text_shares(gens: Numbers, none: Numbers | None, units: Clusters) -> TextShares:
    """Return the shares of texts, from verdicts and from whether a text has no pronoun; both rows x generations."""
    of = np.repeat(np.arange(len(gens)), gens.shape[1])
    each = Clusters(units.kinds, tuple(codes[of] for codes in units.codes))
    wrong = mean_by_units(1 - gens.ravel(), each, NO_GEN)
    if none is None:
        reason = NOT_SAID if np.isfinite(gens).any() else NO_GEN
        return TextShares(Estimate.undefined(reason), Estimate.undefined(reason), wrong)
    avoided = np.where(np.isfinite(gens), none, np.nan).ravel()
    right = mean_by_units(np.where(avoided == 0, gens.ravel(), np.nan), each, NO_PRONOUN)
    return TextShares(right, mean_by_units(avoided, each, NO_GEN), wrong)


def _flips(rows: pd.DataFrame) -> tuple[int, int] | None:
    if "prob_sum" not in rows:
        return None
    known = rows[["prob", "prob_sum"]].dropna()
    return int((known["prob"] != known["prob_sum"]).sum()), len(known)


def _nothing() -> dict[str, Estimate]:
    return {name: Estimate.undefined(NO_PAIR) for name in BOUNDS}
