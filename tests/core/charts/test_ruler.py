"""The ruler and the shares of leaks as charts: what is drawn, what is not, in both themes."""

import json
import math

import pandas as pd
import pytest

from evenhand.core.charts.dots import leak_shares
from evenhand.core.charts.palette import DARK, LIGHT
from evenhand.core.charts.ruler import ruler
from evenhand.core.charts.style import picture

ROWS = [
    ("signed mean", "signed", 0.2, 0.1, 0.3, -0.1, 0.1),
    ("to the other side", "signed", -0.9, None, None, None, None),
    ("size", "model", 1.9, 1.7, 2.2, None, None),
    ("untrained", "reference", 0.1, 0.05, 0.15, None, None),
    ("undefined", "model", None, None, None, None, None),
    ("infinite", "model", math.inf, None, None, None, None),
]


def data() -> pd.DataFrame:
    rows = pd.DataFrame(ROWS, columns=["name", "kind", "value", "low", "high", "null_low", "null_high"])
    return rows.assign(text=[f"text {n}" for n in range(len(rows))])


def values_of(spec: dict, rows: int) -> list[dict]:
    return next(values for values in spec["datasets"].values() if len(values) == rows)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_ruler_draws_existing_values(palette) -> None:
    chart = ruler(data(), description="says", planted=[0, 0.3], palette=palette)
    spec = chart.to_dict()
    rows = values_of(spec, 6)
    assert [row["colour"] for row in rows[:4]] == ["male", "female", "ink", "soft"]
    assert rows[4]["value"] is None and rows[5]["value"] is None
    assert [row["row"] for row in rows] == list(range(6))  # the order that was given
    assert spec["description"] == "says"
    assert picture(chart, "svg").startswith(b"<svg")


def test_the_axis_includes_every_value_and_the_marks() -> None:
    def domains(frame, **options):
        return json.dumps(ruler(frame, description="", **options).to_dict())

    assert '"domain": [-2.37' in domains(data())
    assert '"domain": [-1.25, 1.25]' in domains(data().iloc[:1])
    assert '"domain": [0.0, 1.25]' in domains(data().iloc[:1], sizes=True)


def test_without_planted_models_there_is_no_head() -> None:
    assert "planted models" not in json.dumps(ruler(data(), description="").to_dict(), ensure_ascii=False)
    assert "▼ planted models" in json.dumps(ruler(data(), description="", planted=[0.3]).to_dict(), ensure_ascii=False)


def test_shares_of_leaks_are_drawn() -> None:
    rows = pd.DataFrame(
        [
            ("both directions", "both", "extreme", "extremes", 0.5, 0.3, 0.7, 10, 20),
            ("both directions", "both", "control", "ordinary", None, None, None, 0, 0),
            ("male", "male", "extreme", "extremes", 1.0, 0.8, 1.0, 5, 5),
        ],
        columns=["end", "toward", "stratum", "name", "share", "low", "high", "leaks", "judged"],
    )
    chart = leak_shares(rows, description="says")
    values = values_of(chart.to_dict(), 3)
    assert [row["share"] for row in values] == [0.5, None, 1.0]
    assert [row["colour"] for row in values] == ["ink", "ink", "male"]
    assert [row["hollow"] for row in values] == [False, True, False]
    assert values[0]["label"].endswith("10/20")
    assert picture(chart, "png").startswith(b"\x89PNG")
