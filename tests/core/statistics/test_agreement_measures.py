"""core.statistics: golden numbers from outside, undefined values in words, properties."""

import gc
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from statsmodels.stats import inter_rater

from evenhand.core.statistics import (
    Estimate,
    Resampling,
    Tally,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    holm,
    krippendorff_alpha,
    largest_kappa,
    modified_wilson,
    ordinal_alpha,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
    wilson,
)
from evenhand.core.statistics.estimate import (
    AT_ITS_BOUND,
    CATEGORY_UNUSED,
    NO_SHARED_ITEM,
    NO_TWO_LABELS,
    ONE_CATEGORY,
    ONE_ITEM,
    holm_adjusted,
)
from evenhand.core.statistics.posterior import share_over_clusters
from tests.support.coincidences import alpha

# Fleiss (1971) as in most textbooks: 10 subjects, 5 categories, 14 raters.
TEXTBOOK = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), part C: 4 observers, 12 units, values missing.
OBSERVERS = ["1233214120.0", "123322412503", ".33323422510", "123324412510"]
# Hayes and Krippendorff (2007), as on most pages about alpha: 3 coders, 15 units; nominal alpha 0.691.
CODERS = ["00000341211330 3", "10021344033000 0", "00213441213300 4"]

FAST = Resampling(resamples=200)


def from_rows(rows: list[str], values: str) -> Tally:
    """Return the tally of observers' strings; characters outside *values* are missing."""
    return Tally.of(np.array([[sum(row[i] == v for row in rows) for v in values] for i in range(len(rows[0]))]))


def test_fleiss_kappa_equals_the_textbook() -> None:
    result = fleiss_kappa(Tally.of(np.array(TEXTBOOK)))
    assert result.value == pytest.approx(0.2099, abs=5e-5)
    assert result.units == 10


def test_alpha_with_missing_labels_equals_krippendorff() -> None:
    result = krippendorff_alpha(from_rows([row.replace("0", ".") for row in OBSERVERS], "12345"))
    assert result.value == pytest.approx(0.7434, abs=5e-5)
    assert result.units == 11  # the twelfth has one label


def test_alpha_of_ordered_categories_equals_krippendorff() -> None:
    """Krippendorff (2011), part D: the units of part C, 0.815; values in between count, so a scale may be cut finer."""
    tally = from_rows([row.replace("0", ".") for row in OBSERVERS], "12345")
    result = ordinal_alpha(tally)
    assert (result.value, result.units) == (pytest.approx(0.815, abs=5e-4), 11)
    unused = Tally(np.insert(tally.counts, 2, 0, axis=1), tally.sizes)
    assert ordinal_alpha(unused).value == pytest.approx(result.value), "a point that nobody chose lies nowhere"
    turned = Tally(tally.counts[:, ::-1], tally.sizes)
    assert ordinal_alpha(turned).value == pytest.approx(result.value)
    two = Tally(np.array(TEXTBOOK)[:, :2], np.ones(len(TEXTBOOK), dtype=np.int64))
    assert ordinal_alpha(two).value == pytest.approx(krippendorff_alpha(two).value), "of two there is only one distance"
    assert ordinal_alpha(Tally(np.array([[3, 0]]), np.array([50]))).reason == ONE_CATEGORY


@pytest.mark.parametrize(
    ("table", "kappa", "origin"),
    [
        ([[118, 5], [2, 0]], -0.0234, "Gwet (2008), table of the paradox"),
        ([[20, 5], [10, 15]], 0.4, "grant proposals, the usual worked example"),
        ([[45, 15], [25, 15]], 0.1304, "same percent, different margins (1)"),
        ([[25, 35], [5, 35]], 0.2593, "same percent, different margins (2)"),
        ([[44, 5, 1], [7, 20, 3], [9, 5, 6]], 0.4915, "by hand: p_o .70, p_e .41"),
    ],
)
def test_cohens_kappa_equals_published_values(table: list[list[int]], kappa: float, origin: str) -> None:
    assert cohen_kappa(np.array(table), FAST).value == pytest.approx(kappa, abs=5e-5), origin


def test_ac1_equals_gwets_paradox_table() -> None:
    counts = Tally(np.array([[2, 0], [1, 1], [0, 2]]), np.array([118, 7, 0]))
    result = gwet_ac1(counts)
    assert result.value == pytest.approx(0.9408, abs=5e-5)
    assert result.low is not None and result.high is not None
    assert 0.85 < result.low < 0.9408 < result.high <= 1


def test_wilson_equals_a_known_interval() -> None:
    result = wilson(192, 200, nothing=NO_TWO_LABELS)  # docs/methods.md#intervals: 192/200: 92.3 to 98.0%
    assert (result.value, round(result.low or 0, 3), round(result.high or 0, 3)) == (0.96, 0.923, 0.98)


@pytest.mark.parametrize(("k", "n", "low", "high"), [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0)])
def test_wilson_of_0_and_all(k: int, n: int, low: float, high: float) -> None:
    # k = 0: high = z^2 / (n + z^2); k = n mirrors it.
    result = wilson(k, n, nothing=NO_TWO_LABELS)
    assert (result.low, result.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(some.data())
def test_wilson_equals_statsmodels(data: some.DataObject) -> None:
    """To the last digit, for whole numbers and for shares of them."""
    from statsmodels.stats.proportion import proportion_confint

    units = data.draw(some.integers(1, 40) | some.integers(1, 10**9))
    successes = data.draw(some.integers(0, units) | some.floats(0, units))
    low, high = proportion_confint(successes, units, alpha=0.05, method="wilson")
    result = wilson(successes, units, nothing=NO_TWO_LABELS)
    assert (result.value, result.low, result.high) == (successes / units, max(0.0, low), min(1.0, high))


def test_wilson_of_a_huge_count_does_not_overflow() -> None:
    result = wilson(3, np.int32(60_000), nothing=NO_TWO_LABELS)  # type: ignore[arg-type]
    assert result == wilson(3, 60_000, nothing=NO_TWO_LABELS)


def test_largest_kappa_equals_hand_computation() -> None:
    # Margins 60/40 and 70/30: p_o at most .9, p_e .54.
    assert largest_kappa(np.array([[45, 15], [25, 15]])).value == pytest.approx((0.9 - 0.54) / 0.46)
    assert largest_kappa(np.array([[20, 5], [5, 20]])).value == pytest.approx(1)


def test_specific_agreement_equals_hand_computation() -> None:
    # a = 40, b = 9, c = 6, d = 45: 2a / (2a + b + c), 2d / (2d + b + c).
    tally = Tally(np.array([[2, 0], [1, 1], [0, 2]]), np.array([40, 15, 45]))
    assert specific_agreement(tally, 0, FAST).value == pytest.approx(80 / 95)
    assert specific_agreement(tally, 1, FAST).value == pytest.approx(90 / 105)
    assert prevalence(tally, 0, FAST).value == pytest.approx(95 / 200)


def test_measures_with_one_category_are_undefined() -> None:
    tally = Tally(np.array([[3, 0]]), np.array([50]))
    assert unanimity(tally).value == 1
    assert fleiss_kappa(tally).reason == krippendorff_alpha(tally).reason == ONE_CATEGORY
    assert gwet_ac1(tally).value == 1
    assert specific_agreement(tally, 1).reason == CATEGORY_UNUSED
    assert cohen_kappa(np.array([[50, 0], [0, 0]])).reason == ONE_CATEGORY
    assert largest_kappa(np.array([[50, 0], [0, 0]])).reason == ONE_CATEGORY


def test_ac1_over_all_and_over_used_categories() -> None:
    """For the 125 items of Gwet's table, in a scheme of two categories and in one of four."""
    two = Tally(np.array([[2, 0], [1, 1]]), np.array([118, 7]))
    four = Tally(np.array([[2, 0, 0, 0], [1, 1, 0, 0]]), np.array([118, 7]))
    assert gwet_ac1(two).value == pytest.approx(0.9408, abs=5e-5)
    assert (gwet_ac1(four).value or 0) > 0.942  # unused categories raise it
    assert gwet_ac1(four.used) == gwet_ac1(two)


def test_unanimous_items_of_two_categories_give_1() -> None:
    tally = Tally(np.array([[3, 0], [0, 3]]), np.array([30, 20]))
    for measure in (fleiss_kappa, krippendorff_alpha, gwet_ac1, pairwise_agreement):
        result = measure(tally, FAST)
        assert (result.value, result.high, result.note) == (pytest.approx(1), pytest.approx(1), None)
        assert result.low is not None and 0.7 < result.low < 1


def test_measures_without_pairs_of_labels_are_undefined() -> None:
    alone = Tally(np.array([[1, 0], [0, 1]]), np.array([30, 20]))
    none = Tally.of(np.zeros((0, 2), dtype=int))
    for tally in (alone, none):
        for measure in (unanimity, pairwise_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac1):
            assert measure(tally).value is None
            assert measure(tally).reason == NO_TWO_LABELS
    assert cohen_kappa(np.zeros((2, 2), dtype=int)).reason == NO_SHARED_ITEM
    assert prevalence(none, 0).value is None


def test_one_item_has_no_interval() -> None:
    result = pairwise_agreement(Tally(np.array([[2, 1]]), np.array([1])))
    assert (result.value, result.low, result.note) == (pytest.approx(1 / 3), None, ONE_ITEM)


def test_fleiss_kappa_uses_the_most_common_number_of_labels() -> None:
    mixed = Tally(np.array([[1, 0], [2, 0], [1, 1], [3, 0], [2, 1], [0, 3]]), np.array([9, 2, 2, 8, 5, 7]))
    full = Tally(np.array([[3, 0], [2, 1], [0, 3]]), np.array([8, 5, 7]))
    assert fleiss_kappa(mixed, FAST) == fleiss_kappa(full, FAST)
    assert fleiss_kappa(mixed, FAST).units == 20
    # Two and three labels equally common: three.
    assert Tally(np.array([[2, 0], [3, 0]]), np.array([4, 4])).complete.labels.tolist() == [3]


def test_pairwise_agreement_of_two_equals_full_agreement() -> None:
    from statsmodels.stats.proportion import proportion_confint

    for agreed, others in ((26, 6), (12, 0)):
        tally = Tally(np.array([[2, 0], [0, 2], [1, 1]]), np.array([agreed - 1, 1, others]))
        result = pairwise_agreement(tally, FAST)
        assert result == unanimity(tally, FAST)
        assert (result.low, result.high) == pytest.approx(proportion_confint(agreed, agreed + others, method="wilson"))
    three = Tally(np.array([[3, 0], [2, 1]]), np.array([26, 6]))
    assert pairwise_agreement(three, FAST).value == pytest.approx(28 / 32) != unanimity(three, FAST).value


def test_intervals_do_not_depend_on_the_order_of_contexts() -> None:
    hits, totals = np.array([3, 0, 2, 4, 1, 5]), np.array([4, 2, 2, 5, 4, 5])
    estimate = Estimate(15 / 22, units=22)
    once = share_over_clusters(hits, totals, estimate, FAST)
    turned = share_over_clusters(hits[::-1], totals[::-1], estimate, FAST)
    assert once.low is not None and once == turned


def test_interval_of_many_items_is_near_the_normal_one() -> None:
    # A mean over 2,000 items: the interval must sit on mean +- 1.96 se within the noise of drawing.
    result = pairwise_agreement(Tally(np.array([[2, 0], [1, 1]]), np.array([1500, 500])), Resampling(4000, seed=3))
    se = math.sqrt(0.75 * 0.25 / 2000)
    assert result.low == pytest.approx(0.75 - 1.96 * se, abs=0.1 * se)
    assert result.high == pytest.approx(0.75 + 1.96 * se, abs=0.1 * se)


def test_interval_of_many_items_is_near_the_bootstrap() -> None:
    # Where neither agreeing nor a category is rare, drawing the items one by one gives the same interval.
    table = np.array([[400, 100], [50, 450]])
    items = np.repeat(np.arange(4), table.reshape(-1))
    random = np.random.default_rng(5)
    drawn = [np.bincount(random.choice(items, 1000), minlength=4).reshape(2, 2) for _ in range(3000)]
    kappas = [(2 * (t[0, 0] * t[1, 1] - t[0, 1] * t[1, 0])) / _cross(t) for t in drawn]
    low, high = np.percentile(kappas, [2.5, 97.5])
    result = cohen_kappa(table, Resampling(3000))
    assert result.low == pytest.approx(low, abs=0.02)
    assert result.high == pytest.approx(high, abs=0.02)


def _cross(t: np.ndarray) -> float:
    (a, b), (c, d) = t.tolist()
    return float((a + b) * (b + d) + (a + c) * (c + d))


def test_bootstrap_intervals_depend_on_the_seed() -> None:
    tally = Tally(np.array([[3, 0], [2, 1], [1, 2], [0, 3]]), np.array([31, 17, 9, 43]))
    assert fleiss_kappa(tally, Resampling(300, 1)) == fleiss_kappa(tally, Resampling(300, 1))
    assert fleiss_kappa(tally, Resampling(300, 1)).low != fleiss_kappa(tally, Resampling(300, 2)).low
    assert Resampling(300, 1).signature("item") == "unit:item|bootstrap:300|seed:1"


def test_holm_rejects_step_by_step() -> None:
    # p = .001, .02, .04: .05/3 stays, .05/2 stays, .05/1 stays; with p = .03 for the second it does not.
    def of(p: float) -> Estimate:
        return Estimate(_z(p), _z(p) - 1.96, _z(p) + 1.96, se=1.0)

    assert holm([of(0.001), of(0.02), of(0.04)]) == [True, True, True]
    assert holm([of(0.001), of(0.03), of(0.04)]) == [True, False, False]
    assert holm([Estimate.undefined(ONE_CATEGORY), Estimate(1.0, se=0.0)]) == [False, False]
    assert holm([]) == []


@given(some.lists(some.floats(0, 1), max_size=30))
def test_adjusted_p_values_equal_statsmodels(p: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)  # it would look through all that the suite has loaded
        assert holm_adjusted(p).tolist() == (multipletests(p, method="holm")[1].tolist() if p else [])


def _z(p: float) -> float:
    from scipy.stats import norm

    return float(norm.isf(p / 2))


labels = some.lists(
    some.lists(some.sampled_from([-1, 0, 1, 2]), min_size=3, max_size=3), min_size=1, max_size=40
)  # -1: no label


def tally_of(items: list[list[int]]) -> Tally:
    return Tally.of(np.array([[row.count(c) for c in range(3)] for row in items]))


@settings(deadline=None, max_examples=60)
@given(labels)
def test_measures_and_intervals_are_within_bounds(items: list[list[int]]) -> None:
    tally = tally_of(items)
    for measure in (unanimity, pairwise_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac1):
        estimate = measure(tally) if measure is unanimity else measure(tally, FAST)
        if estimate.value is None:
            assert estimate.reason is not None and (estimate.low, estimate.high) == (None, None)
            continue
        least = 0.0 if measure in (unanimity, pairwise_agreement) else -1.0
        assert least - 1e-9 <= estimate.value <= 1 + 1e-9
        if estimate.low is not None and estimate.high is not None:
            assert least - 1e-9 <= estimate.low <= estimate.high <= 1 + 1e-9


@settings(deadline=None, max_examples=60)
@given(labels, some.permutations(range(3)))
def test_measures_do_not_depend_on_order_and_names(items: list[list[int]], names: list[int]) -> None:
    renamed = [[names[c] if c >= 0 else c for c in row] for row in items]
    shuffled = [list(reversed(row)) for row in reversed(items)]
    for measure in (unanimity, pairwise_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac1):
        value = measure(tally_of(items)).value if measure is unanimity else measure(tally_of(items), FAST).value
        for other in (renamed, shuffled):
            estimate = measure(tally_of(other)) if measure is unanimity else measure(tally_of(other), FAST)
            assert estimate.value == (None if value is None else pytest.approx(value))


@settings(deadline=None, max_examples=100)
@given(some.lists(some.tuples(some.integers(0, 2), some.integers(0, 2)), min_size=1, max_size=60))
def test_cohens_kappa_is_symmetric_and_ignores_unused_categories(pairs: list[tuple[int, int]]) -> None:
    table = np.zeros((3, 3), dtype=np.int64)
    for a, b in pairs:
        table[a, b] += 1
    estimate, swapped, most = cohen_kappa(table, FAST), cohen_kappa(table.T.copy(), FAST), largest_kappa(table)
    assert (estimate.value is None) == (swapped.value is None) == (most.value is None)
    if estimate.value is not None and most.value is not None and swapped.value is not None:
        assert estimate.value == pytest.approx(swapped.value)
        assert -1 - 1e-9 <= estimate.value <= most.value + 1e-9 <= 1 + 2e-9
        # An unused category changes nothing.
        wider = np.zeros((4, 4), dtype=np.int64)
        wider[:3, :3] = table
        assert cohen_kappa(wider, FAST).value == pytest.approx(estimate.value)


@settings(deadline=None, max_examples=60)
@given(some.lists(some.tuples(some.integers(0, 1), some.integers(0, 1), some.integers(0, 1)), min_size=15, max_size=60))
def test_measures_equal_the_library_and_the_definition(items: list[tuple[int, int, int]]) -> None:
    # Point values and resampled ones come from one formula: it must agree with statsmodels and the definition of alpha.
    counts = np.array([[row.count(0), row.count(1)] for row in items])
    tally = Tally.of(counts)
    found = fleiss_kappa(tally, FAST).value, krippendorff_alpha(tally, FAST).value
    if not counts.any(axis=0).all():  # one category, which the libraries divide by
        assert found == (None, None)
        return
    theirs = alpha(items)
    assert found == pytest.approx((inter_rater.fleiss_kappa(counts), theirs), abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(some.lists(some.integers(0, 9), min_size=9, max_size=9))
def test_cohens_kappa_equals_statsmodels(cells: list[int]) -> None:
    table = np.array(cells).reshape(3, 3)
    result = cohen_kappa(table, FAST).value
    if result is not None:
        assert result == pytest.approx(inter_rater.cohens_kappa(table, return_results=False), abs=1e-12)
        return
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    assert not table.sum() or (rows @ columns == table.sum() ** 2)  # no label, or one category for both


def test_largest_kappa_has_a_reason_for_its_missing_interval() -> None:
    result = largest_kappa(np.array([[45, 15], [25, 15]]))
    assert (result.low, result.high, result.note) == (None, None, AT_ITS_BOUND)


@given(some.integers(1, 400), some.data())
def test_modified_wilson_equals_wilson_except_for_rare_counts(units: int, data: some.DataObject) -> None:
    k = data.draw(some.integers(0, units))
    plain, estimate = wilson(k, units, nothing=NO_TWO_LABELS), modified_wilson(k, units, nothing=NO_TWO_LABELS)
    assert estimate.low is not None and estimate.high is not None and plain.low is not None and plain.high is not None
    assert 0 <= estimate.low <= plain.low and plain.high <= estimate.high <= 1
    if 3 < k < units - 3:
        assert (estimate.low, estimate.high) == (plain.low, plain.high)


def test_modified_wilson_of_a_count_of_one() -> None:
    # The mean of a Poisson count that is 1 or more in 5% is -ln .95.
    result = modified_wilson(1, 100, nothing=NO_TWO_LABELS)
    assert result.low == pytest.approx(-math.log(0.95) / 100, rel=1e-5)
    mirrored = modified_wilson(99, 100, nothing=NO_TWO_LABELS)
    assert mirrored.high == pytest.approx(1 + math.log(0.95) / 100, rel=1e-7)
