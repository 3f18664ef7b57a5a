"""Intervals: a side of few sentences among many gets the interval of few units, and Holm the same t."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.model_bias import many_intervals, paired_difference, read_scores, summarise
from core.statistics import Estimate, holm

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


def test_four_sentences_of_a_side_are_few_units() -> None:
    found = summarise(read_scores(frame([*UP, *DOWN])), resamples=4000)
    reach = stats.t.ppf(0.975, 3) * np.std(UP, ddof=1) / 2 / np.mean(UP)  # on the logarithm
    assert found.bias_man.df == 3
    assert found.bias_man.low == pytest.approx(np.mean(UP) * math.exp(-reach))
    assert found.bias_man.high == pytest.approx(np.mean(UP) * math.exp(reach))
    assert str(found.bias_man.note) == "Few units (4): t interval."
    assert found.model_bias.df == 3
    assert found.bias_woman.df == 199
    assert found.bias_woman.note is None


def test_one_sentence_of_a_side_has_no_interval() -> None:
    found = summarise(read_scores(frame([0.4, *DOWN])), resamples=200)
    assert found.bias_man.value == 0.4
    assert (found.bias_man.low, found.model_bias.low) == (None, None)
    assert str(found.bias_man.note) == "It rests on a single unit of one side: no interval."


def test_few_units_and_fewer_of_a_side() -> None:
    # 10 sentences, 3 of them male: the interval has 2 degrees of freedom, not 9.
    found = summarise(read_scores(frame([0.3, 0.5, 0.8, *DOWN[:7]])))
    assert (found.bias_man.df, found.bias_woman.df, found.signed_mean.df) == (2, 6, 9)
    values = np.array([0.3, 0.5, 0.8, *DOWN[:7]])
    half = stats.t.ppf(0.975, 9) * values.std(ddof=1) / math.sqrt(10)
    assert found.signed_mean.high == pytest.approx(values.mean() + half)


def test_a_difference_rests_on_the_smaller_side() -> None:
    both = pd.concat([frame([*UP, *DOWN]), frame([-x for x in [*UP, *DOWN]], "n")])
    found = paired_difference(read_scores(both), "m", "n", "bias_man", resamples=500)
    assert found.df == 3


def test_holm_uses_t_where_the_interval_does() -> None:
    # z = 2.5: p = 0.012 as normal, 0.088 as t with 3 degrees of freedom.
    normal = Estimate(0.5, 0.1, 0.9, 40, se=0.2)
    few = Estimate(0.5, -0.14, 1.14, 4, se=0.2, df=3)
    assert holm([normal]) == [True]
    assert holm([few]) == [False]
    found = many_intervals([few])
    assert (found.exclude, found.stays) == ((False,), (False,))
