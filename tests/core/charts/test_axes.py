"""Labels of axes in the picture that is drawn: no two alike on one axis, none cut, none of invisible characters."""

import xml.etree.ElementTree as ET

import altair as alt
import numpy as np
import pandas as pd
import pytest

from evenhand.core.charts import association, bias_distribution, dots, heatmap, misgendering
from evenhand.core.charts import sides as both_sides
from evenhand.core.charts.bias_distribution import SIGNED_LABEL
from evenhand.core.charts.style import picture, styled


def labels(chart):
    """Return the texts of each axis, as drawn."""
    root = ET.fromstring(picture(chart, "svg").decode())
    groups = [element for element in root.iter() if "role-axis-label" in (element.get("class") or "")]
    return [[text.text or "" for text in group.iter() if text.tag.endswith("text")] for group in groups]


def ticked(expression, reach):
    """Return a chart whose axis has this label expression and this reach."""
    x = alt.X(
        "x:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=alt.Axis(labelExpr=expression, tickCount=7)
    )
    return styled(alt.Chart(pd.DataFrame([{"x": 0.0}])).mark_point().encode(x=x), "d")


def sides(value):
    row = {"model": "m", "note": "", "man": value, "woman": value}
    more = {f"{side}_{part}": None for side in ("man", "woman") for part in ("low", "high", "paper")}
    return both_sides.sides(pd.DataFrame([row | more]), description="d")


def leans(value):
    rows = [("a", value, value / 2, value * 1.1), ("b", -value, -value * 1.1, -value / 2)]
    data = pd.DataFrame(rows, columns=["name", "value", "low", "high"]).assign(stays=True, women=[5.0, 95.0])
    return association.leans(data.assign(**{"class": ["male", "female"]}), description="d")


def curve(value):
    points = bias_distribution.sorted_curve({"m": np.array([-value, -value / 2, value / 2, value])})
    return bias_distribution.curves(points, description="d")


def squares(value):
    a = np.array([-value, value, value * 0.9, -value * 0.8])
    return bias_distribution.two_models(bias_distribution.squares(a, a), "a", "b", description="d")


@pytest.mark.parametrize("reach", [0.004, 0.03, 0.12, 0.26, 0.7, 1.3, 4.0, 11.0])
@pytest.mark.parametrize("expression", [SIGNED_LABEL, dots.PERCENT])
def test_tick_labels_have_enough_digits(expression, reach):
    (axis,) = labels(ticked(expression, reach))
    assert len(axis) > 3 and len(set(axis)) == len(axis), axis


@pytest.mark.parametrize("make", [sides, leans, curve, squares])
@pytest.mark.parametrize("value", [0.02, 0.11, 0.5, 3.0])
def test_no_axis_of_a_chart_repeats_a_label(make, value):
    result = labels(make(value))
    assert result
    for axis in result:
        assert len(set(axis)) == len(axis), axis


def test_many_headings_leave_no_dots_in_the_picture():
    """Rows under a heading bear invisible characters, more with each row; they were drawn as a label that is cut."""
    rows = [
        {
            "group": f"model {n}",
            "label": label,
            "way": way,
            "value": 0.5,
            "low": 0.4,
            "high": 0.6,
            "n": 9,
            "reason": "",
        }
        for n in range(8)
        for label in ("he", "she", "they", "xe")
        for way in ("prob", "gen")
    ]
    chart = misgendering.ways(pd.DataFrame(rows), description="d")
    texts = [text for axis in labels(chart) for text in axis]
    assert not any("…" in text or "\u200b" in text for text in texts)
    assert texts.count("xe") == 8
    svg = picture(chart, "svg").decode()
    assert "…" not in svg and "model 7" in svg


def test_a_heatmap_writes_the_intervals_that_it_announces():
    rows = [("he", "m", 0.8, 0.7123, 0.9), ("xe", "m", 0.5, None, None), ("she", "m", None, None, None)]
    data = pd.DataFrame(rows, columns=["pronouns", "model", "value", "low", "high"])
    chart = heatmap.heatmap(data, "pronouns", "model", "value", description="d", interval=("low", "high"))
    svg = picture(chart, "svg").decode()
    assert "0.71 – 0.90" in svg and svg.count(" – ") == 1 and ">0.50<" in svg
    on_a_telephone = picture(chart.properties(width=120), "svg").decode()
    assert ">0.71<" in on_a_telephone and ">0.90<" in on_a_telephone and " – " not in on_a_telephone
