"""The balance chart: positions of its bars, dots and words, for ordinary, infinite and undefined values."""

import json
import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.charts.palette import DARK, LIGHT
from evenhand.core.charts.sides import LEAST_REACH, balance, balance_says
from evenhand.core.charts.style import picture


def frame(*values):
    """Return rows from (bias, corrected)."""
    rows = [
        {"model": f"model-{n}", "note": "note", "bias_log10": bias, "corrected_log10": dot}
        for n, (bias, dot) in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["model", "note", "bias_log10", "corrected_log10"])


def draw(*values, **more):
    return balance(frame(*values), male="他", female="她", description="what it shows", **more).to_dict()


def test_words_without_a_side_are_named_literally():
    chart = balance(frame((1.0, None), (-math.inf, None)), male="they", female="xe", description="d", sided=False)
    assert "they is 10 times as likely as xe." in json.dumps(chart.to_dict())
    shown = picture(chart, "svg").decode()
    assert "◀ xe" in shown and "they ▶" in shown and "only xe" in shown
    for word in ("male", LIGHT.male, LIGHT.female):
        assert word not in shown
    says = balance_says(frame((1.0, None)), words=("they", "xe"))
    assert says == "model-0: they is 10 times as likely as xe."


def every(spec):
    return [row for rows in spec["datasets"].values() for row in rows]


def rows_of(spec):
    """Return the data rows of the models inside the chart."""
    return sorted((row for row in every(spec) if "label" in row), key=lambda row: row["row"])


def texts(spec):
    return {row["text"]: row for row in every(spec) if "text" in row}


@pytest.mark.parametrize(
    ("bias", "end", "words", "left", "colour"),
    [
        (0.82, 0.82, "6.6 times", False, "male"),
        (-1.08, -1.08, "12 times", True, "female"),
        (0.0, 0.0, "equal", False, "soft"),
        (0.01, 0.01, "equal", False, "soft"),
        # Long bars carry their words on the empty side, where a narrow screen has room.
        (6.372, 6.372, "2,400,000 times", True, "male"),
        (-5.019, -5.019, "100,000 times", False, "female"),
        (math.inf, LEAST_REACH, "only the male word", True, "male"),
        (-math.inf, -LEAST_REACH, "only the female word", False, "female"),
        (None, None, "undefined", False, "soft"),
    ],
)
def test_a_row_has_bar_end_text_and_colour(bias, end, words, left, colour):
    row = rows_of(draw((bias, None)))[0]
    assert row["end"] == (end if end is None else pytest.approx(end))
    assert (row["short"], row["left"], row["colour"]) == (words, left, colour)
    assert row["dot"] is None


def test_the_dot_is_the_corrected_value_in_its_own_colour():
    row = rows_of(draw((0.8, -0.2)))[0]
    assert row["dot"] == pytest.approx(-0.2)
    assert (row["colour"], row["dot_colour"]) == ("male", "female")
    assert row["text_at"] == pytest.approx(0.8)


def test_text_is_placed_beyond_a_farther_dot():
    assert rows_of(draw((-1.0, -1.5)))[0]["text_at"] == pytest.approx(-1.5)


def test_the_sides_are_labelled():
    assert set(texts(draw((0.5, 0.1)))) == {"◀ female word 她", "male word 他 ▶"}


def test_texts_are_translated_into_the_language_of_the_page():
    zh = {"male word {word}": "男性词 {word}", "{times} times": "{times} 倍"}
    spec = draw((0.82, None), say=lambda text: zh.get(text, text))
    assert "男性词 他 ▶" in texts(spec)
    assert rows_of(spec)[0]["short"] == "6.6 倍"


def test_the_chart_has_description_and_theme():
    spec = draw((0.5, 0.1), palette=DARK)
    assert spec["description"] == "what it shows"
    assert spec["usermeta"] == {"theme": "dark"}
    assert rows_of(spec)[0]["colour"] == "male" and DARK.male in json.dumps(spec)


@pytest.mark.parametrize("values", [[(0.82, -0.2), (None, None), (math.inf, None)], [(0.0, 0.0)]])
def test_the_chart_is_exported_as_svg_and_png(values):
    chart = balance(frame(*values), male="他", female="她", description="d")
    svg = picture(chart, "svg").decode()
    assert "model-0" in svg
    assert "他" in svg
    assert picture(chart, "png").startswith(b"\x89PNG")


def test_names_of_models_are_escaped():
    data = frame((0.5, None)).assign(model="'+alert(1)+' <b>$x$")
    chart = balance(data, male="'+1+'", female="</text>", description="d")
    svg = picture(chart, "svg").decode()
    assert "&lt;b&gt;" in svg
    assert "<b>" not in svg


BIAS = st.one_of(st.none(), st.floats(-12, 12), st.sampled_from([math.inf, -math.inf]))


@settings(max_examples=10, deadline=None)  # building a chart is slow
@given(st.lists(st.tuples(BIAS, BIAS), min_size=1, max_size=3))
def test_everything_is_drawn_inside_the_axis(values):
    chart = balance(frame(*values), male="他", female="她", description="d")
    # Read from the chart itself: to_dict() checks against the whole schema, too slow for a property.
    rows = next(layer.data.values for layer in chart.layer if "label" in layer.data.values[0])
    for row, (bias, _) in zip(rows, values, strict=True):
        for key in ("end", "dot", "text_at"):
            assert row[key] is None or abs(row[key]) <= row["reach"]
        assert (row["end"] is None) == (bias is None)
        if bias is not None and abs(bias) > 0.05:
            assert row["end"] * bias > 0


def test_the_sentence_names_every_model():
    says = balance_says(frame((math.log10(12), -math.log10(3)), (None, None)))
    assert "model-0: The male word is 12 times as likely as the female word." in says
    assert "hollow dot): The female word is 3.0 times as likely" in says
    assert "model-1: The ratio is undefined here." in says
