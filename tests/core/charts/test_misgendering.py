"""The charts of misgendering: rows in order, nothing drawn that is undefined, hostile names as data, both themes."""

from typing import Any

import pandas as pd
import pytest

from evenhand.core.charts.misgendering import alpha_beta, levels, slot, ways
from evenhand.core.charts.palette import DARK, LIGHT, Palette
from evenhand.core.charts.style import picture

HOSTILE = "'];alert(1)//</script>"


def ways_data() -> pd.DataFrame:
    rows = []
    for group in ("b-model", HOSTILE):
        for label in ("he", "xe"):
            for way in ("prob", "gen", "people"):
                rows.append({"group": group, "label": label, "way": way, "value": 0.5, "low": 0.4, "high": 0.6, "n": 9})
    rows[0] |= {"value": None, "low": None, "high": None}
    return pd.DataFrame(rows)


def levels_data() -> pd.DataFrame:
    shares = {"0": 0.5, "0.4": 0.3, "0.49": 0.2}
    return pd.DataFrame([{"group": "m", "label": "he", "level": k, "share": v, "n": 10} for k, v in shares.items()])


def beta_data() -> pd.DataFrame:
    rows = [("he", 0.3, 2.0), ("xe", None, None)]
    made = [{"group": "m", "label": n, "alpha": a, "beta": b, "interval": "", "n": 9} for n, a, b in rows]
    return pd.DataFrame(made).astype({"alpha": float, "beta": float})


def slot_data() -> pd.DataFrame:
    return pd.DataFrame({"form": ["he", "she"], "share": [0.6, 0.4], "preferred": [False, True]})


def drawn(spec: Any) -> list[dict[str, Any]]:
    return [row for rows in spec["datasets"].values() for row in rows]


def test_rows_keep_the_order_of_the_caller() -> None:
    spec = ways(ways_data(), description="d").to_dict()
    heads = [row["group"] for row in drawn(spec) if "way" not in row and "group" in row]
    assert heads == ["b-model", HOSTILE]
    sort = next(layer["encoding"]["y"]["sort"] for layer in spec["layer"] if "y" in layer.get("encoding", {}))
    assert [place.replace("\u200b", "") for place in sort] == ["", "he", "xe", "", "he", "xe"]
    assert len(set(sort)) == 6  # the same pronouns under two models are two rows


def test_an_undefined_value_is_a_dash_and_not_drawn() -> None:
    spec = ways(ways_data(), description="d").to_dict()
    row = next(row for row in drawn(spec) if row.get("way") == "prob" and row["group"] == "b-model")
    assert row["value"] is None and row["value_text"] == row["interval_text"] == "—"
    filters = [step["filter"] for layer in spec["layer"] for step in layer.get("transform", [])]
    assert filters.count("isValid(datum.value)") == 1
    assert [
        row["label"] for row in drawn(alpha_beta(beta_data(), description="d").to_dict()) if "alpha_text" in row
    ] == ["he"]


def test_bars_add_up_to_one() -> None:
    rows = [row for row in drawn(levels(levels_data(), description="d").to_dict()) if "level" in row]
    assert [(round(row["start"], 9), round(row["end"], 9)) for row in rows] == [(0, 0.5), (0.5, 0.8), (0.8, 1)]


def test_the_preferred_form_is_also_marked_in_words() -> None:
    rows = [row for row in drawn(slot(slot_data(), description="d").to_dict()) if "form" in row]
    assert [row["text"] for row in rows] == ["60%", "40% · preferred"]


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("chart", "data"),
    [(ways, ways_data), (levels, levels_data), (alpha_beta, beta_data), (slot, slot_data)],
    ids=["ways", "levels", "alpha_beta", "slot"],
)
def test_every_chart_becomes_a_picture(chart: Any, data: Any, palette: Palette) -> None:
    svg = picture(chart(data(), description="what it shows", palette=palette), "svg").decode()
    assert "<title>what it shows</title>" in svg and "<script>" not in svg
    assert palette is LIGHT or DARK.good not in svg  # a dark chart is turned into light colours
