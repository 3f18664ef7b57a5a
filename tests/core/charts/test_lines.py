"""Lines of charts: no two alike, none in the colour of a side."""

from evenhand.core.charts.lines import dashes, line_colours
from evenhand.core.charts.palette import DARK, LIGHT, LINES


def test_lines_of_models_are_distinct() -> None:
    looks = [tuple(pair) for pair in zip(line_colours(12, LIGHT), map(str, dashes(12)), strict=True)]
    assert len(set(looks)) == 12
    assert not set(LINES["light"]) & {LIGHT.male, LIGHT.female}
    assert line_colours(2, DARK)[0] == LINES["dark"][0]
