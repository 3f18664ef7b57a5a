"""Rates of a project from people alone, from a judge alone, and from both; differences between models likewise.

Units are contexts (of sentences: the sentences). The items that people labelled must be a random sample of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from annotations.database.store import Store
from annotations.judges.judges import Judge
from annotations.judges.tables import item_table, judge_labels, measures_of, with_judge
from annotations.types import Project
from core.human_vs_rule.compare import in_order
from core.judges.prediction_powered import VERSION, Labels, Rates, paired_difference, prediction_powered
from core.statistics import Estimate, holm

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("model", "pronoun", "setting", "dataset", "language")


@dataclass(frozen=True, slots=True)
class RateCell:
    """A measure of the items of one group: `key` holds a value per column of the grouping, () for all of them.

    `people`: how many items people finished that the judge labelled too; `further`: that only the judge labelled;
    `without_judge`: that people finished and the judge did not label: they count in the rate of people alone only.
    """

    measure: str
    key: tuple[str, ...]
    rates: Rates
    people: int
    further: int
    without_judge: int


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
    """What people and one judge say of a project. `table`: of `annotations.judges.tables.with_judge`."""

    table: "pd.DataFrame"
    measures: tuple[str, ...]
    judge: str
    judge_signature: str

    def cells(self, measure: str, by: Sequence[str] = ()) -> list[RateCell]:
        """The rate of each group of *by* (of GROUPS): as they first come, but he, she, they, xe first."""
        if not by:
            return [_cell(measure, (), self.table)]
        found = {
            tuple(map(str, key)): _cell(measure, tuple(map(str, key)), rows)
            for key, rows in self.table.groupby(list(by), sort=False)
        }
        return [found[key] for key in in_order(list(found), by)]

    def differences(self, measure: str) -> list[ModelDifference]:
        """Every two models, in the order in which they first come."""
        of = {str(model): _labels(measure, rows) for model, rows in self.table.groupby("model", sort=False)}
        pairs = list(combinations(of, 2))
        found = [paired_difference(of[one], of[other]) for one, other in pairs]
        stay = holm([rates.both for rates in found])
        return [
            ModelDifference(measure, one, other, rates, stays)
            for (one, other), rates, stays in zip(pairs, found, stay, strict=True)
        ]

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        return f"judge-estimates|people:blind|units=contexts|both:v{VERSION}|{self.judge_signature}"


def estimates(store: Store, project: Project, found: Judge, table: "pd.DataFrame | None" = None) -> Estimates:
    """The estimates of a project with one judge; *table*: of `item_table`, where it is there already."""
    items = item_table(store, project) if table is None else table
    measures = measures_of(store, project)
    rows = with_judge(items, judge_labels(store, found), measures)
    return Estimates(rows, tuple(measures), found.name, found.spec.signature)


def _cell(measure: str, key: tuple[str, ...], rows: "pd.DataFrame") -> RateCell:
    labels = _labels(measure, rows)
    alone = rows[rows[f"people_{measure}"].notna() & rows[f"judge_{measure}"].isna()]
    rates = prediction_powered(labels)
    if len(alone):
        rates = replace(rates, people=_by_people(measure, rows))
    return RateCell(measure, key, rates, len(labels.people), len(labels.further), len(alone))


def _by_people(measure: str, rows: "pd.DataFrame") -> Estimate:
    """The rate of all items that people finished, whether the judge labelled them or not."""
    known = rows[rows[f"people_{measure}"].notna()]
    values = known[f"people_{measure}"].tolist()
    return prediction_powered(Labels(values, values, [], known["cluster"].tolist(), [])).people


def _labels(measure: str, rows: "pd.DataFrame") -> Labels:
    judged = rows[rows[f"judge_{measure}"].notna()]
    both = judged[judged[f"people_{measure}"].notna()]
    rest = judged[judged[f"people_{measure}"].isna()]

    def column(name: str, of: "pd.DataFrame") -> list[Any]:
        return of[name].tolist()  # type: ignore[no-any-return]

    return Labels(
        column(f"people_{measure}", both), column(f"judge_{measure}", both), column(f"judge_{measure}", rest),
        column("cluster", both), column("cluster", rest),
    )  # fmt: skip
