"""How often annotators accept a sentence, by the form in which the desk showed it: original or masked.

Blind labels only. A label records the form it was made on. The form is not randomised, so a difference may also come
from annotators or from time; items that were labelled on both forms are compared separately.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from annotations.labels.blind_labels import FORMS, BlindLabels, Numbers
from core.errors import N_
from core.statistics import Estimate, Note, Resampling
from core.statistics.estimate import NO_LABEL
from core.statistics.intervals import Measure, over_items
from core.statistics.resampling import Numbers as Draws
from core.statistics.resampling import ratio

NONE_OF_FORM = Note(N_("No label was made on this form."))
ONLY_ORIGINAL = Note(N_("All labels were made on the original form: there is nothing to compare."))
ONLY_MASKED = Note(N_("All labels were made on the masked form: there is nothing to compare."))
NO_COMMON_ITEM = Note(N_("No item was labelled on both forms."))


@dataclass(frozen=True, slots=True)
class FormRate:
    """One form: how many labels were made on it, of how many items, how many accept, and the share, 0 to 1."""

    form: str
    labels: int
    items: int
    accepted: int
    rate: Estimate


@dataclass(frozen=True, slots=True)
class FormRates:
    """Accept rates of the original and the masked form; differences are masked - original, -1 to 1.

    `difference`: of the two shares of labels, over all items. `paired`: mean difference within the items that were
    labelled on both forms. Intervals, 95 %, by resampling items with all their labels. `annotators`: (name, rates) of
    each annotator who used both forms, in the order of the report; their `paired` is undefined, because one annotator
    labels an item once.
    """

    forms: tuple[FormRate, ...]
    difference: Estimate
    paired: Estimate
    annotators: tuple[tuple[str, "FormRates"], ...] = ()

    @property
    def compared(self) -> bool:
        """Whether both forms were used."""
        return all(one.labels for one in self.forms)


def accept_rates(labels: BlindLabels, accept: int, names: Mapping[int, str], resampling: Resampling) -> FormRates:
    """The rates of *labels*; `accept`: the number of that choice; `names`: annotators in the order wanted."""
    whole = _rates(labels, accept, resampling)
    people = names if whole.compared else {}
    own = tuple(
        (name, _rates(labels.only(labels.annotator == who), accept, resampling)) for who, name in people.items()
    )
    return FormRates(whole.forms, whole.difference, whole.paired, own)


def _rates(labels: BlindLabels, accept: int, resampling: Resampling) -> FormRates:
    patterns, sizes = _patterns(labels, accept)
    forms = tuple(_form(place, patterns, sizes, resampling) for place in range(len(FORMS)))
    return FormRates(forms, _difference(patterns, sizes, resampling), _paired(patterns, sizes, resampling))


def _patterns(labels: BlindLabels, accept: int) -> tuple[Numbers, Numbers]:
    """Items by accepts and labels on each form: rows of (accepts, labels) original, (accepts, labels) masked."""
    items, where = np.unique(labels.item, return_inverse=True)
    columns = []
    for place in range(len(FORMS)):
        of_form = labels.form == place
        columns.append(np.bincount(where[of_form & (labels.choice == accept)], minlength=len(items)))
        columns.append(np.bincount(where[of_form], minlength=len(items)))
    rows = np.stack(columns, axis=1).astype(np.int64)
    base = int(rows.max(initial=0)) + 1
    _, first, sizes = np.unique(rows @ (base ** np.arange(4)), return_index=True, return_counts=True)
    return rows[first], sizes.astype(np.int64)


def _form(place: int, patterns: Numbers, sizes: Numbers, resampling: Resampling) -> FormRate:
    used = patterns[:, 2 * place + 1] > 0
    rows, counts = patterns[used], sizes[used]
    accepted, labels = (int(rows[:, 2 * place + column] @ counts) for column in (0, 1))
    items = int(counts.sum())
    if not labels:
        return FormRate(FORMS[place], 0, 0, 0, Estimate.undefined(NONE_OF_FORM))
    found = Estimate(accepted / labels, units=items)
    rate = over_items(resampling, _share(rows, place), counts, found, 0.0)
    return FormRate(FORMS[place], labels, items, accepted, rate)


def _difference(patterns: Numbers, sizes: Numbers, resampling: Resampling) -> Estimate:
    if missing := _one_form(patterns):
        return Estimate.undefined(missing, int(sizes.sum()))
    original, masked = _share(patterns, 0), _share(patterns, 1)

    def difference(draws: Draws) -> Draws:
        return masked(draws) - original(draws)

    found = Estimate(float(difference(sizes[None, :].astype(float))[0]), units=int(sizes.sum()))
    return over_items(resampling, difference, sizes, found, -1.0)


def _paired(patterns: Numbers, sizes: Numbers, resampling: Resampling) -> Estimate:
    if missing := _one_form(patterns):
        return Estimate.undefined(missing)
    both = (patterns[:, 1] > 0) & (patterns[:, 3] > 0)
    rows, counts = patterns[both], sizes[both]
    if not counts.sum():
        return Estimate.undefined(NO_COMMON_ITEM)
    within = rows[:, 2] / rows[:, 3] - rows[:, 0] / rows[:, 1]

    def mean(draws: Draws) -> Draws:
        return ratio(draws @ within, draws.sum(axis=1))

    found = Estimate(float(mean(counts[None, :].astype(float))[0]), units=int(counts.sum()))
    return over_items(resampling, mean, counts, found, -1.0)


def _one_form(patterns: Numbers) -> Note | None:
    original, masked = patterns[:, 1].any(), patterns[:, 3].any()
    if original and masked:
        return None
    return ONLY_ORIGINAL if original else ONLY_MASKED if masked else NO_LABEL


def _share(patterns: Numbers, place: int) -> Measure:
    accepted, labels = patterns[:, 2 * place].astype(float), patterns[:, 2 * place + 1].astype(float)
    return lambda draws: ratio(draws @ accepted, draws @ labels)
