"""Intervals of means: coverage, a side of few sentences among many, withheld intervals, and Holm with the same t."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks import coverage_loop
from benchmarks.coverage_loop import Cell, Design, Held, by_measure, coverage, second_stage, simulated
from benchmarks.designs.means import DESIGNS, articles_of, scores_of
from evenhand.core.misgendering.metrics import mean_by_units
from evenhand.core.model_bias import many_intervals, paired_difference, read_scores, summarise
from evenhand.core.statistics import Estimate, Note, Resampling, holm
from evenhand.core.statistics.estimate import BY_T, BY_T_CROSSED, BY_T_OF_DRAWS, BY_T_SKEWED
from evenhand.core.statistics.intervals import by_t, over_strata, over_units
from evenhand.core.statistics.units import Clusters, effective_units

RANDOM = np.random.default_rng(5)
UP, DOWN = [0.9, 0.1, 0.5, 0.4], (-np.abs(RANDOM.normal(0.5, 0.2, 200))).tolist()


def frame(values: list[float], model: str = "m") -> pd.DataFrame:
    n = len(values)
    columns = {
        "row": range(1, n + 1), "sentence": [f"他在第{i}天来了。" for i in range(n)], "pair": "他/她",
        "keyword": ["他" if i % 2 else "她" for i in range(n)], "model": model, "p_male": 0.1, "p_female": 0.1,
        "bias_log10": values, "signature": f"masked|{model}|weights:0|independent|fp32|v1",
    }  # fmt: skip
    return pd.DataFrame(columns)


def test_four_sentences_of_a_side_give_a_note() -> None:
    summary = summarise(read_scores(frame([*UP, *DOWN])), resamples=4000)
    reach = stats.t.ppf(0.975, 3) * np.std(UP, ddof=1) / 2 / np.mean(UP)  # on the logarithm
    assert summary.bias_man.df == 3
    assert summary.bias_man.low == pytest.approx(np.mean(UP) * math.exp(-reach))
    assert summary.bias_man.high == pytest.approx(np.mean(UP) * math.exp(reach))
    assert str(summary.bias_man.note) == "Few units (4): t interval."
    assert summary.model_bias.df == 3
    assert summary.bias_woman.df == 199
    assert summary.bias_woman.note is None


def test_one_sentence_of_a_side_has_no_interval() -> None:
    summary = summarise(read_scores(frame([0.4, *DOWN])), resamples=200)
    assert summary.bias_man.value == 0.4
    assert (summary.bias_man.low, summary.model_bias.low) == (None, None)
    assert str(summary.bias_man.note) == "One side has only a single unit: no interval."


def test_a_note_names_few_units_and_fewer_of_a_side() -> None:
    # 10 sentences, 3 of them male: the interval has 2 degrees of freedom, not 9.
    summary = summarise(read_scores(frame([0.3, 0.5, 0.8, *DOWN[:7]])))
    mean = summary.fixed_pairs["signed_mean"]
    assert (summary.bias_man.df, summary.bias_woman.df, mean.df) == (2, 6, 9)
    values = np.array([0.3, 0.5, 0.8, *DOWN[:7]])
    se = values.std(ddof=1) / math.sqrt(10)
    skew = np.mean((values - values.mean()) ** 3) / 100 / se**3
    for end, t in ((mean.low, stats.t.ppf(0.975, 9)), (mean.high, -stats.t.ppf(0.975, 9))):
        far = (values.mean() - end) / se  # Hall's transformation makes t of it
        assert far + skew * far**2 / 3 + skew**2 * far**3 / 27 + skew / 6 == pytest.approx(t)


def test_a_difference_rests_on_the_smaller_side() -> None:
    both = pd.concat([frame([*UP, *DOWN]), frame([-x for x in [*UP, *DOWN]], "n")])
    result = paired_difference(read_scores(both), "m", "n", "bias_man", unit="sentence", resamples=500)
    assert result.df == 3


def test_holm_uses_t_if_the_interval_does() -> None:
    # z = 2.5: p = 0.012 as normal, 0.088 as t with 3 degrees of freedom.
    normal = Estimate(0.5, 0.1, 0.9, 40, se=0.2)
    few = Estimate(0.5, -0.14, 1.14, 4, se=0.2, df=3)
    assert holm([normal]) == [True]
    assert holm([few]) == [False]
    assert holm([replace(normal, low=None, high=None)]) == [False], "its interval is withheld"
    result = many_intervals([few])
    assert (result.exclude, result.stays) == ((False,), (False,))


def lucky(_: Design, cell: Cell, samples: int, seed: int, measures: Sequence[str] = (), draws: int = 0) -> list[Held]:
    """Return two measures of cells with 95% coverage; the first samples of the second cell are bad for one of them."""
    names = [name for name in ("mean", "share") if name in (measures or ("mean", "share"))]
    low = {name: cell["place"] == 1 and name == "share" and seed == 0 for name in names}
    return [Held(name, cell, samples * (8 if low[name] else 19) // 20, 0, samples, 0, 0, 1.0) for name in names]


def test_a_cell_below_92_percent_is_simulated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest of many cells are low by chance, so their coverage is estimated by fresh samples."""
    monkeypatch.setattr(coverage_loop, "coverage", lucky)
    three = [Design("three", "", {"place": (0, 1, 2)}, dict, dict)]
    result = simulated(three, 20, 0, again=1000)
    assert [entry.share for entry in result] == [0.95, 0.95, 0.95, 0.4, 0.95, 0.95]
    assert [entry.again and entry.again.samples for entry in result] == [None, None, None, 1000, None, None]
    rows = {row.split(" | ")[0].strip("| "): row for row in by_measure(result)}
    assert " 3 | 76.7% | 0% | 0% | 95.0% | 0 | 3 | 0 |" in rows["share"]
    table = list(second_stage(result))
    assert table[0] == "1 in the first stage, 0 in the second.\n"
    assert table[3] == "| share | place 1 | 40.0% | 95.0% | 0.0% | 0% |"
    assert simulated(three, 20, 0, again=0)[3].again is None


def test_the_simulation_study_uses_the_intervals_of_a_summary() -> None:
    cell = DESIGNS[0].cells[0]
    made, rows = DESIGNS[0].sample(cell, np.random.default_rng(1)), articles_of(cell, 8, np.random.default_rng(1))
    summary = summarise(scores_of(rows), unit="source")
    for name, interval in made.items():
        whole = summary.fixed_pairs[name.split(",")[0]] if name.endswith("these pairs") else getattr(summary, name)
        assert (interval.value, interval.low, interval.high) == (whole.value, whole.low, whole.high), name


def skewed_articles(random: np.random.Generator, articles: int = 20) -> np.ndarray:
    """Return, per article of 1 to 12 sentences, the sum of the values above 0 and their number."""
    article = np.repeat(np.arange(articles), random.integers(1, 13, articles))
    values = (random.exponential(size=articles)[article] + random.exponential(size=len(article)) - 2) / math.sqrt(2)
    columns = (np.maximum(values, 0), values > 0)
    return np.stack([np.bincount(article, weights=column, minlength=articles) for column in columns], axis=1)


def test_intervals_of_a_side_mean_over_20_articles_have_their_coverage() -> None:
    """Percentiles of 2,000 draws held it in 81 of 100 samples."""
    random, held = np.random.default_rng(3), 0
    truth = np.divide(*skewed_articles(random, 200_000).sum(axis=0))
    for _ in range(500):
        sums = skewed_articles(random)
        result = over_units(
            Resampling(), lambda w, s=sums: {"": np.divide(*(w @ s).T)}, 20, {"": (0, np.inf)}, {"": [sums[:, 1]]}
        )[""]
        held += result.low is not None and result.low <= truth <= result.high
    assert 0.92 <= held / 500 <= 0.98


@pytest.mark.parametrize(
    ("design", "cell", "widest"),
    [
        # The pigeonhole bootstrap: 100% at 1.6 times the width.
        ("Template x name", {"templates": 20, "names": 50, "right": 0.5, "template": 0.0, "name": 0.0}, 0.08),
        ("Template x name", {"templates": 8, "names": 15, "right": 0.9, "template": 0.3, "name": 0.3}, 0.5),
        ("People and the rule over contexts", {"contexts": 16, "share": 0.95, "between": 0.4}, 0.25),
    ],
    ids=["no spread between units", "few templates", "16 contexts at .95"],
)
def test_intervals_of_shares_have_their_coverage(design: str, cell: dict[str, float], widest: float) -> None:
    """200 samples: an interval with 95% coverage contains the truth in 91 to 98.5% of 99 in 100 such tests.

    Some samples of few templates are so near an end that they have none.
    """
    (covered,) = coverage(next(candidate for candidate in DESIGNS if candidate.name == design), cell, 200)
    assert covered.printed >= (150 if cell.get("templates") == 8 else 200)
    assert 0.91 <= covered.share <= 0.99
    assert covered.width < widest


def test_a_share_near_an_end_over_few_templates_has_no_interval() -> None:
    """Template x name, 97% right: 88 to 91 of 100 such intervals held it over 8 and 20 templates."""
    reason = "Too close to 0 or 1 for a 95% interval over so few units (8)."
    for templates, wrong, printed in ((8, 3, False), (8, 20, True), (30, 3, True)):
        first, second = np.divmod(np.arange(templates * 30), 30)
        right = np.ones(len(first))
        right[np.arange(wrong) * 7] = 0
        result = mean_by_units(right, Clusters(("template", "name"), (first, second)), Note("nothing"))
        assert result.value == pytest.approx(1 - wrong / len(right))
        assert (result.low is not None) is printed, (templates, wrong)
        assert printed or str(result.note) == reason


def test_shares_and_differences_of_small_strata_have_no_interval() -> None:
    """NLI over occupations, five of a kind, a tenth biased: 82 and 90 of 100 such intervals held the truth."""

    def measures(sums: np.ndarray) -> dict[str, np.ndarray]:
        return {"share": sums[:, 0] / sums[:, 1], "difference": (sums[:, 0] - sums[:, 2]) / sums[:, 1]}

    for units, biased, printed in ((5, 1, (False, False)), (5, 5, (True, False)), (8, 5, (True, True))):
        own = np.resize([0, 1, 2], units) + biased - 1.0
        table = np.stack([own, np.full(units, 10.0), np.zeros(units)], axis=1)
        result = over_strata(
            measures, table, [np.arange(units)], bounds={"share": (0.0, 1.0), "difference": (-1.0, 1.0)}
        )
        assert tuple(estimate.low is not None for estimate in result.values()) == printed, (units, biased)
    few = over_strata(measures, table[:5], [np.arange(5)], bounds={"difference": (-1.0, 1.0)})["difference"]
    assert few.value is not None and "to estimate skewness: no 95% interval for the difference." in str(few.note)


def test_units_are_weighted_by_size() -> None:
    assert effective_units(np.full(20, 7)) == pytest.approx(20)
    assert effective_units(np.array([50, 1, 1, 1])) == pytest.approx(1.0, abs=0.01)
    assert effective_units(np.zeros(3)) == 0
    weights = np.array([100.0, 1, 1, 1])
    mean = over_units(Resampling(), lambda w: {"": (w @ weights) / (w @ weights)}, 4, sizes={"": [weights]})[""]
    assert (mean.value, mean.low) == (1.0, None)
    assert str(mean.note) == "Nearly all of the data come from a single unit: no interval."


def test_an_interval_stays_within_the_range_of_the_measure() -> None:
    size = by_t(Estimate(0.5), 0.3, 6, (0.0, math.inf))
    assert 0 < size.low < 0.5 < size.high and size.high / 0.5 == pytest.approx(0.5 / size.low)
    share = by_t(Estimate(0.95), 0.05, 10, (0.0, 1.0))
    assert 0 < share.low < 0.95 < share.high < 1
    turned = by_t(Estimate(0.05), 0.05, 10, (0.0, 1.0))
    assert (turned.low, turned.high) == pytest.approx((1 - share.high, 1 - share.low))
    # Fisher's z between -1 and 1.
    z = math.atanh(0.6) + stats.t.ppf(0.975, 19) * 0.1 / (1 - 0.36)
    assert by_t(Estimate(0.6), 0.1, 20, (-1.0, 1.0)).high == pytest.approx(math.tanh(z))
    assert (size.method, share.df) == (BY_T, 9)


def test_identical_units_have_an_interval_only_at_an_end() -> None:
    for value, bounds in ((0.5, (0.0, 1.0)), (0.5, (0.0, math.inf)), (0.25, None)):
        result = by_t(Estimate(value), 0.0, 20, bounds)
        assert (result.low, result.method, result.method_data) == (None, "", {})
        assert "All units gave the same value, so their spread cannot be estimated: no interval." in str(result.note)
    interval = by_t(Estimate(1.0), 0.0, 30, (0.0, 1.0))
    assert interval.method == "Wilson interval"
    t = stats.t.ppf(0.975, 29)
    assert (interval.low, interval.high) == pytest.approx((30 / (30 + t**2), 1.0))
    assert "each of the 30 units counted once" in str(interval.note)
    wide = by_t(Estimate(0.1), 0.2, 3, (0.0, math.inf))
    assert wide.low is None and "factor of 20" in str(wide.note)


def test_an_interval_names_its_method() -> None:
    fewest, few, many = (
        over_units(Resampling(200), lambda w, v=values: {"": (w @ v) / w.sum(axis=1)}, len(values))[""]
        for values in (RANDOM.normal(size=7), RANDOM.exponential(size=30), RANDOM.normal(size=401))
    )
    assert (fewest.method, few.method, many.method) == (BY_T, BY_T_SKEWED, BY_T_OF_DRAWS)
    # A long tail to the right: the mean may be further above than below.
    assert few.high - few.value > 1.2 * (few.value - few.low)
    assert many.se == pytest.approx(1 / math.sqrt(401), rel=0.2)
    assert fewest.method_data == {"method": "jackknife t interval, clustered by unit"}
    assert BY_T_CROSSED == "two-way jackknife t interval"
