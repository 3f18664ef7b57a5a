"""Two models on the same sentences: differences, correlations, same sides; over stems and for these pairs."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.core.model_bias import (
    correlation,
    null_band,
    paired_difference,
    prior_corrected,
    read_scores,
    sign_agreement,
    summarise,
)
from tests.support.bias_scores import normal, scores, stemmed


class TestSideBySide:
    def two(self, a: list[float | None], b: list[float | None]) -> pd.DataFrame:
        return read_scores(pd.concat([scores(a, "a"), scores(b, "b")]))

    def test_a_constant_shift_is_found_without_spread(self) -> None:
        values = normal(200)
        frame = self.two([value + 0.25 for value in values], list(values))
        result = paired_difference(frame, "a", "b", "signed_mean", unit="sentence")
        assert result.value == pytest.approx(0.25)
        assert (
            result.low is None
            and "All units gave the same value, so their spread cannot be estimated: no interval." in str(result.note)
        )
        over_stems = paired_difference(frame, "a", "b", "signed_mean")
        assert over_stems.value == pytest.approx(0.25) and over_stems.low is None and over_stems.note

    def test_paired_differences_have_a_smaller_error(self) -> None:
        values, noise = normal(400), np.random.default_rng(9).normal(0, 0.05, 400)
        frame = self.two(list(np.add(values, noise)), list(values))
        alone = summarise(frame, model="a").fixed_pairs["signed_mean"].se
        paired = paired_difference(frame, "a", "b", "signed_mean", unit="sentence")
        assert paired.se < alone / 5  # type: ignore[operator]

    def test_only_shared_finite_sentences_count(self) -> None:
        frame = self.two([0.5, None, 0.1, 0.4], [0.1, 9.0, math.inf, 0.2])
        assert paired_difference(frame, "a", "b", "signed_mean").value == pytest.approx(0.3)

    def test_models_without_common_sentences_have_no_difference(self) -> None:
        result = paired_difference(self.two([0.5, None], [None, 0.2]), "a", "b")
        assert result.value is None and result.reason

    @pytest.mark.parametrize("method", ["pearson", "spearman"])
    def test_correlations_equal_scipy(self, method: Any) -> None:
        a = normal(80)
        b = list(np.add(a, normal(80, seed=2)))
        result = correlation(self.two(a, [*b[:79], None]), method, corrected=False).set_index(["a", "b"])
        expected = (stats.pearsonr if method == "pearson" else stats.spearmanr)(a[:79], b[:79])
        assert result.loc[("a", "b"), "value"] == pytest.approx(expected.statistic)
        assert result.loc[("a", "b"), "n"] == 79
        assert result.loc[("a", "a"), "value"] == 1
        assert math.isnan(result.loc[("a", "b"), "low"]) and "no interval" in result.loc[("a", "b"), "note"]  # one stem

    @pytest.mark.parametrize("method", ["pearson", "spearman"])
    def test_corrected_correlation_is_of_contexts_and_comes_first(self, method: Any) -> None:
        contexts, leans = np.array(normal(240)), np.tile(normal(12, seed=5), 20)
        a, b = contexts + 3 * leans, -contexts + np.array(normal(240, seed=3)) + 3 * leans
        frame = read_scores(pd.concat([stemmed(list(a), "a"), stemmed(list(b), "b")]))
        row = correlation(frame, method).set_index(["a", "b"]).loc[("a", "b")]
        own = [prior_corrected(frame[frame["model"] == model]) for model in ("a", "b")]
        expected = (stats.pearsonr if method == "pearson" else stats.spearmanr)(*own).statistic
        assert (row["value"], row["kind"], row["stems"]) == (pytest.approx(expected), "prior-corrected", 12)
        assert row["low"] < row["value"] < row["high"] < 0 and row["value"] < -row["band"]
        raw = correlation(frame, method, corrected=False).set_index(["a", "b"]).loc[("a", "b")]
        assert raw["value"] > 0.5 and raw["kind"] == "raw" and math.isnan(raw["band"])

    def test_the_null_band_narrows_with_sentences_but_not_to_nothing(self) -> None:
        bands = [null_band(n, 19) for n in (15, 60, 1000, 10**7)]
        assert bands == sorted(bands, reverse=True) and bands[0] == 1
        assert bands[-1] == pytest.approx(1.96 * 0.016**0.5, abs=1e-3)

    def test_correlation_with_a_constant_is_undefined(self) -> None:
        result = (
            correlation(self.two([0.1, 0.2, 0.3], [0.5, 0.5, 0.5]), corrected=False)
            .set_index(["a", "b"])
            .loc[("a", "b")]
        )
        assert math.isnan(result["value"]) and "same value" in result["reason"]

    def test_sign_agreement_counts_nonzero_pairs(self) -> None:
        frame = self.two([1, 1, -1, -1, 0, None], [1, -1, -1, -1, 1, 1])
        result = sign_agreement(frame).set_index(["a", "b"])
        row = result.loc[("a", "b")]
        assert (row["value"], row["n"]) == (0.75, 4)  # 0 has no side
        assert row["chance"] == pytest.approx(0.5) and row["kappa"] == pytest.approx(0.5)

    def test_unrelated_models_are_rarely_significant(self) -> None:
        """Leans of stems by chance: Fisher's z over sentences left out 0 in half of these, raw."""
        random, results = np.random.default_rng(12), []
        plain = pd.concat([stemmed([0.0] * 60, "a"), stemmed([0.0] * 60, "b")])
        for _ in range(60):
            values = np.tile(random.normal(0, 0.5, (2, 12)), 5) + random.normal(0, 0.2, (2, 60))
            frame = plain.assign(bias_log10=values.ravel())
            rows = [correlation(frame, corrected=corrected).iloc[1] for corrected in (False, True)]
            results.append([not row["low"] <= 0 <= row["high"] for row in rows])
        assert (np.mean(results, axis=0) <= 0.12).all()
