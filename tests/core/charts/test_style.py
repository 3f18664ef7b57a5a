"""core.charts: readable palettes, heatmaps with their numbers, pictures without the page's theme."""

import json
import struct

import numpy as np
import pandas as pd
import pytest

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.palette import DARK, LIGHT, Palette, colours, palette
from evenhand.core.charts.style import picture

CELLS = pd.DataFrame(
    [
        ("甲", "乙", 0.82, True),
        ("甲", "丙", -0.4, False),
        ("<b>丁</b>", "乙", None, False),
        ("甲", "戊", -0.001, False),
    ],
    columns=["a", "b", "k", "sure"],
)


def draw(theme: str = "light", **more: object) -> "object":
    return heatmap(CELLS, "a", "b", "k", description="four cells", palette=palette(theme), **more)  # type: ignore[arg-type]


def luminance(colour: str) -> float:
    # WCAG 2.2, relative luminance
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_text_contrast_meets_wcag_aa(look: Palette) -> None:
    fills = (look.card, look.paper, look.line, look.male_fill, look.female_fill, look.good_fill, look.bad_fill)
    assert {fill: contrast(look.ink, fill) for fill in fills if contrast(look.ink, fill) < 4.5} == {}
    for word in (look.male, look.female, look.soft, look.good, look.bad):
        assert contrast(word, look.card) >= 4.5
        assert contrast(word, look.paper) >= 4.5
    assert contrast(look.male, look.male_tint) >= 4.5
    assert contrast(look.female, look.female_tint) >= 4.5


# What people without one kind of cone see: Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
CONES_MISSING = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, seen: np.ndarray) -> np.ndarray:
    """Return the CIELAB values (D65) of a colour as it is seen."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(seen @ linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", [np.array(rows) for rows in CONES_MISSING.values()], ids=list(CONES_MISSING))
@pytest.mark.parametrize("look", [LIGHT, DARK], ids=["light", "dark"])
def test_good_and_bad_differ_for_people_with_colour_blindness(look: Palette, seen: np.ndarray) -> None:
    """A difference (CIE76) of 20 is plain to see; the lightness differs too, for a picture printed in grey."""
    for good, bad in ((look.good, look.bad), (look.good_fill, look.bad_fill)):
        assert np.linalg.norm(lab(good, seen) - lab(bad, seen)) > 20
        assert lab(good, np.eye(3))[0] - lab(bad, np.eye(3))[0] > 12


def test_each_light_colour_has_one_dark_counterpart() -> None:
    assert len(colours()) == 21  # with the lines of models, including ink
    assert not set(colours()) & set(colours().values())


def test_an_unknown_theme_is_light() -> None:
    assert palette(None) is LIGHT
    assert palette("dark") is DARK


def test_a_heatmap_writes_each_number() -> None:
    written = [row["_text"] for row in next(iter(draw(mark="sure").to_dict()["datasets"].values()))]
    assert written == ["0.82 *", "−0.40", "—", "0.00"]
    written = [row["_text"] for row in next(iter(draw(scale="sides").to_dict()["datasets"].values()))]
    assert written == ["+0.82", "−0.40", "—", "+0.00"]


@pytest.mark.parametrize(
    ("scale", "domain", "ends"),
    [
        ("sides", [-0.82, 0, 0.82], [LIGHT.female_fill, LIGHT.card, LIGHT.male_fill]),
        ("more", [-0.4, 0, 0.82], [LIGHT.bad_fill, LIGHT.card, LIGHT.good_fill]),
    ],
)
def test_zero_has_the_background_colour(scale: str, domain: list[float], ends: list[str]) -> None:
    fills = draw(scale=scale).to_dict()["layer"][1]["encoding"]["color"]["scale"]
    assert (fills["domain"], fills["range"]) == (domain, ends)


def test_an_svg_is_light_with_escaped_text() -> None:
    svg = picture(draw("dark"), "svg").decode()
    assert svg.startswith("<svg") and "甲" in svg and "−0.40" in svg and "four cells" in svg
    assert "&lt;b&gt;丁&lt;/b&gt;" in svg and "<b>" not in svg
    for dark in colours():
        assert dark not in svg.lower()


def test_data_that_looks_like_a_colour_is_kept() -> None:
    data = pd.DataFrame([(DARK.male, "x", 1.0)], columns=["a", "b", "k"])
    assert DARK.male in picture(heatmap(data, "a", "b", "k", description="d", palette=DARK), "svg").decode()


def test_a_png_has_the_requested_size() -> None:
    png = picture(draw(), "png", width=500, scale=2)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, _height = struct.unpack(">II", png[16:24])
    assert width >= 1000


def test_a_chart_without_numbers_can_be_drawn() -> None:
    none = pd.DataFrame([("甲", "乙", None)], columns=["a", "b", "k"])
    assert "—" in picture(heatmap(none, "a", "b", "k", description="nothing"), "svg").decode()


def test_data_is_inside_the_chart() -> None:
    # An address or an identifier in its place would mean that another thread's settings were used.
    spec = json.dumps(draw().to_dict())
    assert '"url"' not in spec and "0.82" in spec


def test_a_missing_number_is_null_in_the_data_of_a_chart() -> None:
    cells = pd.DataFrame({"a": ["甲", "甲"], "b": ["乙", "丙"], "k": [0.5, None], "why": ["", None]}).astype(object)
    chart = heatmap(cells, "a", "b", "k", description="d", tooltip=["why"])
    assert "NaN" not in chart.to_json()
    assert chart.to_json().replace(" ", "").count('"k":null') >= 1


def test_a_tooltip_rounds_its_numbers() -> None:
    """A tooltip shows what is in the data, so a band of 0.25229752721043497 was shown with all its digits."""
    cells = CELLS.assign(band=[0.25229752721043497, None, 0.5, 0.1], n=[10.0, 3.0, 2.0, 1.0])
    chart = json.loads(heatmap(cells, "a", "b", "k", description="d", tooltip=["band", "n"], band="band").to_json())
    (rows,) = chart["datasets"].values()
    assert [(row["band"], row["n"]) for row in rows] == [("0.25", "10"), ("—", "3"), ("0.50", "2"), ("0.10", "1")]
