"""Rates of a project from people alone, from a judge alone, and from both; differences between models likewise.

A rate is the share of items, as on the page Human vs. automatic rule; its interval is over contexts (of sentences: the
sentences). Where the project has labelled samples (annotations.sampling), items that they drew count by their weights,
and items that people had labelled before count for themselves. Otherwise the items that people labelled count once
each and must be a random sample of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.against_people import judge_labels, with_judge
from evenhand.annotations.judges.judges import Judge
from evenhand.annotations.labels.generation_labels import item_table, measures_of
from evenhand.annotations.sampling.samples import EARLIER, SampleLabels, sample_labels, samples
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.compare import in_order
from evenhand.core.human_vs_rule.means_over_contexts import context_means
from evenhand.core.statistics import Estimate, Note, holm
from evenhand.core.statistics.prediction_powered import (
    VERSION,
    Labels,
    Rates,
    paired_difference,
    prediction_powered,
    rate_of_people,
)

if TYPE_CHECKING:
    import pandas as pd

NOBODY = Note(N_("No item of this rate is fully labelled."))
NONE_DRAWN = Note(N_("No sampled item of this rate is fully labelled."))
ALL_LABELS = N_("Labels used: all fully labelled items ({number}), as a simple random sample.")
UNLABELLED = Note(N_("No sampled item is fully labelled, so samples do not affect the rates yet."))
DRAWN_LABELS = N_("Labels used: those of sampled items ({number}), weighted by inverse inclusion probability.")
EARLIER_LABELS = N_(
    "Items labelled before a sample was drawn ({number}) count once each and represent only themselves."
)
NOT_DRAWN = N_("Fully labelled items that no sample drew ({number}) do not count in the rates by people.")
GROUPS = ("model", "pronoun", "setting", "dataset", "language")


@dataclass(frozen=True, slots=True)
class RateCell:
    """A measure of the items of one group: `key` holds a value per column of the grouping, () for all of them.

    `people`: how many items people finished that the judge labelled too; `further`: that only the judge labelled;
    `without_judge`: that people finished and the judge did not label: they count in the rate of people alone only;
    `not_drawn`: that people finished and no sample drew: they count in no rate of people; `earlier`: of those that
    count, how many people had labelled before a sample was drawn.
    """

    measure: str
    key: tuple[str, ...]
    rates: Rates
    people: int
    further: int
    without_judge: int
    not_drawn: int = 0
    earlier: int = 0

    @property
    def counted(self) -> int:
        """The number of items that count in the rate of people alone."""
        return self.people + self.without_judge


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """The rate of `one` less that of `other`, paired by contexts. `stays`: differs from 0 by both, after Holm."""

    measure: str
    one: str
    other: str
    rates: Rates
    stays: bool


@dataclass(frozen=True)
class Estimates:
    """What people and one judge say of a project.

    `table`: of `annotations.judges.tables.with_judge` with weight_<measure>, how many items each stands for (NaN: it
    was not drawn, or people have not finished it), and `stratum`. `samples`: the signatures of those by which labels
    weigh; `unlabelled`: whether the project has samples, none of which has a label in full.
    """

    table: "pd.DataFrame"
    measures: tuple[str, ...]
    judge: str
    judge_signature: str
    samples: tuple[str, ...] = ()
    unlabelled: bool = False

    def cells(self, measure: str, by: Sequence[str] = ()) -> list[RateCell]:
        """Return the rate of each group of *by* (of GROUPS), as they first occur, but he, she, they, xe first."""
        if not by:
            return [self._cell(measure, (), self.table)]
        result = {
            tuple(map(str, key)): self._cell(measure, tuple(map(str, key)), rows)
            for key, rows in self.table.groupby(list(by), sort=False)
        }
        return [result[key] for key in in_order(list(result), by)]

    def differences(self, measure: str) -> list[ModelDifference]:
        """Return the difference of every two models, in the order of their first occurrence."""
        of = {str(model): self._labels(measure, rows) for model, rows in self.table.groupby("model", sort=False)}
        pairs = list(combinations(of, 2))
        result = [paired_difference(of[one], of[other]) for one, other in pairs]
        stay = holm([rates.both for rates in result])
        return [
            ModelDifference(measure, one, other, rates, stays)
            for (one, other), rates, stays in zip(pairs, result, stay, strict=True)
        ]

    def basis(self, cell: RateCell) -> list[Note]:
        """Return in sentences which labels of people a rate uses."""
        if not self.samples:
            notes = [Note(ALL_LABELS, {"number": cell.counted})]
            return [*notes, UNLABELLED] if self.unlabelled else notes
        notes = [Note(DRAWN_LABELS, {"number": cell.counted - cell.earlier})]
        if cell.earlier:
            notes.append(Note(EARLIER_LABELS, {"number": cell.earlier}))
        return [*notes, Note(NOT_DRAWN, {"number": cell.not_drawn})] if cell.not_drawn else notes

    def _cell(self, measure: str, key: tuple[str, ...], rows: "pd.DataFrame") -> RateCell:
        labels = self._labels(measure, rows)
        finished = rows[rows[f"people_{measure}"].notna()]
        drawn = finished[finished[f"weight_{measure}"].notna()]
        alone = int(drawn[f"judge_{measure}"].isna().sum())
        rates = prediction_powered(labels)
        if drawn.empty:
            nothing = Estimate.undefined(NONE_DRAWN if len(finished) else NOBODY)
            rates = replace(rates, people=nothing, both=nothing)
        elif alone:
            people, effect = rate_of_people(self._people(measure, rows, drawn))
            rates = replace(rates, people=people, effect=effect)
        if not self.samples and len(drawn):
            rates = _by_contexts(rates, _column(f"people_{measure}", drawn), _column("cluster", drawn))
        earlier = int((drawn["stratum"] == EARLIER).sum())
        unused = len(finished) - len(drawn)
        return RateCell(measure, key, rates, len(labels.people), len(labels.further), alone, unused, earlier)

    def _labels(self, measure: str, rows: "pd.DataFrame") -> Labels:
        """Return the items of both; the further ones are those that only the judge labelled, or that no sample drew."""
        judged = rows[rows[f"judge_{measure}"].notna()]
        counts = judged[f"weight_{measure}"].notna()
        both, rest = judged[counts], judged[~counts]
        return replace(
            self._people(measure, rows, both), automatic=_column(f"judge_{measure}", both),
            further=_column(f"judge_{measure}", rest), further_clusters=_column("cluster", rest),
        )  # fmt: skip

    def _people(self, measure: str, rows: "pd.DataFrame", some: "pd.DataFrame") -> Labels:
        """Return what people say of *some* of the items *rows* that a rate is of."""
        values = _column(f"people_{measure}", some)
        labels = Labels(values, values, [], _column("cluster", some), [], of_items=True)
        if not self.samples:
            return labels
        # A stratum that reaches beyond these items says nothing of how many of them would have been drawn.
        weighed = self.table[self.table[f"weight_{measure}"].notna()]["stratum"].value_counts()
        here = rows[rows[f"weight_{measure}"].notna()]["stratum"].value_counts()
        whole = {name for name, count in here.items() if weighed[name] == count}
        strata = [name if name in whole else None for name in some["stratum"]]
        return replace(labels, weights=_column(f"weight_{measure}", some), strata=strata)

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        drawn = "".join(f"|{sample}" for sample in self.samples)
        how = f"people:blind|share-of-items|units=contexts|both:v{VERSION}"
        return f"judge-estimates|{how}|{self.judge_signature}{drawn}"


def estimates(store: Store, project: Project, judge: Judge, table: "pd.DataFrame | None" = None) -> Estimates:
    """Return the estimates of a project with one judge; *table*: the result of `item_table`, if already read."""
    items = item_table(store, project) if table is None else table
    measures, drawn = measures_of(store, project), sample_labels(store, project)
    rows = _weighed(with_judge(items, judge_labels(store, judge), measures), tuple(measures), drawn)
    signatures = () if drawn is None else drawn.signatures
    unlabelled = drawn is None and bool(samples(store, project))
    return Estimates(rows, tuple(measures), judge.name, judge.spec.signature, signatures, unlabelled)


def _by_contexts(rates: Rates, values: list[float], contexts: list[str]) -> Rates:
    """Return the rates with the rate by people as on the page Human vs. automatic rule, over the same items."""
    people = context_means({"people": values}, contexts)["people"].estimate
    alone = not rates.weight and rates.both.value is not None
    both = replace(people, note=rates.both.note or people.note) if alone else rates.both
    return replace(rates, people=people, both=both)


def _weighed(rows: "pd.DataFrame", measures: Sequence[str], drawn: SampleLabels | None) -> "pd.DataFrame":
    """Return *rows* with the weights of the labelled ones and what these were drawn from separately.

    With samples only those that a sample could draw or that people had labelled before: of others samples say nothing.
    """
    result = rows.copy() if drawn is None else rows[rows["item"].isin(drawn.items)].copy()
    for measure in measures:
        known = result[f"people_{measure}"].notna()
        if drawn is None:
            result[f"weight_{measure}"], result["stratum"] = known.astype(float).where(known), ""
        else:
            weights, strata = drawn.weights(_column("item", result), known.tolist())
            result[f"weight_{measure}"], result["stratum"] = weights, strata
    return result


def _column(name: str, of: "pd.DataFrame") -> list[Any]:
    return of[name].tolist()  # type: ignore[no-any-return]
