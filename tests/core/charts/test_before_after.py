"""The histogram of differences: every item counted once, a row a model."""

import numpy as np

from evenhand.core.charts.bias_distribution import difference_bins, differences


def test_every_item_is_in_one_bin() -> None:
    changes = {"a": np.array([-0.2, 0.0, 0.01, 5.0, np.nan]), "b": np.array([0.1])}
    result = difference_bins(changes)
    assert result.groupby("model")["count"].sum().to_dict() == {"a": 4, "b": 1}
    assert result.loc[(result["low"] <= 0) & (result["high"] > 0) & (result["model"] == "a"), "count"].sum() >= 1


def test_models_have_lines_with_different_dashes() -> None:
    result = difference_bins({"a": np.array([0.1, 0.2]), "b": np.array([-0.1])})
    spec = differences(result, description="Half moved.").to_dict()
    line = spec["layer"][1]["encoding"]
    assert spec["description"] == "Half moved." and line["color"]["scale"]["domain"] == ["a", "b"]
    assert len({tuple(dashes) for dashes in line["strokeDash"]["scale"]["range"]}) == 2
