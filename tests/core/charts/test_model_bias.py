"""core.charts.sides, scatter and words: the numbers that are drawn, undefined values, captions."""

import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.charts.bias_distribution import squares, two_models, two_models_say
from evenhand.core.charts.sides import sides, sides_says, word_sides, words_say
from evenhand.core.charts.style import picture

MODELS = (
    pd.DataFrame(
        [
            {"model": "one", "note": "", "man": 0.5, "man_low": 0.4, "man_high": 0.6, "woman": 0.25, "man_paper": 0.7},
            {"model": "<i>two</i>", "note": "(x)", "man": None, "woman": 0.1, "woman_low": 0.05, "woman_high": 0.2},
            {"model": "three", "note": "", "man": 0.1, "woman": 0.1, "reference": True},
        ]
    )
    .astype(object)
    .where(lambda frame: frame.notna(), None)
)


def rows_of(chart: Any, field: str) -> list[dict[str, Any]]:
    """Return the data rows of a layered chart that have *field*."""
    spec = json.loads(chart.to_json())
    result = max((rows for rows in spec["datasets"].values() if rows and field in rows[0]), key=len)
    return [dict(row) for row in result]


def test_sides_are_back_to_back_and_keep_their_order() -> None:
    rows = rows_of(sides(MODELS, description="d"), "model_row")
    first = {row["side"]: row for row in rows if row["model"] == "one"}
    assert first["male word"]["end"] == 0.5
    assert (first["male word"]["near"], first["male word"]["far"], first["male word"]["paper"]) == (0.4, 0.6, 0.7)
    assert (first["female word"]["end"], first["female word"]["near"]) == (-0.25, None)
    assert list(dict.fromkeys(row["model"] for row in rows)) == ["one", "<i>two</i>", "three"]


def test_an_undefined_side_is_a_dash_and_the_reference_is_grey() -> None:
    rows = rows_of(sides(MODELS, description="d"), "model_row")
    missing = next(row for row in rows if row["model"] == "<i>two</i>" and row["side"] == "male word")
    assert (missing["end"], missing["text"], missing["value_text"]) == (None, "—", "—")
    assert {row["colour"] for row in rows if row["model"] == "three"} == {"neutral"}
    assert {row["colour"] for row in rows if row["model"] == "one"} == {"male", "female"}


def test_the_caption_of_sides_has_their_numbers() -> None:
    sentence = sides_says(MODELS)
    assert sentence.startswith("one: 0.500 towards the male word, 0.250 towards the female word (log10).")
    assert "<i>two</i>: — towards the male word, 0.100 towards" in sentence


def test_names_are_escaped_in_the_picture() -> None:
    svg = picture(sides(MODELS, description="<script>"), "svg").decode()
    assert "<i>" not in svg
    assert "<script" not in svg
    assert "&lt;i&gt;two" in svg


@given(
    st.lists(st.tuples(st.just(float("nan")) | st.floats(-9, 9), st.floats(-9, 9)), max_size=80),
)
@settings(max_examples=40)
def test_squares_count_every_sentence_of_both_models(points: list[tuple[float, float]]) -> None:
    table = np.array(points, dtype=float).reshape(-1, 2)
    result = squares(table[:, 0], table[:, 1])
    assert result["count"].sum() == np.isfinite(table).all(axis=1).sum()
    assert not result.duplicated(["a_low", "b_low"]).any()
    assert (result["a_high"] > result["a_low"]).all()


def test_a_sentence_is_counted_in_its_square() -> None:
    result = squares(np.array([0.3, -0.05]), np.array([-0.7, 1.2]))
    for a, b in ((0.3, -0.7), (-0.05, 1.2)):
        inside = result[
            (result["a_low"] <= a + 1e-9)
            & (a < result["a_high"])
            & (result["b_low"] <= b + 1e-9)
            & (b < result["b_high"])
        ]
        assert inside["count"].tolist() == [1]


def test_the_caption_of_two_models_has_their_agreement() -> None:
    a, b = np.array([1.0, -1.0, 0.5, 0.0, np.nan]), np.array([2.0, 1.0, 0.1, 3.0, 1.0])
    assert (
        two_models_say(a, b, ("A", "B"))
        == "A and B lean towards the same word on 67% of the 3 sentences where both lean."
    )
    assert two_models_say(a[3:], b[3:], ("A", "B")) == "No sentence has a non-zero value from both models."


def test_two_models_are_drawn_as_squares() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(0, 0.5, 20_000), random.normal(0, 0.5, 20_000)
    chart = two_models(squares(a, b), "A", "B", description="d", click="square")
    rows = rows_of(chart, "a_low")
    assert len(rows) <= 1700
    assert two_models(squares(a[:0], b[:0]), "A", "B", description="none").to_json()


WORDS = pd.DataFrame(
    [("female", "孩子", 0.4, "t"), ("female", "乘客", 0.1, "t"), ("male", "<b>民警</b>", 0.2, "t")],
    columns=["side", "word", "weight", "tip"],
)


def test_topic_words_are_drawn_on_their_side() -> None:
    rows = rows_of(word_sides(WORDS, description="d"), "word")
    assert [row["end"] < 0 for row in rows] == [True, True, False]
    assert [row["place"] for row in rows] == [0, 1, 0]
    assert abs(rows[0]["end"]) > abs(rows[1]["end"])


def test_the_caption_lists_topic_words() -> None:
    assert words_say(WORDS) == (
        "Topic words of sentences that lean obviously towards the female word: 孩子、乘客. Towards the "
        "male word: <b>民警</b>."
    )
    assert "—" in words_say(WORDS[WORDS["side"] == "male"])
    assert word_sides(WORDS.iloc[:0], description="none").to_json()
