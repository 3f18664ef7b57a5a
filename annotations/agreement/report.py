"""The report of agreement: its measures by group, and how often a sentence is accepted by the form that was shown.

Blind labels only. A label records the form it was made on, original or masked. The form is not randomised, so a
difference may also come from annotators or from time; items that were labelled on both forms are compared separately.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.annotations.labels.blind_labels import FORMS, BlindLabels, Column, ItemScope, Numbers, transposed
from evenhand.annotations.types import BY_CODE, Choice
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Resampling, cohen_kappa, largest_kappa, modified_wilson
from evenhand.core.statistics.estimate import NO_LABEL, NO_SHARED_ITEM, ONE_UNIT
from evenhand.core.statistics.intervals import HANGS_ON_ONE, by_t, jackknife
from evenhand.core.statistics.posterior import several_in_one, share_over_clusters
from evenhand.core.statistics.resampling import ratio

NONE_OF_FORM = Note(N_("No labels were made on this form."))
ONLY_ORIGINAL = Note(
    N_(
        "All labels are recorded as made on the original form, including imported labels without a"
        " form, so there is nothing to compare."
    )
)
ONLY_MASKED = Note(N_("All labels were made on the masked form, so there is nothing to compare."))
NO_COMMON_ITEM = Note(N_("No item was labelled on both forms."))


@dataclass(frozen=True, slots=True)
class DisplayRate:
    """One form: how many labels were made on it, of how many items, how many accept, and the share, 0 to 1."""

    form: str
    labels: int
    items: int
    accepted: int
    rate: Estimate
    json_names: ClassVar = {"rate": "accept_rate"}


@dataclass(frozen=True, slots=True)
class DisplayRates:
    """Accept rates of the original and the masked form; differences are masked - original, -1 to 1.

    `difference`: of the two shares of labels, over all items. `paired`: mean difference within the items that were
    labelled on both forms. Intervals, 95%, over items with all their labels, or over source articles.
    `annotators`: (name, rates) of each annotator who used both forms, in the order of the report; their `paired` is
    undefined, because one annotator labels an item once.
    """

    forms: tuple[DisplayRate, ...]
    difference: Estimate
    paired: Estimate
    annotators: tuple[tuple[str, "DisplayRates"], ...] = ()

    @property
    def compared(self) -> bool:
        """True if both forms were used."""
        return all(form.labels for form in self.forms)


def accept_rates(labels: BlindLabels, accept: int, names: Mapping[int, str], resampling: Resampling) -> DisplayRates:
    """Return the rates of *labels*; `accept`: the number of that choice; `names`: annotators in the order wanted."""
    whole = _rates(labels, accept, resampling)
    people = names if whole.compared else {}
    own = tuple(
        (name, _rates(labels.only(labels.annotator == who), accept, resampling)) for who, name in people.items()
    )
    return DisplayRates(whole.forms, whole.difference, whole.paired, own)


def _rates(labels: BlindLabels, accept: int, resampling: Resampling) -> DisplayRates:
    items, where = labels.by_item()
    said = 2 * labels.form + (labels.choice != accept)  # accepted and not on the original, then on the masked form
    by_item = _counted(where, said, len(items))
    unit, by_unit = where, by_item
    if labels.cluster is not None:
        units, unit = np.unique(labels.cluster, return_inverse=True)
        by_unit = _counted(unit, said, len(units))
    forms = tuple(_form(place, by_item, by_unit, resampling) for place in range(len(FORMS)))
    unit_of_item = np.zeros(len(items), dtype=np.int64)
    unit_of_item[where] = unit
    return DisplayRates(forms, _difference(by_unit, len(items)), _paired(by_item, unit_of_item))


def _counted(rows: Column, said: Column, count: int) -> Numbers:
    """Count labels per item or unit: accepted and not on the original form, accepted and not on the masked one."""
    return np.bincount(4 * rows + said, minlength=4 * count).reshape(count, 4)


def _form(place: int, by_item: Numbers, by_unit: Numbers, resampling: Resampling) -> DisplayRate:
    own = slice(2 * place, 2 * place + 2)
    accepted, labels = int(by_item[:, 2 * place].sum()), int(by_item[:, own].sum())
    if not labels:
        return DisplayRate(FORMS[place], 0, 0, 0, Estimate.undefined(NONE_OF_FORM))
    items = int(by_item[:, own].any(axis=1).sum())
    estimate = Estimate(accepted / labels, units=items)
    rate = share_over_clusters(by_unit[:, 2 * place], by_unit[:, own].sum(axis=1), estimate, resampling)
    return DisplayRate(FORMS[place], labels, items, accepted, rate)


def _difference(by_unit: Numbers, items: int) -> Estimate:
    if missing := _one_form(by_unit):
        return Estimate.undefined(missing, items)
    whole = by_unit.sum(axis=0)
    without = _apart(whole - by_unit)
    return _over_units(Estimate(float(_apart(whole[None, :])[0]), units=items), without)


def _apart(labels: Numbers) -> NDArray[np.float64]:
    """Return per row the share accepted on the masked form minus that on the original; NaN if a form has no label."""
    original, masked = (ratio(labels[:, at].astype(float), labels[:, at : at + 2].sum(axis=1)) for at in (0, 2))
    difference: NDArray[np.float64] = masked - original
    return difference


def _paired(by_item: Numbers, unit_of_item: Numbers) -> Estimate:
    """Return the mean difference within items."""
    if missing := _one_form(by_item):
        return Estimate.undefined(missing)
    within = _apart(by_item)
    both = np.isfinite(within)
    if not both.any():
        return Estimate.undefined(NO_COMMON_ITEM)
    _, unit = np.unique(unit_of_item[both], return_inverse=True)
    sums, counts = np.bincount(unit, weights=within[both]), np.bincount(unit)
    estimate = Estimate(float(within[both].mean()), units=int(both.sum()))
    return _over_units(estimate, ratio(within[both].sum() - sums, counts.sum() - counts))


def _over_units(estimate: Estimate, without: NDArray[np.float64]) -> Estimate:
    """Return *estimate* with a jackknife t interval over items or articles, cut at -1 and 1.

    *without*: the estimates that each leave one out.
    """
    units = len(without)
    if units == 1:
        return replace(estimate, note=ONE_UNIT)
    if not np.isfinite(without).all():
        return replace(estimate, note=Note(HANGS_ON_ONE, {"units": units}))
    assert estimate.value is not None
    made = by_t(estimate, jackknife(estimate.value, without), units)
    if made.low is None or made.high is None:
        return made
    return replace(made, low=max(-1.0, made.low), high=min(1.0, made.high))


def _one_form(rows: Numbers) -> Note | None:
    original, masked = rows[:, :2].any(), rows[:, 2:].any()
    if original and masked:
        return None
    return ONLY_ORIGINAL if original else ONLY_MASKED if masked else NO_LABEL


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
        result = Estimate(agreed / self.items, units=self.items)
        return share_over_clusters(self.clusters @ same, self.clusters.sum(axis=1), result, self.resampling)

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

    `ac1` is over all categories of the scheme, `ac1_used` over the categories that were chosen at least once.
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
    by_form: DisplayRates | None = None  # sentences: accept rates by the form shown
    stopped: bool = False  # the plan is or was "stop": items outside the share end(ed) at the first reject
    ended: int = 0  # items that a reject ended under an earlier plan "stop" and that still lack labels
    imported_ended: int = 0  # items of the random share that a reject ended where their labels were imported from

    @property
    def biased(self) -> bool:
        """True if the labels include items that stopped at a first reject, which biases agreement on them."""
        return self.stopped and self.on == "all"

    @property
    def items(self) -> int:
        """The number of items with a blind label."""
        return self.overall.items

    @property
    def labels(self) -> int:
        """The number of blind labels, one per item and annotator."""
        return self.overall.labels

    def two(self, a: str, b: str) -> TwoAnnotators | None:
        """Return the table of two annotators, in this order; None if they share no item."""
        for pair in self.cohen:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                table = tuple(zip(*pair.table, strict=True))
                return TwoAnnotators(a, b, table, pair.resampling, transposed(pair.clusters, len(pair.table)))
        return None


def with_codes(report: AgreementReport, codes: Mapping[str, str]) -> AgreementReport:
    """Return the report with a code in place of each annotator's name, for readers who may not see names."""
    forms = report.by_form
    if forms is not None:
        forms = replace(forms, annotators=tuple((codes[name], own) for name, own in forms.annotators))
    return replace(
        report,
        annotators=tuple(codes[name] for name in report.annotators),
        cohen=tuple(replace(two, a=codes[two.a], b=codes[two.b]) for two in report.cohen),
        by_form=forms,
    )
