"""Dots with intervals: every row is named, groups have headings, a picture of a dark chart has light colours."""

import json
from typing import Any

import altair as alt
import pandas as pd
import pytest

from evenhand.core.charts.dots import Look, dot_rows, shares_across
from evenhand.core.charts.palette import DARK, LIGHT, colours
from evenhand.core.charts.style import picture

ROWS = [
    {"group": "a", "label": "he", "series": "pre", "value": 0.4, "low": 0.3, "high": 0.5, "colour": "male"},
    {"group": "a", "label": "xe", "series": "post", "value": None, "low": None, "high": None, "colour": "ink"},
    {"group": "b", "label": "he", "series": "post", "value": 0.9, "low": None, "high": None, "colour": "female"},
]


def draw(palette=LIGHT, **more: Any) -> alt.LayerChart:
    data = pd.DataFrame(ROWS)
    return dot_rows(data, shares_across("share"), tips={"label": "name"}, description="d", palette=palette, **more)


def test_every_row_is_named_also_without_a_value() -> None:
    svg = picture(draw(), "svg").decode()
    assert svg.count(">he<") == 2 and svg.count(">xe<") == 1
    assert ">a<" in svg and ">b<" in svg  # the headings
    assert picture(draw(look=Look(above=True)), "svg").decode().count(">xe<") == 2  # and the paper around its letters


def test_several_series_have_a_legend_and_one_has_none() -> None:
    looks = {"pre": ("ink", "circle"), "post": ("good", "square")}
    chart = draw(series=looks)
    assert picture(chart, "svg").decode().count(">post<") == 1
    legends = [
        (channel, encoding[channel]["field"])
        for encoding in (layer["encoding"] for layer in chart.to_dict()["layer"])
        for channel in ("color", "fill", "stroke", "shape")
        if channel in encoding and encoding[channel]["legend"]
    ]
    assert {field for _, field in legends} == {"series"}  # browsers merge legends of one field only
    data = pd.DataFrame(ROWS[:1])
    one = dot_rows(data, shares_across("share"), tips={}, description="d", palette=LIGHT, series={"pre": looks["pre"]})
    assert ">pre<" not in picture(one, "svg").decode()


@pytest.mark.parametrize("above", [False, True], ids=["axis", "above"])
def test_an_exported_dark_chart_has_light_colours(above: bool) -> None:
    chart = draw(DARK, look=Look(above=above))
    assert DARK.male in json.dumps(chart.to_dict())
    svg = picture(chart, "svg").decode().lower()
    assert LIGHT.male in svg and LIGHT.female in svg
    assert not [dark for dark in colours() if dark in svg]
