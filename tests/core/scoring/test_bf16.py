"""No decision rests on bf16: a scorer with a known error against an exact one."""

import math

import pytest

from core.scoring.bf16 import ExactNearDecisions
from core.scoring.cache import CachedScorer
from core.scoring.rows import ScoreItem, Tally, item_of, score_items
from core.sentence_bias.bias import OBVIOUS
from core.text.keywords import find
from core.types import Score
from tests.conftest import FakeScorer

N = 3000


class Wavy(FakeScorer):
    """Bias_c from the number in the sentence; *error* moves it up and down by at most that much (log10)."""

    def __init__(self, precision, error=0.0):
        super().__init__()
        self.signature = f"masked|m|weights:0|independent|{precision}|v1"
        self.error = error

    def score(self, probes):
        self.probes.extend(probes)
        scores = []
        for probe in probes:
            number = int("".join(c for c in probe.text if c.isdigit()))
            value = 2 * math.sin(number * 0.7) + self.error * math.sin(number * 13.7)
            scores.append(Score((value * math.log(10) - 5, -5.0), self.signature))
        return scores


def items():
    for row in range(1, N + 1):
        if row % 500 == 0:
            yield ScoreItem(row, "没有。", problem="none", reason="no_keyword")
        else:
            yield item_of(row, find(f"他在第{row}天来了。")[0])


def run(error, path=None):
    exact, tally = Wavy("fp32"), Tally()
    with CachedScorer(Wavy("bf16", error), path) as rough, CachedScorer(exact, path) as exact_cached:
        near = ExactNearDecisions(items, rough, exact_cached)
        rows = list(near.rows(model="m", tally=tally, chunk=100))
        assert rough.misses == N - 6  # read again from what was remembered, not asked again
    return rows, near.facts(), tally, exact


def decided(values):
    """Sign, obvious and the first and last hundred of the defined values."""
    defined = {i: value for i, value in enumerate(values) if value is not None}
    order = sorted(defined, key=lambda i: (defined[i], i))
    signs = {i: (value > 0) - (value < 0) for i, value in defined.items()}
    return signs, {i: abs(value) > OBVIOUS for i, value in defined.items()}, order[:100], order[-100:]


def test_every_decision_is_that_of_fp32():
    rows, facts, tally, exact = run(0.03)
    truth = [row.bias_log10 for row in score_items(items(), Wavy("fp32"), model="m")]
    found = [row.bias_log10 for row in rows]
    assert decided(found) == decided(truth)
    assert [row.item.row for row in rows] == list(range(1, N + 1))
    assert 0.028 < facts["sample_largest_difference"] <= facts["largest_difference"] <= 0.03 + 1e-9
    assert facts["sampled"] == 200
    assert facts["compared"] == len(exact.probes) < N / 3
    assert sum("|fp32|" in row.signature for row in rows) == facts["compared"]
    assert (tally.rows, tally.scored, tally.undefined["no_keyword"]) == (N, N - 6, 6)
    assert (tally.asked, tally.worked, tally.free) == (N - 6, N - 6, 6)


def test_a_sentence_and_its_twin_keep_one_number():
    texts = [f"{word}在第{row}天来了。" for row in range(1, 400) for word in ("他", "她")]
    twins = [item_of(row, find(text)[0]) for row, text in enumerate(texts, 1)]
    with CachedScorer(Wavy("bf16", 0.03), None) as rough, CachedScorer(Wavy("fp32"), None) as exact:
        near = ExactNearDecisions(lambda: iter(twins), rough, exact)
        values = [(row.bias_log10, row.signature) for row in near.rows(model="m", tally=Tally())]
    assert values[::2] == values[1::2]
    assert {signature.split("|")[4] for _, signature in values} == {"bf16", "fp32"}


def test_a_larger_error_asks_more_again():
    small, large = (run(error)[1] for error in (0.003, 0.1))
    assert small["compared"] < large["compared"]
    assert small["largest_difference"] < large["largest_difference"]
    assert set(large["near"]) == {"sign", "obvious", "extreme"}


def test_values_far_from_decisions_stay_bf16():
    rows, facts, _, _ = run(0.03)
    kept = [row for row in rows if "|bf16|" in row.signature and row.status == "ok"]
    assert len(kept) == N - 6 - facts["compared"]
    for row in kept:
        assert abs(row.bias_log10) > facts["largest_difference"]
        assert abs(abs(row.bias_log10) - OBVIOUS) > facts["largest_difference"]


def test_both_precisions_are_remembered_apart(tmp_path):
    first = run(0.03, tmp_path / "scores.db")[0]
    with CachedScorer(Wavy("fp32"), tmp_path / "scores.db") as cached:
        list(score_items(items(), cached, model="m"))
        assert cached.misses > N / 2  # what only bf16 has answered is asked
    path = tmp_path / "scores.db"
    with CachedScorer(Wavy("bf16", 0.03), path) as rough, CachedScorer(Wavy("fp32"), path) as exact:
        again = list(ExactNearDecisions(items, rough, exact).rows(model="m", tally=Tally()))
        assert (rough.misses, exact.misses) == (0, 0)
    assert [row.values() for row in again] == [row.values() for row in first]


def test_without_a_value_the_error_is_not_known():
    bad = [ScoreItem(1, "没有。", problem="none", reason="no_keyword")]
    with CachedScorer(Wavy("bf16"), None) as rough, CachedScorer(Wavy("fp32"), None) as exact:
        near = ExactNearDecisions(lambda: iter(bad), rough, exact)
        assert len(list(near.rows(model="m", tally=Tally()))) == 1
    facts = near.facts()
    assert facts["largest_difference"] is None
    assert facts["largest_difference_reason"]
    assert facts["compared"] == 0


@pytest.mark.parametrize("count", [0, 1])
def test_short_inputs(count):
    some = [item_of(1, find("他在第1天来了。")[0])][:count]
    with CachedScorer(Wavy("bf16", 0.5), None) as rough, CachedScorer(Wavy("fp32"), None) as exact:
        rows = list(ExactNearDecisions(lambda: iter(some), rough, exact).rows(model="m", tally=Tally()))
    assert [row.bias_log10 for row in rows] == [pytest.approx(2 * math.sin(0.7))] * count
