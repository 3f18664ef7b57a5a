"""core.charts.bias_distribution and curve: counts that add up, borders at 0.3, few points, no text that runs."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.charts.bias_distribution import (
    MOST_BINS,
    POINTS,
    bins,
    curve_says,
    curves,
    distribution_says,
    ridges,
    shares,
    signed,
    sorted_curve,
)
from evenhand.core.charts.palette import DARK, LINES
from evenhand.core.charts.style import picture
from evenhand.core.sentence_bias.bias import obvious

FLOATS = st.lists(
    st.one_of(st.floats(-8, 8), st.sampled_from([0.3, -0.3, 0.0, math.inf, -math.inf, math.nan])), max_size=60
)


@given(FLOATS, FLOATS)
@settings(max_examples=40)
def test_bins_count_every_finite_value_once(a: list[float], b: list[float]) -> None:
    result = bins({"a": np.array(a, dtype=float), "b": np.array(b, dtype=float)})
    for model, values in (("a", a), ("b", b)):
        rows = result[result["model"] == model]
        finite = [value for value in values if math.isfinite(value)]
        assert rows["count"].sum() == len(finite)
        assert rows["share"].sum() == pytest.approx(1 if finite else 0)
        counts = rows.groupby("side")["count"].sum()
        expected = obvious(values)
        assert (counts.get("male", 0), counts.get("female", 0)) == (expected.male, expected.female)
        assert len(rows) <= MOST_BINS + 2 or rows["high"].max() == math.inf
        # Side by side, without a hole: each bin begins where the one before ends.
        assert rows["low"].iloc[1:].tolist() == rows["high"].iloc[:-1].tolist()


@pytest.mark.parametrize(
    ("value", "side"),
    [(0.3, "none"), (-0.3, "none"), (0.3000001, "male"), (-0.3000001, "female"), (0.0, "none"), (6.4, "male")],
)
def test_a_value_at_the_border_is_not_obvious(value: float, side: str) -> None:
    result = bins({"m": np.array([value])})
    assert result.loc[result["count"] > 0, "side"].tolist() == [side]


def test_far_values_are_in_the_outermost_bin() -> None:
    result = bins({"m": np.array([*np.linspace(-1, 1, 2000), 40.0])})
    last = result.iloc[-1]
    assert (last["high"], last["count"]) == (math.inf, 1)
    assert last["low"] < 3


def test_bins_of_an_empty_model_and_of_no_model() -> None:
    assert bins({"m": np.array([math.nan, math.inf])})["count"].sum() == 0
    assert bins({}).empty
    for counted in (bins({}), bins({"m": np.array([math.nan])})):
        assert json.loads(ridges(counted, description="nothing").to_json())["description"] == "nothing"


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=900))
@settings(max_examples=40)
def test_the_curve_is_sorted_thin_and_ends_with_the_extremes(values: list[float]) -> None:
    points = sorted_curve({"m": np.array(values)})
    assert len(points) <= POINTS
    assert points["bias_log10"].is_monotonic_increasing
    assert points["bias_log10"].iloc[[0, -1]].tolist() == [min(values), max(values)]
    assert points["percent"].iloc[-1] == 100
    assert (points["n"] == len(values)).all()


def test_twenty_thousand_sentences_become_few_points() -> None:
    random = np.random.default_rng(0)
    values = {f"m{n}": random.normal(0.1 * n, 0.6, 20_000) for n in range(5)}
    assert len(sorted_curve(values)) == 5 * POINTS
    assert len(bins(values)) <= 5 * (MOST_BINS + 2)
    spec = ridges(bins(values), description="five").to_json()
    assert len(spec) < 400_000


def test_the_caption_has_computed_numbers() -> None:
    values = {"one": np.array([1.0, 1.0, -1.0, 0.1]), "two": np.array([-0.5, -0.5, 0.0, 0.0])}
    sentence = distribution_says(bins(values))
    assert sentence == (
        "one: 50% lean obviously towards the male word, 25% towards the female word, 25% neither way. "
        "two: 0% lean obviously towards the male word, 50% towards the female word, 50% neither way."
    )
    assert shares(bins(values)).set_index("model").loc["two", "female"] == 0.5
    assert curve_says(sorted_curve(values)).startswith(
        "one: 25% of the sentences are below 0; the middle half lies between"
    )


@pytest.mark.parametrize(
    ("number", "text"), [(0.3, "+0.3"), (-0.25, "−0.25"), (0.0, "0"), (1.0, "+1.0"), (-0.001, "0.0")]
)
def test_signed_formats_numbers_with_their_sign(number: float, text: str) -> None:
    assert signed(number) in {text, f"+{text}"}


def test_exported_pictures_use_light_colours() -> None:
    values = {"<b>hostile</b>": np.array([0.5, -0.5, 0.1])}
    for chart in (
        ridges(bins(values), description="d", palette=DARK),
        curves(sorted_curve(values), description="d", palette=DARK),
    ):
        svg = picture(chart, "svg").decode()
        assert "<b>" not in svg
        assert "&lt;b&gt;hostile" in svg
        for colour in (*LINES["dark"], DARK.male):
            assert colour not in svg


def test_a_click_returns_the_bin() -> None:
    spec = json.loads(ridges(bins({"m": np.array([9.0, *[0.1] * 600])}), description="d", click="bin").to_json())
    params = [param for layer in spec["layer"] for param in layer.get("params", [])] + spec.get("params", [])
    assert params[0]["name"] == "bin"
    assert params[0]["select"]["fields"] == ["model", "low_text", "high_text"]
    rows = pd.DataFrame([row for layer in spec["layer"] for row in _values(spec, layer) if "low_text" in row])
    assert {float(text) for text in rows["high_text"]} >= {math.inf}


def _values(spec: dict, layer: dict) -> list[dict]:
    data = layer.get("data", spec.get("data", {}))
    return data.get("values", spec.get("datasets", {}).get(data.get("name", ""), []))


def test_a_model_without_a_value_has_a_dash_and_no_share() -> None:
    result = bins({"a": np.array([0.5, -0.5]), "b": np.array([np.nan, np.inf])})
    assert distribution_says(result).endswith("b: no sentence has a value.")
    written = ridges(result, description="d").to_dict()
    texts = [row for data in written["datasets"].values() for row in data if "left" in row]
    assert [(row["left"], row["right"]) for row in texts] == [("◀ 50%", "50% ▶"), ("◀ —", "— ▶")]


def test_the_axis_reaches_the_bars_of_the_longer_side() -> None:
    result = bins({"a": np.array([-4.0, -3.9, -3.8, 0.1])})
    written = ridges(result, description="d").to_dict()
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in written["layer"]
        if "scale" in layer["encoding"].get("x", {})
    ]
    least = min(row["from"] for data in written["datasets"].values() for row in data if "count_text" in row)
    assert domains
    assert all(low <= least for low, _high in domains)
