"""The colours of the two themes, for charts, pages and reports; nothing here loads a library that draws.

Purple stands for the male word, orange for the female word, and never alone:
a position, a word or a number says the same. Every colour of the dark palette
is unlike every other, so that a dark chart can be turned into a light picture.
"""

from dataclasses import dataclass, fields
from typing import Literal

Theme = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme. Text on `*_fill` colours is `ink`: contrast 4.5 : 1 or more (a test)."""

    theme: Theme
    paper: str
    card: str
    ink: str
    soft: str  # text of lesser weight, axis labels
    line: str  # grid, borders, cells without a value
    male: str
    female: str
    male_tint: str
    female_tint: str
    male_fill: str  # the strong end of a heatmap towards the male word
    female_fill: str  # the strong end of a heatmap towards the female word
    good: str
    bad: str
    good_fill: str  # the strong end of a heatmap where more is more of one thing
    bad_fill: str  # below zero in the same heatmap
    neutral: str  # bars that are about neither side


NAMES = tuple(field.name for field in fields(Palette) if field.name != "theme")
LIGHT = Palette(
    theme="light",
    paper="#fbfaf7",
    card="#ffffff",
    ink="#211d18",
    soft="#6b6459",
    line="#e6e1d8",
    male="#5b3fa0",
    female="#b4500f",
    male_tint="#eee9fa",
    female_tint="#fef1e8",
    male_fill="#a991e6",
    female_fill="#ee9f66",
    good="#1b7f76",
    bad="#8f1f3a",
    good_fill="#9adbd0",
    bad_fill="#d86b78",
    neutral="#877e71",
)
DARK = Palette(
    theme="dark",
    paper="#17151b",
    card="#1f1d25",
    ink="#ece8e1",
    soft="#a39c90",
    line="#34313c",
    male="#b9a3f5",
    female="#f2a267",
    male_tint="#2c2541",
    female_tint="#3d2a1c",
    male_fill="#5e43a6",
    female_fill="#94480f",
    good="#7fd8c8",
    bad="#e5677d",
    good_fill="#22736b",
    bad_fill="#7d2033",
    neutral="#8f8779",
)

# Lines of models, in their order: none is like a side's colour, and dashes tell them apart too.
LINES = {
    "light": ("#211d18", "#0f7173", "#8a8000", "#a3336b", "#3f7d3a", "#5d6b7c"),
    "dark": ("#ece8e1", "#5fc4c2", "#d6cb4d", "#ef8ab8", "#8fcf84", "#a9b6c6"),
}

MALE = {"light": LIGHT.male, "dark": DARK.male}
FEMALE = {"light": LIGHT.female, "dark": DARK.female}


def palette(theme: str | None) -> Palette:
    """Return the palette of a theme by its name; light where the theme is not known (None)."""
    return DARK if theme == "dark" else LIGHT


def colours() -> dict[str, str]:
    """Return for every colour of the dark palette the corresponding light one."""
    lines = dict(zip(LINES["dark"], LINES["light"], strict=True))
    return lines | {getattr(DARK, name): getattr(LIGHT, name) for name in NAMES}


def css_variables(*, dark: bool) -> str:
    """Return each colour as a CSS variable (--male-tint); with *dark* they follow the theme of the page."""
    both = "{}:light-dark({},{})" if dark else "{}:{}"
    return ";".join(
        both.format(f"--{name.replace('_', '-')}", getattr(LIGHT, name), getattr(DARK, name)) for name in NAMES
    )
