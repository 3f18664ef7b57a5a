"""Drawing an audit: extremes, matched controls, shortages; the same seed gives the same sample."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from evenhand.core.audit.sample import MOST, candidate_of, draw, labels_needed, reach
from evenhand.core.errors import NotFound, Refused
from evenhand.core.text.keywords import find
from tests.support.audits import WORDS, scores

ONLY = {"male": 1, "female": 1}


def cells(sample, stratum, toward=None):
    results = {}
    for item in sample.items:
        if item.stratum == stratum and toward in (None, item.toward):
            results[item.pair, item.side] = results.get((item.pair, item.side), 0) + 1
    return results


FRAME = {
    "他": [3.0, 2.5, 0.4, 0.3, 0.2, 0.1, -0.1, -0.2],
    "她": [0.5, 0.1, -0.1, -0.2, -0.3, -2.0, -2.5],
    "爸爸": [2.8, 0.1, 0.2],
    "妈妈": [-0.1, -3.0, 0.15],
}


def test_extremes_are_the_ends_of_the_sorted_list() -> None:
    sample = draw(scores(FRAME), "m", 3)
    ends = {
        toward: sorted(i.bias_log10 for i in sample.items if i.stratum == "extreme" and i.toward == toward)
        for toward in ("male", "female")
    }
    assert ends == {"male": [2.5, 2.8, 3.0], "female": [-3.0, -2.5, -2.0]}
    assert sample.finite == 21 and sample.left_out == sample.repeated == 0
    assert sample.signature == "masked|m|weights:0|v1"


def test_controls_match_the_extremes_by_pair_and_side() -> None:
    sample = draw(scores(FRAME), "m", 3, seed=4)
    for toward in ("male", "female"):
        assert cells(sample, "control", toward) == cells(sample, "extreme", toward)
    assert not sample.shortages
    texts = [item.sentence for item in sample.items]
    assert len(set(texts)) == len(texts) == 12


def test_a_cell_with_too_few_controls_is_reported() -> None:
    sample = draw(scores({"他": [3.0, 2.0, 1.0], "她": [-1.0, 0.2, 0.1]}), "m", 2)
    assert [(s.pair, s.side, s.wanted, s.found) for s in sample.shortages] == [("他/她", "male", 2, 1)]
    assert sample.count("control") == 2 and sample.count("extreme", "female") == 1


def test_a_scarce_control_goes_to_a_random_end() -> None:
    frame = scores({"他": [3.0, 0.1, -3.0]})
    results = {next(i.toward for i in draw(frame, "m", 1, seed).items if i.stratum == "control") for seed in range(20)}
    assert results == {"male", "female"}


def test_undefined_infinite_and_repeated_rows_are_left_out_and_counted() -> None:
    frame = scores({"他": [math.inf, math.nan, 1.0, 0.5, 0.5], "她": [-math.inf, -1.0, 0.0]})
    frame.loc[4, "sentence"] = frame.loc[3, "sentence"]
    sample = draw(frame, "m", 5)
    assert (sample.finite, sample.left_out, sample.repeated) == (4, 3, 1)
    assert all(math.isfinite(item.bias_log10) for item in sample.items)
    assert sample.count("extreme") == 3  # 0 leans neither way


def test_corrected_extremes_are_taken_within_pairs() -> None:
    frame = scores({"他": [2.0, 2.1, 2.2], "她": [2.0, 2.1, 2.9], "爸爸": [0.0, 0.1], "妈妈": [0.0, 0.9]})
    plain, fair = draw(frame, "m", 2), draw(frame, "m", 2, by="corrected")
    assert {i.pair for i in plain.items if i.stratum == "extreme" and i.toward == "male"} == {"他/她"}
    top = {i.bias_log10 for i in fair.items if i.stratum == "extreme" and i.toward == "male"}
    assert top == {2.9, 0.9}
    assert fair.by == "corrected"


def test_only_rows_of_the_chosen_model_are_drawn() -> None:
    frame = pd.concat([scores({"他": [1.0, 0.1]}), scores({"她": [-5.0, 0.1]}, model="other", first=50)])
    sample = draw(frame.reset_index(drop=True), "m", 2)
    assert {item.side for item in sample.items} == {"male"}


@pytest.mark.parametrize(
    ("values", "model", "n", "error", "words"),
    [
        ({"他": [1.0]}, "x", 2, NotFound, "no rows of the model x"),
        ({"他": [0.0, 0.0]}, "m", 2, Refused, "leans either way"),
        ({"他": [math.nan]}, "m", 2, Refused, "leans either way"),
        ({"他": [1.0]}, "m", 0, Refused, "1 to 500"),
        ({"他": [1.0]}, "m", MOST + 1, Refused, "1 to 500"),
    ],
)
def test_impossible_draws_are_refused(values, model, n, error, words) -> None:
    with pytest.raises(error, match=words):
        draw(scores(values), model, n)


@effort(max_examples=40)
@given(
    st.fixed_dictionaries({word: st.lists(st.integers(-30, 30), max_size=12) for word in WORDS}),
    st.integers(1, 6),
    st.integers(0, 9),
)
def test_invariants_hold_for_random_scores(values, n, seed) -> None:
    if not any(any(numbers) for numbers in values.values()):
        return
    frame = scores({word: [x / 10 for x in numbers] for word, numbers in values.items()})
    sample = draw(frame, "m", n, seed)
    assert sample == draw(frame, "m", n, seed)
    texts = [item.sentence for item in sample.items]
    assert len(set(texts)) == len(texts)
    for toward, sign in (("male", 1), ("female", -1)):
        own = [i.bias_log10 * sign for i in sample.items if i.stratum == "extreme" and i.toward == toward]
        others = [x * sign for x in frame["bias_log10"] if x * sign > 0]
        assert sorted(own) == sorted(others)[-n:]
    wanted, drawn = cells(sample, "extreme"), cells(sample, "control")
    short = {(s.pair, s.side): s for s in sample.shortages}
    for cell, number in wanted.items():
        assert drawn.get(cell, 0) == (short[cell].found if cell in short else number)
    assert set(drawn) <= set(wanted)


def test_the_keyword_of_an_item_is_found_with_and_without_its_position() -> None:
    frame = scores({"妈妈": [1.0], "爸爸": [-1.0]})
    for sample in (draw(frame, "m", 1), draw(frame.assign(start=None), "m", 1)):
        for item in sample.items:
            assert candidate_of(item) == find(item.sentence)[0]


def test_an_own_pair_is_located_in_its_sentence() -> None:
    frame = scores({"他": [1.0, 0.5]}).assign(pair="男演员/女演员", keyword="男演员", side="male")
    frame["sentence"] = [f"第{n}位男演员上台。" for n in (1, 2)]
    result = candidate_of(draw(frame, "m", 1).items[0])
    assert (result.keyword, result.counterpart) == ("男演员", "女演员")
    assert result.sentence[result.stem_start : result.stem_end] == "男"


def test_a_repeated_keyword_needs_its_position() -> None:
    frame = scores({"他": [1.0]})
    frame["sentence"] = "他说他来。"
    with pytest.raises(NotFound, match=r"of the scores does not give the position of 他 in its sentence\."):
        candidate_of(draw(frame.assign(start=None), "m", 1).items[0])
    assert candidate_of(draw(frame.assign(start=2), "m", 1).items[0]).start == 2


def test_labels_needed_and_detectable_difference() -> None:
    assert labels_needed(100, 3) == 300
    # two shares of one half with 50 each: 1.96 * sqrt(0.25 / 50 * 2)
    assert reach(50, 50) == pytest.approx(0.196)
    assert reach(0, 5) is None
