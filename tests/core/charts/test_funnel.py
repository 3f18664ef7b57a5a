"""The figures of mining: the numbers at the end of the bars have their room on a narrow chart too."""

import pandas as pd
import pytest

from evenhand.core.charts.describe import before_after, funnel

STEPS = pd.DataFrame(
    [
        {"step": "Exactly one keyword", "left": 2967, "lost": 1444, "flagged": 0},
        {"step": "Names", "left": 899, "lost": 0, "flagged": 19},
    ]
)
PAIRS = pd.DataFrame(
    [{"pair": "他/她", "male_before": 2182, "male_after": 616, "female_before": 166, "female_after": 61}]
)


def texts(chart):
    results = [{row.get("words", "") for row in rows} for rows in chart.to_dict()["datasets"].values()]
    return set().union(*results)


def ranges(spec):
    """Yield every range of an x scale in a drawing."""
    if isinstance(spec, dict):
        if "scale" in spec and isinstance(spec["scale"], dict) and "range" in spec["scale"]:
            yield spec["scale"]["range"]
        for value in spec.values():
            yield from ranges(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from ranges(value)


def test_a_step_shows_remaining_removed_and_flagged_candidates():
    shown = texts(funnel(STEPS, description="x", say=lambda text: text.replace("flagged", "FLAGGED")))
    assert "2,967 (−1,444, 33%)" in shown
    assert "899 (19 FLAGGED)" in shown
    both = pd.DataFrame([{"step": "Names", "left": 899, "lost": 859, "flagged": 19}])
    assert "899 (−859; 19 flagged)" in texts(funnel(both, description="x"))


@pytest.mark.parametrize("chart", [funnel(STEPS, description="x"), before_after(PAIRS, description="x")])
def test_the_numbers_have_a_fixed_width_in_pixels(chart):
    results = list(ranges(chart.to_dict()))
    assert results
    for start, end in results:
        assert "width" in end["expr"] and (start == 0 or "width" in start["expr"])


def test_an_empty_table_can_be_drawn():
    assert funnel(STEPS.iloc[:0], description="x").to_dict()["layer"]
    assert before_after(PAIRS.iloc[:0], description="x").to_dict()["layer"]
