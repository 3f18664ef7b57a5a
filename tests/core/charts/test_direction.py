"""One direction on every chart: a lean to the male word is drawn right of a lean to the female word.

Read from the picture that is drawn, not from the specification's parts: a flipped sign, a flipped scale and a flipped
word at an end all fail here. Where the lean runs upwards, male is above.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand.core.charts import association, bias_distribution, describe, ruler
from evenhand.core.charts import sides as both_sides
from evenhand.core.charts.palette import LIGHT
from evenhand.core.charts.style import picture

MALE = {LIGHT.male, LIGHT.male_fill, LIGHT.male_tint}
FEMALE = {LIGHT.female, LIGHT.female_fill, LIGHT.female_tint}
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
PLACED = re.compile(rf"translate\(({NUMBER})[, ]+({NUMBER})\)")
STARTS = re.compile(rf"M\s*({NUMBER})[, ]+({NUMBER})")


def curve():
    points = bias_distribution.sorted_curve({"m": np.array([-1.0, -0.5, 0.5, 1.0])})
    return bias_distribution.curves(points, description="d")


def balance():
    rows = [("male", 1.0, 0.8), ("female", -1.0, -0.8)]
    data = pd.DataFrame([{"model": m, "note": "", "bias_log10": b, "corrected_log10": c} for m, b, c in rows])
    return both_sides.balance(data, male="he", female="she", description="d")


def leans(chart=association.leans):
    rows = [("male", 0.9, 0.5, 1.2), ("female", -0.9, -1.2, -0.5)]
    data = pd.DataFrame(rows, columns=["name", "value", "low", "high"]).assign(stays=True, women=[5.0, 95.0])
    return chart(data.assign(**{"class": ["male", "female"]}), description="d")


def sides():
    row = {"model": "m", "note": "", "man": 0.5, "woman": 0.4}
    more = {f"{side}_{part}": None for side in ("man", "woman") for part in ("low", "high", "paper")}
    return both_sides.sides(pd.DataFrame([row | more]), description="d")


def ruled():
    rows = [("m", "signed", 0.9, 0.8, 1.0), ("f", "signed", -0.9, -1.0, -0.8)]
    data = pd.DataFrame(rows, columns=["name", "kind", "value", "low", "high"])
    return ruler.ruler(data.assign(null_low=np.nan, null_high=np.nan, text=""), description="d")


def words():
    rows = [("male", "bridge", 1.0, ""), ("female", "garden", 1.0, "")]
    return both_sides.word_sides(pd.DataFrame(rows, columns=["side", "word", "weight", "tip"]), description="d")


def mined():
    row = {"pair": "p", "male_before": 90, "male_after": 40, "female_before": 90, "female_after": 40}
    return describe.before_after(pd.DataFrame([row]), description="d")


def ridges():
    result = bias_distribution.bins({"m": np.array([-2.0, -1.0, 0.0, 1.0, 2.0])})
    return bias_distribution.ridges(result, description="d")


def squares():
    a = np.array([-1.0, 1.0, 0.9, -0.8])
    return bias_distribution.two_models(bias_distribution.squares(a, a), "a", "b", description="d")


# Charts whose axis runs from the female to the male word, and which way it runs on the screen.
DIRECTED = {
    "sides.balance": (balance, "right"),
    "association.leans": (leans, "right"),
    "association.shares": (lambda: leans(association.shares), "up"),
    "sides.sides": (sides, "right"),
    "ruler.ruler": (ruled, "right"),
    "sides.word_sides": (words, "right"),
    "describe.before_after": (mined, "right"),
    "bias_distribution.ridges": (ridges, "right"),
    "bias_distribution.two_models": (squares, "right"),
    "bias_distribution.curves": (curve, "up"),
}
# Charts with the two colours whose axis does not show a lean: a count or a share; and charts with coloured cells.
OTHER = {
    "describe.before_after_points": "counts, a row for each word",
    "describe.pair_balance": "the share of the male word, which grows to the right: see below",
    "dots.leak_shares": "shares that leak, a row for each side",
    "dots.times": "how many times as often, 1 in the middle; the side is that of the row",
    "heatmap.heatmap": "colours of cells",
}


def places(svg: str) -> list[tuple[str, float, float]]:
    """Return the colour of everything drawn, and its start in pixels from the upper left corner."""
    results = []

    def walk(node: ET.Element, x: float, y: float) -> None:
        for place in PLACED.findall(node.get("transform", "")):
            x, y = x + float(place[0]), y + float(place[1])
        start = STARTS.match(node.get("d", ""))
        at = (x + float(start[1]), y + float(start[2])) if start else (x, y)
        if node.get("x1") is not None or node.tag.endswith("line"):
            at = (x + float(node.get("x2", 0)) / 2, y + float(node.get("y2", 0)) / 2)
        for colour in {node.get("fill"), node.get("stroke")} - {None, "none"}:
            results.append((str(colour), *at))
        for child in node:
            walk(child, x, y)

    walk(ET.fromstring(svg), 0.0, 0.0)
    return results


def male_is_there(chart, way: str) -> bool:
    """Return True if everything in the male word's colours is further right (or up) than the female word's."""
    drawn = places(picture(chart, "svg").decode())
    axis, sign = (1, 1) if way == "right" else (2, -1)
    male, female = ([sign * place[axis] for place in drawn if place[0] in colours] for colours in (MALE, FEMALE))
    assert male and female, "nothing is drawn in the colour of a side"
    farther = sum(male) / len(male) > sum(female) / len(female) + 5
    return farther and max(male) > max(female) and min(male) > min(female)


@pytest.mark.parametrize("name", DIRECTED)
def test_the_male_word_is_right_or_above(name):
    make, way = DIRECTED[name]
    assert male_is_there(make(), way)


def test_a_flipped_chart_is_detected():
    spec = balance().to_dict()
    for row in (row for rows in spec["datasets"].values() for row in rows if "short" in row):
        row.update({key: -row[key] for key in ("end", "dot", "text_at")}, left=not row["left"])

    class Flipped:
        def to_dict(self, validate=True):
            return spec

    assert not male_is_there(Flipped(), "right")


def test_the_share_of_the_male_word_grows_to_the_right():
    rows = [("a", 80, 20, 0.8), ("b", 20, 80, 0.2)]
    data = pd.DataFrame(rows, columns=["pair", "male", "female", "share"])
    data = data.assign(low=data["share"] - 0.05, high=data["share"] + 0.05, p_holm=0.01, share_text="", p_text="")
    svg = picture(describe.pair_balance(data, description="d"), "svg").decode()
    heads = [x for colour, x, _ in places(svg) if colour == LIGHT.female_fill]  # begin where the male share ends
    assert heads[0] > heads[1]


def test_every_chart_with_the_two_colours_is_in_a_table():
    """A new chart that draws the two sides has to be put into one of the tables above."""
    for path in Path(both_sides.__file__).parent.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.stem != "palette" and re.search(r"palette\.(male|female)", source):
            judged = [name for name in (*DIRECTED, *OTHER) if name.startswith(f"{path.stem}.")]
            assert judged, f"{path.stem} draws the two sides and is in no table"
