"""bf16 with a safety net: nothing that the error could carry over a decision stays in bf16."""

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models import open_scorer
from core.models.bf16_decisions import drawn_sample, near_decision, rescored
from core.sentence_bias.bias import LN10, OBVIOUS, bias_of
from core.types import Filler, MaskedSentence, Score
from tests.support import tiny_models

PROBE = MaskedSentence("他看书。", 0, 1, ("他", "她"))


class Table:
    """A scorer that answers with given values of Bias_c (log10), one per sentence number, and notes the questions."""

    def __init__(self, values: Sequence[float | None], signature: str) -> None:
        self.values, self.signature, self.asked = values, signature, list[int]()

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        numbers = [int(probe.text) for probe in probes]
        self.asked += numbers
        return [self.of(i) for i in numbers]

    def of(self, number: int) -> Score:
        value = self.values[number]
        if value is None:
            return Score((None, None), self.signature, "undefined")
        return Score((value * LN10, 0.0), self.signature)

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        return []


def probes(count: int) -> list[MaskedSentence]:
    return [MaskedSentence(str(i), 0, 1, ("他", "她")) for i in range(count)]


NEAR = [
    # values, error, extremes, expected
    ([0.0, 0.05, 0.0500001, -0.05], 0.05, 0, {0: "sign", 1: "sign", 3: "sign"}),
    ([0.3, 0.26, -0.34, 0.24, 0.36, -0.3], 0.05, 0, {0: "obvious", 1: "obvious", 2: "obvious", 5: "obvious"}),
    ([5.0, 4.0, 3.95, 3.85, 1.0, -1.0, -2.0], 0.05, 2, dict.fromkeys((0, 1, 2, 5, 6), "extreme")),
    ([1.0, None, math.inf, -math.inf, math.nan], 0.05, 1, {2: "extreme", 3: "extreme"}),
    ([None, None], 0.1, 100, {}),
    ([], 0.1, 100, {}),
    ([0.7, 0.8, -0.9], 0.0, 100, {0: "extreme", 1: "extreme", 2: "extreme"}),
    ([0.0], 0.0, 1, {0: "sign"}),
]  # fmt: skip


@pytest.mark.parametrize(("values", "error", "extremes", "expected"), NEAR)
def test_near_a_decision(values: list[float | None], error: float, extremes: int, expected: dict[int, str]) -> None:
    assert near_decision(values, error, extremes=extremes) == expected


biases = st.lists(st.floats(-3, 3), min_size=1, max_size=60)


@given(biases, st.floats(0, 0.2), st.integers(0, 8), st.randoms(use_true_random=False))
def test_no_error_of_that_size_changes_a_decision_about_the_rest(
    values: list[float], error: float, extremes: int, rng: random.Random
) -> None:
    """Whatever the true values are: what is not near keeps its sign and side of 0.3 and is not among the extremes."""
    # A hair less than the error, so that rounding of this very test cannot reach over it.
    true = [value + rng.uniform(-1, 1) * error * (1 - 1e-6) for value in values]
    near = near_decision(values, error, extremes=extremes)
    ranked = sorted(range(len(true)), key=true.__getitem__)
    at_the_ends = {*ranked[:extremes], *ranked[len(ranked) - extremes :]} if extremes else set()
    for i, (rough, exact) in enumerate(zip(values, true, strict=True)):
        if i in near:
            continue
        assert (rough > 0) == (exact > 0) and (abs(rough) > OBVIOUS) == (abs(exact) > OBVIOUS)
        # Ties at the end of a list may be broken either way.
        assert i not in at_the_ends or any(true[j] == exact for j in near)


def noisy(count: int, noise: float, seed: int) -> tuple[Table, Table]:
    rng = random.Random(seed)
    exact = [rng.gauss(0, 1) for _ in range(count)]
    rough = [value + rng.uniform(-noise, noise) for value in exact]
    return Table(rough, "bf16"), Table(exact, "fp32")


def test_every_decision_is_that_of_fp32() -> None:
    rough, exact = noisy(3000, 0.05, seed=1)
    result = rescored(probes(3000), [rough.of(i) for i in range(3000)], exact)
    assert result.sampled == 200 and result.compared == len(set(exact.asked)) == len(exact.asked)
    assert result.rescored == result.compared - 200
    assert 0.045 < (result.sample_error or 0) <= (result.error or 0) <= 0.05
    found = [bias_of(score) or 0.0 for score in result.scores]
    true = [value or 0.0 for value in exact.values]
    for value, other in zip(found, true, strict=True):
        assert (value > 0) == (other > 0) and (abs(value) > OBVIOUS) == (abs(other) > OBVIOUS)
    order, expected = (sorted(range(3000), key=values.__getitem__) for values in (found, true))
    assert order[:100] == expected[:100] and order[-100:] == expected[-100:]
    # Each number says how it was made, and most were left as they were.
    for i, score in enumerate(result.scores):
        assert score.signature == ("fp32" if i in set(exact.asked) else "bf16")
    assert result.compared < 1000
    assert set(result.near) == {"sign", "obvious", "extreme"}


def test_an_error_found_on_the_way_widens_the_search() -> None:
    """One sentence is off by 0.2, the sample by 0.001: what lies within 0.2 of a decision is asked as well."""
    count = 1000
    exact = [1.0 + i / count for i in range(count)]
    rough = [value + 0.001 for value in exact]
    drawn = set(drawn_sample(count))
    first, second = (i for i in itertools.islice((i for i in range(count) if i not in drawn), 2))
    exact[first], rough[first] = -0.2, 0.0005
    exact[second], rough[second] = -0.01, 0.15  # only seen once the error is known to be 0.2
    table = Table(exact, "fp32")
    result = rescored(probes(count), [Table(rough, "bf16").of(i) for i in range(count)], table, extremes=1)
    assert {first, second} <= set(table.asked)
    assert result.sample_error == pytest.approx(0.001) and result.error == pytest.approx(0.2005)


@pytest.mark.parametrize(
    ("values", "error"), [([], None), ([None, None], None), ([0.5, None], 0.0)], ids=["none", "undefined", "one"]
)
def test_few_or_undefined_sentences(values: list[float | None], error: float | None) -> None:
    table = Table(values, "fp32")
    result = rescored(probes(len(values)), [Table(values, "bf16").of(i) for i in range(len(values))], table)
    assert result.error == error and result.compared == len(values)
    assert [bias_of(score) for score in result.scores] == pytest.approx(values)


def test_the_sample_is_the_same_for_one_seed() -> None:
    assert drawn_sample(1000) == drawn_sample(1000) != drawn_sample(1000, seed=1)
    assert drawn_sample(3) == [0, 1, 2]
    assert len(set(drawn_sample(1000, sample=50))) == 50


def test_a_real_model_in_bf16(tmp_path_factory: pytest.TempPathFactory) -> None:
    """bf16 differs from fp32, has its own signature, and after the net no sign differs."""
    folder = str(tmp_path_factory.mktemp("tiny"))
    tiny_models.bert(tmp_path_factory.getbasetemp() / folder, hidden_size=32, intermediate_size=64)
    exact, rough = open_scorer(folder, threads=1), open_scorer(folder, precision="bf16")
    assert rough.signature == exact.signature.replace("|fp32|", "|bf16|")
    rng = random.Random(3)
    texts = ["".join(rng.choices(tiny_models.CHARACTERS, k=rng.randint(5, 30))) for _ in range(300)]
    asked = [MaskedSentence(text, at := rng.randrange(len(text)), at + 1, ("他", "她")) for text in texts]
    fp32, bf16 = exact.score(asked), rough.score(asked)
    pairs = [(bias_of(a) or 0.0, bias_of(b) or 0.0) for a, b in zip(fp32, bf16, strict=True)]
    worst = max(abs(a - b) for a, b in pairs)
    assert 1e-4 < worst < 1.0
    result = rescored(asked, bf16, exact, sample=100, extremes=10)
    assert 0 < (result.error or 0) <= worst
    assert 0 < result.rescored < 200
    found = [bias_of(score) or 0.0 for score in result.scores]
    assert [value > 0 for value in found] == [a > 0 for a, _ in pairs]
    kept = [i for i, score in enumerate(result.scores) if score == bf16[i]]
    assert len(kept) == 300 - result.compared
