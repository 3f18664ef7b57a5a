"""The chart of measures of others: sound Vega-Lite, every role with a form of its own, missing ends left out."""

import pytest

from evenhand.core.charts.dots import FORMS, ROLE_NAMES, measure_dots
from evenhand.core.charts.palette import DARK

ROWS = [
    {"group": "m · share", "label": role, "role": role, "value": value, "low": low, "high": high, "band_low": band,
     "band_high": None if band is None else 56.0}
    for role, value, low, high, band in (
        ("model", 60.0, 54.0, 66.0, 44.0), ("untrained", None, None, None, None), ("control", 50.0, None, None, 35.0),
        ("published", 58.0, None, None, None),
    )
]  # fmt: skip


@pytest.mark.parametrize(("scale", "neutral"), [("percent", 50.0), ("effect", 0.0), ("ln", None)])
def test_the_chart_is_valid_and_described(scale: str, neutral: float | None) -> None:
    chart = measure_dots(ROWS, scale, neutral, description="what it shows", palette=DARK)
    drawn = chart.to_dict()  # checked against the schema of Vega-Lite
    assert drawn["description"] == "what it shows"
    rules = [layer for layer in drawn["layer"] if layer["mark"].get("strokeDash")]
    assert len(rules) == (neutral is not None)


def test_each_role_has_a_name_and_a_shape() -> None:
    assert set(FORMS) == set(ROLE_NAMES) and len({*FORMS.values()}) == 3  # the untrained one is a hollow circle
