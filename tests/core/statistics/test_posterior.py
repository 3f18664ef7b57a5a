"""core.statistics.posterior: coverage of the intervals of agreement, and their values for little data."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.special import stdtrit

from benchmarks.coverage_loop import coverage
from benchmarks.designs.agreement import InClusters, OverContexts, Planted, Truth, TwoRaters, of_labels
from evenhand.core.statistics import (
    Resampling,
    Tally,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairwise_agreement,
    prevalence,
    specific_agreement,
    unanimity,
)
from evenhand.core.statistics.estimate import CLUSTERED, DIRICHLET, Estimate
from evenhand.core.statistics.posterior import Seen, share_over_clusters, two_way_splits

FAST = Resampling(resamples=400)


@pytest.mark.parametrize(
    "planted",
    [
        InClusters(200, raters=3, accept=0.95, kappa=0.5, size=10, between=0.8),
        TwoRaters(80, 0.95, 0.8, 0.2),
        OverContexts(16, 5, 0.95, 0.5),
        Planted(80, raters=3, accept=0.95, kappa=0.0),
        Planted(80, raters=3, accept=0.95, kappa=0.4, missing=0.25),
        Planted(24, raters=2, accept=0.9, kappa=0.4),
        Planted(200, raters=3, accept=0.8, kappa=0.8, categories=3),
    ],
    ids=str,
)
def test_intervals_have_their_coverage(planted: Truth) -> None:
    """100 samples: an interval with 93% coverage contains the truth 84 times or more in 998 of 1,000 such tests."""
    replications = 40 if isinstance(planted, InClusters) else 100
    for held in coverage(of_labels("test", "", [planted]), planted, replications, draws=200):
        assert held.printed < 25 or held.held >= 0.84 * held.printed, held


def test_one_or_two_rare_labels_give_a_reason_instead_of_an_interval() -> None:
    tally = Tally(np.array([[3, 0], [2, 1]]), np.array([22, 2]))
    reason = "Labels of rare categories: 2, too few for a 95% interval."
    kappa = cohen_kappa(np.array([[22, 1], [1, 0]]), FAST)
    for estimate in (
        fleiss_kappa(tally, FAST),
        krippendorff_alpha(tally, FAST),
        specific_agreement(tally, 1, FAST),
        kappa,
    ):
        assert estimate.value is not None
        assert (estimate.low, estimate.high, str(estimate.note), estimate.method) == (None, None, reason, "")
    assert pairwise_agreement(tally, FAST).low is not None


def test_few_rare_labels_do_not_exclude_chance() -> None:
    """20 items all accept and 5 have one reject of three: this does not show that kappa is not 0."""
    tally = Tally(np.array([[3, 0], [2, 1]]), np.array([20, 5]))
    for measure in (fleiss_kappa, krippendorff_alpha):
        result = measure(tally, FAST)
        assert result.value is not None and result.value < 0
        assert result.low is not None and result.high is not None
        assert result.low < 0 < result.high and result.method == DIRICHLET
    kappa = cohen_kappa(np.array([[20, 2], [2, 0]]), FAST)
    assert kappa.low is not None and kappa.high is not None and kappa.low < 0 < kappa.high


def test_rare_labels_of_four_items_give_no_interval_of_three_people() -> None:
    """87 of 100 intervals held the specific agreement where five people put rare labels on few of 200 items."""
    tally = Tally(np.array([[3, 0], [0, 3]]), np.array([196, 4]))
    for estimate in (fleiss_kappa(tally, FAST), krippendorff_alpha(tally, FAST), specific_agreement(tally, 1, FAST)):
        assert estimate.value == 1 and estimate.low is None
        assert str(estimate.note) == "Items with labels of rare categories: 4, too few for a 95% interval."
    assert specific_agreement(tally, 0, FAST).low is not None
    assert fleiss_kappa(Tally(np.array([[2, 0], [0, 2]]), np.array([196, 4])), FAST).low is not None


def test_the_width_of_kappa_follows_t_of_items_with_rare_labels() -> None:
    """Alpha of 24 items and four people held 88 of 100 samples when all items counted alike."""
    tally = Tally(np.array([[4, 0], [2, 2], [0, 4]]), np.array([16, 4, 4]))
    _, seen = tally.seen
    plain = Resampling(20_000).shares(seen.sizes + seen.prior)
    wider = seen.shares(Resampling(20_000), np.array([False, True]))
    ratio = np.std(wider[:, 0]) / np.std(plain[:, 0])
    assert seen.telling(np.array([False, True])) == 8
    items, shape = 24 + seen.prior.sum(), (7 * (1.96 / stdtrit(7, 0.975)) ** 2 - 1) / 8
    assert ratio == pytest.approx(math.sqrt((items + 1) / (shape * items + 1)), rel=0.03)


def test_agreement_of_nine_items_has_no_interval() -> None:
    nine = Tally(np.array([[2, 0], [1, 1], [0, 2]]), np.array([4, 2, 3]))
    for measure in (fleiss_kappa, gwet_ac1, partial(prevalence, category=1)):
        result = measure(nine, resampling=FAST)
        assert result.value is not None and result.low is None
        assert str(result.note) == "Fewer than 10 items (9): too few for a 95% interval."
    assert unanimity(nine).low is not None


def test_a_category_of_three_clusters_has_no_interval_of_its_share() -> None:
    clusters = np.repeat(np.arange(20), 5)
    for holding, printed in ((0, True), (3, False), (4, True)):
        counts = np.where((clusters < holding)[:, None], [[1, 1]], [[2, 0]])
        result = prevalence(Tally.of(counts, clusters), 1, FAST)
        assert result.value == pytest.approx(holding / 40) and (result.low is not None) is printed, holding
        assert printed or (str(result.note), result.method) == (
            "The rarer labels come from few units (3): too few for a 95% interval.",
            "",
        )


def test_complete_agreement_has_an_interval() -> None:
    result = pairwise_agreement(Tally(np.array([[3, 0], [0, 3]]), np.array([30, 20])), FAST)
    assert result.value == result.high == 1
    assert result.low is not None and 0.8 < result.low < 1


def test_the_prior_of_two_categories_is_uniform() -> None:
    patterns, weights = two_way_splits(3, np.array([True, True]))
    assert sorted(patterns.tolist()) == [[0, 3], [1, 2], [2, 1], [3, 0]]
    assert weights.tolist() == [0.25] * 4
    assert two_way_splits(2, np.array([True, True]))[1].tolist() == [0.5] * 3


@pytest.mark.parametrize("categories", [2, 3, 5])
def test_the_prior_of_rare_labels_does_not_grow_with_the_categories(categories: int) -> None:
    used = np.ones(categories, dtype=bool)
    patterns, weights = two_way_splits(4, used)
    alike = patterns.max(axis=1) == 4
    assert weights[~alike].sum() == pytest.approx(0.5)
    assert weights[alike][1:].sum() == pytest.approx(0.5 / 3)  # in addition to the most common one
    # Unused categories get no weight.
    patterns, weights = two_way_splits(4, np.append(used, False))
    assert not patterns[:, -1].any()


def test_items_with_single_labels_leave_room_for_disagreement() -> None:
    """More items with one label than with two, and the two agree: AC1 may still be below 1."""
    result = gwet_ac1(Tally(np.array([[1, 0], [2, 0], [0, 2]]), np.array([20, 6, 2])), FAST)
    assert result.low is not None and result.low < 0.9


def test_the_interval_of_an_unused_category_does_not_end_at_0() -> None:
    result = prevalence(Tally(np.array([[2, 0, 0], [1, 1, 0]]), np.array([8, 2])), 2, FAST)
    assert (result.value, result.low) == (0.0, 0.0)
    assert result.high is not None and 0.03 < result.high < 0.4


@pytest.mark.parametrize(
    "planted",
    [
        Planted(200_000, raters=3, accept=0.8, kappa=0.4, categories=3, missing=0.25),
        InClusters(12_000, raters=4, accept=0.8, kappa=0.4, categories=3, size=2, between=0.5, uneven=True),
        TwoRaters(200_000, 0.95, 0.8, 0.2),
        OverContexts(20_000, 5, 0.8, 0.5, uneven=True),
    ],
    ids=str,
)
def test_the_planted_truth_equals_the_value_of_many_items(planted: Truth) -> None:
    """The values of very many items equal the planted truth of each measure."""
    labels, off = planted.labels(np.random.default_rng(1)), 0.02 if isinstance(planted, InClusters) else 0.01
    for name, (truth, interval) in planted.measures().items():
        assert interval(labels, planted, Resampling(2)).value == pytest.approx(truth(planted), abs=off), name


def in_clusters(clusters: int, size: int) -> Tally:
    """Return items of two labels, equal within a cluster: both accept, one accepts, both reject, in turn."""
    items = np.repeat(np.array([[2, 0], [1, 1], [0, 2]])[np.arange(clusters) % 3], size, axis=0)
    return Tally.of(items, np.repeat(np.arange(clusters), size))


def test_identical_items_of_a_cluster_count_as_one() -> None:
    for measure in (fleiss_kappa, krippendorff_alpha, gwet_ac1):
        single, four = measure(in_clusters(30, 1), FAST), measure(in_clusters(30, 4), FAST)
        assert (single.method, single.clusters, four.method, four.clusters) == (DIRICHLET, 0, CLUSTERED, 30)
        assert single.low is not None and single.high is not None and four.low is not None and four.high is not None
        assert four.high - four.low == pytest.approx(single.high - single.low, rel=0.15), measure


def test_fewer_than_five_clusters_give_a_reason_instead_of_an_interval() -> None:
    result = pairwise_agreement(in_clusters(4, 5), FAST)
    assert result.value is not None and (result.low, result.method, result.clusters) == (None, "", 4)
    assert str(result.note) == "Fewer than 5 units (4): too few for a 95% interval."
    assert pairwise_agreement(in_clusters(5, 5), FAST).low is not None


def test_rare_labels_of_one_cluster_give_a_reason_instead_of_an_interval() -> None:
    """Rejects of one article may be one event; 71 of 100 such intervals held the specific agreement."""
    items, clusters = np.repeat([[3, 0], [1, 2]], [45, 5], axis=0), np.repeat(np.arange(10), 5)
    for estimate in (
        fleiss_kappa(Tally.of(items, clusters), FAST),
        specific_agreement(Tally.of(items, clusters), 1, FAST),
    ):
        assert estimate.value is not None and estimate.low is None
        assert str(estimate.note) == "All labels of rare categories come from one unit: no interval."
    assert fleiss_kappa(Tally.of(items, np.arange(50) % 10), FAST).low is not None


def test_clustered_kappa_is_symmetric() -> None:
    clusters = np.random.default_rng(1).multinomial(5, [0.6, 0.1, 0.1, 0.2], size=20)
    turned = clusters[:, [0, 2, 1, 3]]
    first, second = (cohen_kappa(c.sum(axis=0).reshape(2, 2), FAST, c) for c in (clusters, turned))
    assert (first.low, first.high) == (second.low, second.high) and first.method == CLUSTERED


@pytest.mark.parametrize(
    ("held", "least", "most"), [([5, 0] * 10, 4.9, 5.0), ([2, 3] * 10, 1.0, 1.3), ([5] * 20, 5, 5)]
)
def test_design_effect_is_between_one_and_the_size_of_a_cluster(held: list[int], least: float, most: float) -> None:
    """All alike within clusters: as many as they are; as mixed as each other: about one; all one answer: unknown."""
    clusters = np.array([[n, 5 - n] for n in held], dtype=float)
    seen = Seen(np.eye(2, dtype=np.int64), clusters.sum(axis=0), np.full(2, 0.5), clusters)
    assert least <= seen.design_effect <= most


def test_the_interval_of_a_share_of_all_contexts_does_not_start_at_1() -> None:
    result = share_over_clusters(np.full(16, 5), np.full(16, 5), Estimate(1.0, units=16), FAST)
    assert result.high == 1 and result.low is not None and 0.75 < result.low < 0.95
