"""annotations.agreement.by_form: accept rates by the form shown, against scipy and statsmodels."""

import numpy as np
import pytest
from scipy import stats

from evenhand.annotations.agreement.report import DisplayRates, accept_rates
from evenhand.annotations.labels.blind_labels import FORMS, BlindLabels, blind_labels
from evenhand.core.statistics import Resampling

CODES = ("accept", "reject")
Label = tuple[int, int, str, str]  # item, annotator, choice, form


def labels_of(labels: list[Label]) -> BlindLabels:
    return blind_labels(
        [(item, who, choice, 1, 1, FORMS.index(form)) for item, who, choice, form in sorted(labels)], CODES
    )


def rates(labels: list[Label], resamples: int = 2000) -> DisplayRates:
    return accept_rates(labels_of(labels), 0, {1: "Ada", 2: "Bo"}, Resampling(resamples))


def drawn(number: int, seed: int = 1) -> list[Label]:
    """Draw labels of Ada on the original and Bo on the masked form of equal items, which differ in acceptability."""
    random = np.random.default_rng(seed)
    results: list[Label] = []
    for item in range(number):
        good = random.beta(2, 2)
        for who, form, less in ((1, "original", 0.0), (2, "masked", 0.15)):
            results.append((item, who, "accept" if random.random() < good - less else "reject", form))
    return results


def test_counts_and_shares_by_form() -> None:
    labels: list[Label] = [(1, 1, "accept", "original"), (1, 2, "reject", "masked"), (2, 1, "accept", "original")]
    result = rates([*labels, (3, 2, "accept", "masked"), (4, 2, "accept", "masked")])
    original, masked = result.forms
    assert (original.labels, original.items, original.accepted, original.rate.value) == (2, 2, 2, 1.0)
    assert (masked.labels, masked.items, masked.accepted) == (3, 3, 2)
    assert result.difference.value == pytest.approx(2 / 3 - 1)
    assert (result.paired.value, result.paired.units, result.paired.low) == (-1.0, 1, None)  # one item: no interval
    assert [name for name, _ in result.annotators] == ["Ada", "Bo"]


def test_few_items_on_both_forms_are_a_paired_t_test() -> None:
    labels = drawn(12)
    result = rates(labels)
    shares = {
        form: [float(c == "accept") for _, _, c, f in sorted(labels) if f == form] for form in ("original", "masked")
    }
    theirs = stats.ttest_rel(shares["masked"], shares["original"])
    interval = theirs.confidence_interval(0.95)
    assert result.paired.value == pytest.approx(np.mean(shares["masked"]) - np.mean(shares["original"]))
    assert (result.paired.low, result.paired.high) == pytest.approx((interval.low, interval.high))
    assert result.paired.value == pytest.approx(result.difference.value)


def test_many_items_resemble_the_analytic_intervals() -> None:
    labels = drawn(600)
    result = rates(labels, resamples=4000)
    both = [{form: c == "accept" for _, _, c, form in labels[2 * i : 2 * i + 2]} for i in range(600)]
    differences = np.array([int(row["masked"]) - int(row["original"]) for row in both])
    # Paired by item, so the interval is of the mean of differences, not of two independent shares.
    reach = stats.norm.ppf(0.975) * differences.std(ddof=1) / np.sqrt(600)
    for estimate in (result.difference, result.paired):
        assert estimate.value == pytest.approx(differences.mean())
        assert (estimate.low, estimate.high) == pytest.approx(
            (differences.mean() - reach, differences.mean() + reach), abs=0.006
        )
    masked = result.forms[1]
    low, high = stats.binomtest(masked.accepted, 600).proportion_ci(method="wilson")
    assert (masked.rate.low, masked.rate.high) == pytest.approx((low, high), abs=0.006)


def test_several_labels_of_an_item_are_one_unit() -> None:
    """Four identical labels are worth one: the interval is as wide as that of one label per item."""
    random = np.random.default_rng(3)
    choices = ["accept" if random.random() < 0.6 else "reject" for _ in range(200)]
    one = rates([(i, 1, c, "original") for i, c in enumerate(choices)]).forms[0].rate
    four = rates([(i, who, c, "original") for i, c in enumerate(choices) for who in (1, 2, 3, 4)]).forms[0].rate
    assert one.low is not None and four.low is not None
    assert (four.low, four.high) == pytest.approx((one.low, one.high), abs=0.01)


def test_undefined_values_have_a_reason() -> None:
    only = rates([(1, 1, "accept", "masked"), (2, 1, "reject", "masked")])
    assert only.difference.value is None and "masked form" in str(only.difference.reason)
    assert not only.compared and only.annotators == () and only.forms[0].rate.value is None
    assert str(only.forms[0].rate.reason) == "No labels were made on this form."
    apart = rates([(1, 1, "accept", "masked"), (2, 1, "reject", "original")])
    assert apart.compared and apart.paired.value is None
    assert str(apart.paired.reason) == "No item was labelled on both forms."
    nothing = rates([])
    assert nothing.difference.value is None and str(nothing.difference.reason) == "There are no labels yet."
