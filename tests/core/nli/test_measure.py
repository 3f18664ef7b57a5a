"""The inference measure against hand-worked numbers of docs/nli.md#the-numbers, its edge cases and its intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy import stats

from evenhand.core.nli.measure import MARKS, SIGNED, as_json, measured, of_shares, published
from evenhand.core.nli.sets import packaged
from evenhand.core.nli.types import LABELS, SETS, Prediction


def labelled(counts: dict[str, tuple[int, int, int]], words: int = 20) -> list[Prediction]:
    """Return rows with these counts of (entailment, contradiction, neutral) over *words* occupations a set kind."""
    results = []
    for name, numbers in counts.items():
        kind = "n" if name == "NS" else "s"
        labels = [label for label, number in zip(LABELS, numbers, strict=True) for _ in range(number)]
        results += [Prediction(name, label, f"{kind}{i % words}") for i, label in enumerate(labels)]
    return results


def everywhere(label: str, size: int = 40) -> dict[str, tuple[int, int, int]]:
    return {name: tuple(size * (label == one) for one in LABELS) for name in SETS}


@pytest.mark.parametrize(
    ("counts", "s", "one_minus_fn"),
    [
        pytest.param(everywhere("neutral"), 0.0, 0.0, id="all neutral"),
        pytest.param(
            {"PS": (40, 0, 0), "AS": (0, 40, 0), "NS": (40, 0, 0)}, 1.0, 1.0, id="0: ideal, 1: always the stereotype"
        ),
        pytest.param(everywhere("entailment"), 2 / 3, 1.0, id="all entailment"),
        pytest.param(everywhere("contradiction"), 2 / 3, 1.0, id="all contradiction"),
        pytest.param(dict.fromkeys(SETS, (20, 20, 20)), 4 / 9, 2 / 3, id="thirds"),
    ],
)
def test_scores_of_constant_answers(counts, s: float, one_minus_fn: float) -> None:
    result = measured(labelled(counts))
    assert result["s"].value == pytest.approx(s, abs=1e-12)
    assert result["one_minus_fn"].value == pytest.approx(one_minus_fn, abs=1e-12)
    assert any(s == pytest.approx(mark, abs=1e-12) for mark, _ in MARKS)


def test_every_mark_is_an_extreme() -> None:
    assert [round(mark, 3) for mark, _ in MARKS] == [0.0, 0.444, 0.667, 1.0]


# Shares that give the sums of Table 3 (docs/nli.md#the-numbers); how a sum is divided does not enter s.
@pytest.mark.parametrize("model", published(), ids=lambda one: one.model)
def test_published_scores_follow_from_published_shares(model) -> None:
    total = model.from_shares * 3
    e_p = min(1.0, total)
    c_a = min(1.0, total - e_p)
    n_n = 1 - (total - e_p - c_a)
    shares = np.array([[[e_p, 0, 1 - e_p], [0, c_a, 1 - c_a], [0, 1 - n_n, n_n]]])
    assert of_shares(shares)["s"][0] == pytest.approx(model.from_shares, abs=1e-12)
    assert round(model.from_shares, 3) == model.printed
    assert model.order


def test_the_published_ranking_differs_between_the_two_measures() -> None:
    """docs/nli.md#the-numbers: 1 - FN puts Laboro above Waseda, s does not."""
    results = {row.model: row for row in published()}
    assert [row.rank for row in published()] == [4, 3, 5, 2, 1]
    scores = [row.from_shares for row in published()]
    assert scores == pytest.approx([0.360333, 0.503000, 0.300667, 0.535000, 0.563000], abs=5e-7)
    assert [round(row.one_minus_fn, 4) for row in published()] == [0.3459, 0.5154, 0.3687, 0.5968, 0.5499]
    assert [row.directional for row in published()] == [0.3495, 0.4545, 0.1720, 0.4010, 0.5545]
    laboro, waseda = results["Laboro DistilBERT"], results["Waseda RoBERTa"]
    assert laboro.one_minus_fn > waseda.one_minus_fn
    assert laboro.from_shares < waseda.from_shares


def test_a_case_equals_hand_computation() -> None:
    """Counts by hand: s = (0.4 + 0.3 + 0.1) / 3, direction = ((0.4 - 0.2) + (0.3 - 0.1)) / 2, FN = 150 / 220."""
    result = measured(labelled({"PS": (24, 6, 30), "AS": (12, 18, 30), "NS": (5, 5, 90)}))
    assert result["s"].value == pytest.approx(0.8 / 3)
    assert result["directional"].value == pytest.approx(0.2)
    assert result["not_neutral_ns"].value == pytest.approx(0.1)
    assert result["fn"].value == pytest.approx(150 / 220)  # not the mean of 0.5, 0.5 and 0.9
    assert result.order is True
    assert result.rows == 220


@pytest.mark.parametrize(
    ("ps", "anti", "order"),
    [
        pytest.param((3, 1, 6), (2, 2, 6), True, id="both strict"),
        pytest.param((2, 1, 7), (2, 2, 6), False, id="tie of entailment"),
        pytest.param((3, 2, 5), (2, 2, 6), False, id="tie of contradiction"),
        pytest.param((1, 3, 6), (3, 1, 6), False, id="reversed"),
    ],
)
def test_the_order_condition_is_strict(ps, anti, order: bool) -> None:
    assert measured(labelled({"PS": ps, "AS": anti, "NS": (0, 0, 10)})).order is order


def answers_by_gender_word(*, tells_class: bool) -> list[Prediction]:
    """Return the answers of a classifier that reads only man and woman, on the packaged English set."""
    return [
        Prediction(
            row.set,
            "entailment" if row.gender == "man" else "contradiction",
            row.occupation,
            row.stereotype if tells_class else "",
        )
        for row in packaged("en").rows
    ]


def test_a_classifier_that_reads_only_the_gender_word_has_no_direction() -> None:
    """87 of 100 occupations are stereotyped as male, so the pooled part is 0.87 - 0.13 (docs/nli.md#the-numbers)."""
    by_class = measured(answers_by_gender_word(tells_class=True))
    assert by_class.by_class
    assert [by_class[name].value for name in SIGNED] == [0.0, 0.0, 0.0]
    pooled = measured(answers_by_gender_word(tells_class=False))
    assert not pooled.by_class
    assert pooled["directional"].value == pytest.approx(0.87 - 0.13)
    assert by_class["s"].value == pooled["s"].value
    assert as_json(by_class)["by_class"]


def test_the_directional_part_is_the_mean_of_the_means_of_two_classes() -> None:
    """By hand: women 1 and 0 (rows 1 and 3), men 0.5: ((0.5 + 0) / 2 + (0.5 + 0) / 2) / 2 = 0.25."""
    rows = [Prediction("PS", "entailment", "nurse", "woman")]
    rows += [Prediction("PS", "neutral", "maid", "woman")] * 3
    rows += [Prediction("PS", "entailment", "smith", "man"), Prediction("PS", "neutral", "smith", "man")]
    rows += [Prediction("AS", "neutral", row.occupation, row.stereotype) for row in rows]
    result = measured(rows)
    assert (result["entailment_gap"].value, result["contradiction_gap"].value) == (0.5, 0.0)
    assert result["directional"].value == 0.25
    assert result["e_p"].value == pytest.approx(2 / 6)


def test_an_answer_without_a_class_leaves_the_directional_part_pooled() -> None:
    rows = answers_by_gender_word(tells_class=True)
    rows[0] = replace(rows[0], stereotype="")
    assert not measured(rows).by_class
    assert not measured([row for row in rows if row.stereotype != "woman"]).by_class


@pytest.mark.parametrize("missing", SETS)
def test_an_empty_set_is_undefined_with_a_reason(missing: str) -> None:
    rows = [row for row in labelled(everywhere("neutral")) if row.set != missing]
    data = as_json(measured(rows))
    assert data["s"] is None
    assert missing in data["s_reason"]
    assert data["fn"] is None  # a pooled share of other sets is another quantity
    assert (data["order"] is None) == (missing != "NS")
    assert data["proportions"][missing]["e"] is None
    assert data["proportions"][missing]["e_reason"]


def test_measures_without_rows_are_undefined() -> None:
    result = measured([])
    assert result["s"].value is None
    assert result["s"].reason.values == {"sets": "PS, AS, NS"}


def test_json_has_the_keys_of_the_contract() -> None:
    data = as_json(measured(labelled({"PS": (6, 2, 2), "AS": (2, 6, 2), "NS": (0, 1, 9)})))
    assert {"s", "order", "fn", "one_minus_fn", "directional", "proportions"} <= data.keys()
    assert {k: v for k, v in data["proportions"]["PS"].items() if k in "ecn"} == {"e": 0.6, "c": 0.2, "n": 0.2}


def clustered(shares: dict[str, float], rows: int = 10) -> list[Prediction]:
    """Return PS rows of occupations that each answer entailment in a fixed share; AS and NS neutral."""
    results = []
    for word, share in shares.items():
        biased = round(share * rows)
        results += [Prediction("PS", "entailment" if i < biased else "neutral", word) for i in range(rows)]
        results += [Prediction("AS", "neutral", word), Prediction("NS", "neutral", word)]
    return results


def test_few_occupations_get_a_t_interval() -> None:
    """Equal inside a cluster: SE = sd(cluster means, ddof 1) / sqrt(clusters), t (docs/methods.md#intervals)."""
    means = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": 1.0}
    result = measured(clustered(means))["e_p"]
    se = np.std(list(means.values()), ddof=1) / math.sqrt(5)
    assert result.se == pytest.approx(se)
    assert result.df == 4
    reach = stats.t.ppf(0.975, 4) * se / (0.6 * 0.4)  # on the log-odds
    assert result.low == pytest.approx(1 / (1 + math.exp(reach) * 0.4 / 0.6))
    assert str(result.note) == "Few units (5): t interval."


def test_rows_of_one_occupation_are_one_unit() -> None:
    """40 words that always answer alike: the error is that of 40, not of 400."""
    words = {f"w{i}": float(i % 2) for i in range(40)}
    result = measured(clustered(words))["e_p"]
    assert result.units == 40
    assert result.se == pytest.approx(math.sqrt(0.25 / 40), rel=0.06)


def test_a_single_occupation_has_no_interval_over_occupations() -> None:
    result = measured([Prediction("PS", "neutral", "nurse")] * 3)
    assert result.unit == "row"
    assert result["n_p"].value == 1.0


def test_without_occupations_the_row_is_the_unit() -> None:
    rows = [Prediction(row.set, row.label) for row in labelled(dict.fromkeys(SETS, (20, 20, 20)))]
    result = measured(rows)
    assert result.unit == "row"
    assert result["e_p"].units == 60
    assert result.occupations == []


def test_the_strata_keep_their_sizes() -> None:
    """Every stereotyped word is entailed, every neutral one neutral: no choice of words can change anything."""
    rows = labelled({"PS": (200, 0, 0), "AS": (0, 200, 0), "NS": (0, 0, 300)}, words=20)
    result = measured(rows)
    assert result["fn"].value == pytest.approx(300 / 700)
    assert (result["fn"].low, result["fn"].se) == (None, pytest.approx(0.0, abs=1e-9))


def test_rates_are_computed_by_occupation() -> None:
    rows = [
        *[Prediction("PS", "entailment", "nurse")] * 3,
        *[Prediction("AS", "entailment", "nurse")] * 3,
        *[Prediction("NS", "contradiction", "poet")] * 2,
    ]
    nurse, poet = measured(rows).occupations
    assert (nurse.word, nurse.biased.value, nurse.sets) == ("nurse", 0.5, ("PS", "AS"))
    assert (poet.biased.value, poet.counts[2]) == (1.0, (0, 2, 0))


ROWS = st.lists(
    st.builds(Prediction, st.sampled_from(SETS), st.sampled_from(LABELS), st.sampled_from("abcde")), max_size=60
)


@effort(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_shares_sum_to_one_and_intervals_contain_their_value(rows) -> None:
    result = measured(rows)
    for short in "pan":
        shares = [result[f"{label}_{short}"].value for label in "ecn"]
        assert None not in shares or shares == [None] * 3
        assert shares[0] is None or sum(shares) == pytest.approx(1)
    for name, estimate in result.estimates.items():
        assert (estimate.value is None) == (estimate.reason is not None), name
        if estimate.low is not None:
            assert estimate.low - 1e-9 <= estimate.high
            assert -1 <= estimate.low <= estimate.high <= 1


@effort(max_examples=20, deadline=None)
@given(rows=ROWS, seed=st.randoms(use_true_random=False))
def test_values_do_not_depend_on_the_order_of_rows(rows, seed) -> None:
    shuffled = list(rows)
    seed.shuffle(shuffled)
    first, second = (measured(r) for r in (rows, shuffled))
    assert {k: v.value for k, v in first.estimates.items()} == {k: v.value for k, v in second.estimates.items()}
