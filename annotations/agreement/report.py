"""The agreement report of a project: measures of all annotators, of each two, per category, pair and version."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from evenhand.annotations.agreement.by_form import FormRates
from evenhand.annotations.labels.blind_labels import ItemScope, Numbers, transposed
from evenhand.annotations.types import BY_CODE, Choice
from evenhand.core.statistics import Estimate, Resampling, cohen_kappa, largest_kappa, modified_wilson
from evenhand.core.statistics.estimate import NO_SHARED_ITEM
from evenhand.core.statistics.posterior import several_in_one, share_over_clusters


@dataclass(frozen=True)
class TwoAnnotators:
    """Two annotators on the items that both labelled.

    `table[i][j]`: how often `a` chose category i and `b` category j, over the full list of categories. The measures are
    computed on access: a hundred annotators make 4,950 pairs, of which a page shows few.
    """

    a: str
    b: str
    table: tuple[tuple[int, ...], ...]
    resampling: Resampling
    clusters: Numbers | None = None  # clusters x cells of the table, where items come in clusters

    @property
    def items(self) -> int:
        """The number of items that both labelled."""
        return sum(map(sum, self.table))

    def to_json(self) -> dict[str, Any]:
        """Return kappa, its highest value, the share of equal labels and the table."""
        measures = {"percent": self.agreed.to_json(), "largest_kappa": self.largest.to_json(), "table": self.table}
        return {"a": self.a, "b": self.b, **self.kappa.to_json(), "n": self.items, **measures}

    @cached_property
    def agreed(self) -> Estimate:
        """The share of shared items on which they agreed; modified Wilson interval, or one over clusters."""
        same = np.eye(len(self.table), dtype=np.int64).reshape(-1)
        agreed = sum(row[i] for i, row in enumerate(self.table))
        if self.clusters is None or not several_in_one(self.clusters):
            return modified_wilson(agreed, self.items, nothing=NO_SHARED_ITEM)
        found = Estimate(agreed / self.items, units=self.items)
        return share_over_clusters(self.clusters @ same, self.clusters.sum(axis=1), found, self.resampling)

    @cached_property
    def kappa(self) -> Estimate:
        """Cohen's kappa."""
        return cohen_kappa(np.array(self.table, dtype=np.int64), self.resampling, self.clusters)

    @cached_property
    def largest(self) -> Estimate:
        """The highest kappa that the marginal totals allow."""
        return largest_kappa(np.array(self.table, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Categories:
    """How many categories the scheme has, and how many of them were chosen."""

    scheme: int
    used: int


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of any number of annotators; values as in core.statistics.

    `ac1` is over all categories of the scheme, `ac1_used` over those that somebody chose.
    """

    items: int
    labels: int
    unanimity: Estimate
    pairwise: Estimate
    fleiss: Estimate
    alpha: Estimate
    ac1: Estimate
    ac1_used: Estimate
    categories: Categories
    json_names: ClassVar = {
        "unanimity": "percent", "pairwise": "pairwise_percent", "fleiss": "fleiss_kappa", "alpha": "krippendorff_alpha",
        "ac1": "gwet_ac1", "ac1_used": "gwet_ac1_used",
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class CategoryMeasures:
    """One category: its share of all labels, and how often a second annotator chose it if one did."""

    choice: Choice
    labels: int
    prevalence: Estimate
    specific: Estimate
    json_names: ClassVar = {"choice": "category", "specific": "specific_agreement"}
    written_with: ClassVar = BY_CODE


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything the page shows. `by_labels[n]`: how many items have n blind labels.

    On the random share `all_items` counts its items and `by_labels` their present labels; the measures are over its
    items with all labels.
    """

    project: str
    all_items: int
    by_labels: dict[int, int]
    annotators: tuple[str, ...]
    choices: tuple[Choice, ...]
    overall: Measures
    categories: tuple[CategoryMeasures, ...]
    cohen: tuple[TwoAnnotators, ...]
    by_pair: tuple[tuple[str, Measures], ...]
    signature: str
    cells: tuple[tuple[str, str, Measures], ...] = ()  # generations: model, pronoun set, measures
    on: ItemScope = "all"  # "share": only the items of the random share that all label
    version: int | None = None  # only labels made under this version of the guideline
    by_version: tuple[tuple[int, Measures], ...] = ()  # each version that has labels, oldest first
    by_form: FormRates | None = None  # sentences: accept rates by the form shown
    stopped: bool = False  # the plan is or was "stop": items outside the share end(ed) at the first reject
    ended: int = 0  # items that a reject ended under an earlier plan "stop" and that still lack labels
    imported_ended: int = 0  # items of the random share that a reject ended where their labels were imported from

    @property
    def biased(self) -> bool:
        """Whether the labels include items that stopped at a first reject, so that agreement on them is biased."""
        return self.stopped and self.on == "all"

    @property
    def items(self) -> int:
        """How many items have a blind label."""
        return self.overall.items

    @property
    def labels(self) -> int:
        """How many blind labels there are, one per item and annotator."""
        return self.overall.labels

    def two(self, a: str, b: str) -> TwoAnnotators | None:
        """The table of two annotators, in this order; None if they share no item."""
        for pair in self.cohen:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                table = tuple(zip(*pair.table, strict=True))
                return TwoAnnotators(a, b, table, pair.resampling, transposed(pair.clusters, len(pair.table)))
        return None


def with_codes(report: AgreementReport, codes: Mapping[str, str]) -> AgreementReport:
    """The report with a code in place of each annotator's name, for readers who may not see names."""
    forms = report.by_form
    if forms is not None:
        forms = replace(forms, annotators=tuple((codes[name], own) for name, own in forms.annotators))
    return replace(
        report,
        annotators=tuple(codes[name] for name in report.annotators),
        cohen=tuple(replace(two, a=codes[two.a], b=codes[two.b]) for two in report.cohen),
        by_form=forms,
    )
