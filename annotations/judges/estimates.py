"""Rates of a project from people alone, from a judge alone, and from both; differences between models likewise.

Units are contexts (of sentences: the sentences). Where the project has samples (annotations.sampling), only items that
they drew count, each with its weight, and every item of the project counts once; without samples the items that people
labelled must be a random sample of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotations.database.store import Store
from annotations.judges.judges import Judge
from annotations.judges.tables import judge_labels, with_judge
from annotations.labels.item_table import item_table, measures_of
from annotations.sampling.samples import SampleLabels, sample_labels
from annotations.types import Project
from core.human_vs_rule.compare import in_order
from core.judges.prediction_powered import (
    VERSION,
    Labels,
    Rates,
    paired_difference,
    prediction_powered,
    rate_of_people,
)
from core.statistics import holm

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("model", "pronoun", "setting", "dataset", "language")


@dataclass(frozen=True, slots=True)
class RateCell:
    """A measure of the items of one group: `key` holds a value per column of the grouping, () for all of them.

    `people`: how many items people finished that the judge labelled too; `further`: that only the judge labelled;
    `without_judge`: that people finished and the judge did not label: they count in the rate of people alone only;
    `not_drawn`: that people finished and no sample drew: they count in no rate of people.
    """

    measure: str
    key: tuple[str, ...]
    rates: Rates
    people: int
    further: int
    without_judge: int
    not_drawn: int = 0


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

    `table`: of `annotations.judges.tables.with_judge`; where the project has samples with weight_<measure>, how many
    items each stands for (NaN: it was not drawn, or people have not finished it), and `stratum`. `samples`: their
    signatures.
    """

    table: "pd.DataFrame"
    measures: tuple[str, ...]
    judge: str
    judge_signature: str
    samples: tuple[str, ...] = ()

    def cells(self, measure: str, by: Sequence[str] = ()) -> list[RateCell]:
        """The rate of each group of *by* (of GROUPS): as they first come, but he, she, they, xe first."""
        if not by:
            return [self._cell(measure, (), self.table)]
        found = {
            tuple(map(str, key)): self._cell(measure, tuple(map(str, key)), rows)
            for key, rows in self.table.groupby(list(by), sort=False)
        }
        return [found[key] for key in in_order(list(found), by)]

    def differences(self, measure: str) -> list[ModelDifference]:
        """Every two models, in the order in which they first come."""
        of = {str(model): self._labels(measure, rows) for model, rows in self.table.groupby("model", sort=False)}
        pairs = list(combinations(of, 2))
        found = [paired_difference(of[one], of[other]) for one, other in pairs]
        stay = holm([rates.both for rates in found])
        return [
            ModelDifference(measure, one, other, rates, stays)
            for (one, other), rates, stays in zip(pairs, found, stay, strict=True)
        ]

    def _cell(self, measure: str, key: tuple[str, ...], rows: "pd.DataFrame") -> RateCell:
        labels = self._labels(measure, rows)
        finished = rows[rows[f"people_{measure}"].notna()]
        drawn = finished[finished[f"weight_{measure}"].notna()] if self.samples else finished
        alone = int(drawn[f"judge_{measure}"].isna().sum())
        rates = prediction_powered(labels)
        if alone:
            people, effect = rate_of_people(self._people(measure, rows, drawn))
            rates = replace(rates, people=people, effect=effect)
        return RateCell(measure, key, rates, len(labels.people), len(labels.further), alone, len(finished) - len(drawn))

    def _labels(self, measure: str, rows: "pd.DataFrame") -> Labels:
        """Items of both; the further ones are those that only the judge labelled, or that no sample drew."""
        judged = rows[rows[f"judge_{measure}"].notna()]
        counts = judged[f"weight_{measure}"].notna() if self.samples else judged[f"people_{measure}"].notna()
        both, rest = judged[counts], judged[~counts]
        return replace(
            self._people(measure, rows, both), automatic=_column(f"judge_{measure}", both),
            further=_column(f"judge_{measure}", rest), further_clusters=_column("cluster", rest),
        )  # fmt: skip

    def _people(self, measure: str, rows: "pd.DataFrame", some: "pd.DataFrame") -> Labels:
        """What people say of *some* of the items *rows* that a rate is of."""
        values = _column(f"people_{measure}", some)
        found = Labels(values, values, [], _column("cluster", some), [])
        if not self.samples:
            return found
        # A stratum that reaches beyond these items says nothing of how many of them would have been drawn.
        weighed = self.table[self.table[f"weight_{measure}"].notna()]["stratum"].value_counts()
        here = rows[rows[f"weight_{measure}"].notna()]["stratum"].value_counts()
        whole = {name for name, count in here.items() if weighed[name] == count}
        strata = [name if name in whole else None for name in some["stratum"]]
        return replace(found, weights=_column(f"weight_{measure}", some), strata=strata)

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        drawn = "".join(f"|{one}" for one in self.samples)
        return f"judge-estimates|people:blind|units=contexts|both:v{VERSION}|{self.judge_signature}{drawn}"


def estimates(store: Store, project: Project, found: Judge, table: "pd.DataFrame | None" = None) -> Estimates:
    """The estimates of a project with one judge; *table*: of `item_table`, where it is there already."""
    items = item_table(store, project) if table is None else table
    measures, drawn = measures_of(store, project), sample_labels(store, project)
    rows = with_judge(items, judge_labels(store, found), measures)
    if drawn is not None:
        rows = _weighed(rows, tuple(measures), drawn)
    signatures = () if drawn is None else drawn.signatures
    return Estimates(rows, tuple(measures), found.name, found.spec.signature, signatures)


def _weighed(rows: "pd.DataFrame", measures: Sequence[str], drawn: SampleLabels) -> "pd.DataFrame":
    """Those of *rows* that a sample could draw, with the weights of the drawn ones and what these were drawn from
    separately. Of the others samples say nothing."""
    found = rows[rows["item"].isin(drawn.items)].copy()
    for measure in measures:
        weights, strata = drawn.weights(_column("item", found), found[f"people_{measure}"].notna().tolist())
        found[f"weight_{measure}"], found["stratum"] = weights, strata
    return found


def _column(name: str, of: "pd.DataFrame") -> list[Any]:
    return of[name].tolist()  # type: ignore[no-any-return]
