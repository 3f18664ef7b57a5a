"""Charts of the inference measure: their data, their order, and that no label has a side's colour."""

import json

import pytest

from evenhand.core.charts.nli import Point, label_colours, label_shares, over_rates, score_scale
from evenhand.core.charts.palette import DARK, LIGHT
from evenhand.core.nli.measure import measured
from evenhand.core.nli.types import LABELS, SETS, Prediction

ROWS = [Prediction(name, label, f"w{i}") for i in range(4) for name in SETS for label in LABELS]


def data_of(spec, layer: int):
    data = spec["layer"][layer].get("data") or spec["data"]
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_labels_have_distinct_colours(palette) -> None:
    colours = label_colours(palette)
    assert set(colours) == set(LABELS)
    assert len(set(colours.values())) == 3
    assert not set(colours.values()) & {palette.male, palette.female}


def test_the_bars_of_a_set_add_up_to_one() -> None:
    result = measured(ROWS)
    spec = label_shares(result, description="what it shows").to_dict()
    values = data_of(spec, 0)
    for name in SETS:
        parts = [row for row in values if row["label"] == name]
        assert [row["part"] for row in parts] == list(LABELS)
        assert parts[0]["start"] == 0
        assert parts[-1]["end"] == pytest.approx(1)
    assert spec["description"] == "what it shows"


def test_the_scale_keeps_its_order_and_has_four_marks() -> None:
    points = [Point("b", 0.6), Point("a", 0.2, 0.1, 0.3, own=True), Point("c", 0.4)]
    spec = score_scale(points, description="").to_dict()
    orders = [layer["encoding"]["y"]["sort"] for layer in spec["layer"] if "y" in layer["encoding"]]
    assert [place.strip("\u200b") for place in orders[0]] == ["b", "a", "c"]
    assert [data_of(spec, mark)[0]["value"] for mark in range(4)] == [0.0, 4 / 9, 2 / 3, 1.0]
    assert "NaN" not in json.dumps(spec)


def test_bias_rates_are_the_ticks() -> None:
    rows = [{"r": r, "measure": "s", "value": r, "low": None, "high": None} for r in (0.0, 0.5, 1.0)]
    spec = over_rates(rows, description="").to_dict()
    assert '"values": [0.0, 0.5, 1.0]' in json.dumps(spec)
    assert "NaN" not in json.dumps(spec)
