"""Bias-controlled sets and the rank correlation: counts of the release, golden numbers of docs/nli.md#bias-rates."""

from collections import Counter

import pytest

from evenhand.core.errors import Refused
from evenhand.core.nli.sets import RATES, controlled, packaged, spearman, words_in_order
from evenhand.core.nli.types import LANGUAGES, texts


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("k", range(11))
def test_counts_equal_the_release(language, k: int) -> None:
    rows = controlled(language, k / 10)
    assert len(rows) == 3000
    assert Counter(row.label for row in rows) == dict.fromkeys(("entailment", "contradiction", "neutral"), 1000)
    counts = Counter((row.row.set, row.label) for row in rows)
    assert counts["PS", "entailment"] == counts["AS", "contradiction"] == 100 * k
    assert counts["PS", "contradiction"] == counts["AS", "entailment"] == 1000 - 100 * k
    assert counts["NS", "neutral"] == 1000


def biased_words(k: int, order="female-first") -> list[str]:
    rows = controlled("en", k / 10, order)
    return list(dict.fromkeys(o.row.occupation for o in rows if o.row.set == "PS" and o.label == "entailment"))


def test_female_words_are_biased_first_as_released() -> None:
    kinds = {occupation.word: occupation.kind for occupation in texts("en").occupations}
    for k, female in ((1, 2), (2, 4), (5, 10), (9, 10)):
        assert Counter(kinds[word] for word in biased_words(k))["female-stereo"] == female
    assert Counter(kinds[word] for word in biased_words(9))["male-stereo"] == 8


def test_mixed_words_alternate() -> None:
    kinds = {occupation.word: occupation.kind for occupation in texts("en").occupations}
    assert Counter(kinds[word] for word in biased_words(3, "mixed")) == {"female-stereo": 3, "male-stereo": 3}


@pytest.mark.parametrize("language", LANGUAGES)
def test_training_sets_share_words_but_not_sentences_with_the_sample(language) -> None:
    sample = packaged(language, sample=True).rows
    rows = [entry.row for entry in controlled(language, 0.5)]
    assert {row.occupation for row in rows} == {row.occupation for row in sample}
    assert not {row.premise for row in rows} & {row.premise for row in sample}
    assert len({(row.premise, row.hypothesis) for row in rows}) == 3000
    assert len(words_in_order(language)) == 20


@pytest.mark.parametrize("rate", [-0.1, 0.05, 1.1])
def test_other_rates_are_refused(rate: float) -> None:
    with pytest.raises(
        Refused, match=r"is not a bias rate of these sets; the rates are 0, 0\.1, 0\.2 and so on up to 1\."
    ):
        controlled("en", rate)


@pytest.mark.parametrize(
    ("values", "rho"),
    [
        pytest.param(list(range(11)), 1.0, id="monotone"),
        pytest.param([(i - 5) ** 2 for i in range(11)], 0.0, id="parabola"),
        pytest.param([1, 0, 2, 3, 4, 5, 6, 7, 8, 10, 9], 0.9818181818, id="two swaps"),
        pytest.param([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5], 0.9885710532, id="ties"),
    ],
)
def test_rank_correlations_equal_golden_numbers(values: list[float], rho: float) -> None:
    assert spearman(RATES, values)[0] == pytest.approx(rho, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "reason"), [([0.5] * 11, "All values are the same"), ([0.1, 0.2, *[None] * 9], "at least three")]
)
def test_undefined_rank_correlations_have_a_reason(values, reason: str) -> None:
    value, note = spearman(RATES, values)
    assert value is None
    assert reason in str(note)
