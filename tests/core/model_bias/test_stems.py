"""Overall tests of a model are over stems, and are left out where stems are too few."""

import numpy as np
import pandas as pd
import pytest

from evenhand.core.model_bias import (
    shuffled_sides,
    summarise,
    summarise_by,
)
from evenhand.core.model_bias.means import SideOrder, over_stems
from evenhand.core.resources import keyword_pairs, stem_of
from tests.support.bias_scores import normal, scores, stemmed


class TestStems:
    def test_nulls_exist_for_three_measures(self) -> None:
        even = shuffled_sides(stemmed(normal(300)))
        assert set(even) == {"signed_mean", "side_difference", "side_auc"}  # and none of Model_bias
        assert even["signed_mean"].p > 0.01  # type: ignore[operator]
        leaning = shuffled_sides(stemmed(normal(300, shift=0.5)))["signed_mean"]
        assert leaning.p == pytest.approx(2 / 4096) and leaning.high < leaning.observed  # type: ignore[operator]
        assert leaning.stems == 12

    def test_nulls_flip_whole_stems(self) -> None:
        """Against turning by hand, in the frame itself: words for the first two nulls, sources for the AUC."""
        frame = stemmed(normal(96, shift=0.2))
        sides, stems = shuffled_sides(frame), frame["pair"].map(stem_of).to_numpy()
        names, drawn = list(dict.fromkeys(stems)), {name: [] for name in sides}
        for turn in np.random.default_rng(4).integers(0, 2, (200, 12)).astype(bool):
            turning = pd.Series(turn, index=names)[stems].to_numpy()
            words = frame["bias_log10"].where(~turning, -frame["bias_log10"])
            other = frame["side"].map({"male": "female", "female": "male"})
            sources = SideOrder(frame.assign(side=frame["side"].where(~turning, other)))
            drawn["signed_mean"].append(words.mean())
            drawn["side_difference"].append(words[words > 0].mean() + words[words < 0].mean())
            drawn["side_auc"].append(sources.auc()(np.ones((1, 96)))[0])
        for name, values in drawn.items():
            middle = 0.5 if name == "side_auc" else 0.0
            p = (np.abs(np.array(values) - middle) >= abs(sides[name].observed - middle) - 1e-9).mean()
            assert sides[name].p == pytest.approx(p, abs=0.1)
            assert sides[name].high - middle == pytest.approx(np.percentile(np.array(values) - middle, 97.5), rel=0.35)

    def test_too_few_stems_give_no_p_with_a_reason(self) -> None:
        one_pair, by_sentence = (
            shuffled_sides(scores(normal(300, shift=0.5))),
            shuffled_sides(stemmed(normal(60)), unit="sentence"),
        )
        for null in (*one_pair.values(), *by_sentence.values()):
            assert null.observed is not None and null.p is None and null.low is None and null.reason
        assert (
            "Only 1 independent units: no interval and no test, because even if all leaned the same way, p "
            "would be at least" in str(one_pair["signed_mean"].reason)
        )

    def test_pairs_of_one_stem_are_one_unit(self) -> None:
        seven = [pair.name for pair in keyword_pairs() if stem_of(pair.name) == "男/女"]
        assert len(seven) == 7 and stem_of("天/地") == "天/地"
        summary = summarise(scores(normal(70), pair=seven * 10, keyword="男"))
        assert summary.stems == 1 and summary.signed_mean.low is None and summary.signed_mean.note
        assert summary.fixed_pairs["signed_mean"].low is not None

    def test_a_single_pair_as_a_group_keeps_the_interval_of_its_contexts(self) -> None:
        [group, *_] = summarise_by(stemmed(normal(240)), "pair")
        assert group.signed_mean.low is not None and "stem" not in group.intervals
        assert "unit:stem" in summarise(stemmed(normal(240))).intervals

    def test_random_stem_leans_are_rarely_significant(self) -> None:
        """In untrained models each stem leans for itself; tests over sentences gave six of ten of these p < .05."""
        random, plain, results = np.random.default_rng(11), stemmed([0.0] * 120), []
        for _ in range(120):
            leans = np.tile(random.normal(0, 0.5, 12), 10)
            frame = plain.assign(bias_log10=leans + random.normal(0, 0.1, 120))
            interval = over_stems(frame, ["signed_mean"])["signed_mean"]
            results.append([shuffled_sides(frame)["signed_mean"].p < 0.05, not interval.low <= 0 <= interval.high])
        assert np.mean(results, axis=0) == pytest.approx([0.05, 0.05], abs=0.05)
