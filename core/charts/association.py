"""Charts of associations, one model at a time: means of models with different tokenizers never share an axis.

M - W is in ln: positive (purple, to the right) leans to the male words, negative (orange, left) to the female words.
"""

import math
from typing import Any

import altair as alt
import pandas as pd

from evenhand.core.charts.bias_distribution import SIGNED_LABEL
from evenhand.core.charts.dots import Look, dot_rows
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.palette import LIGHT, Palette
from evenhand.core.charts.style import palette_scale, rule, styled, tooltips
from evenhand.core.errors import N_
from evenhand.core.language import Say, same

ROW = 19  # pixels per profession
CLASS_ROW = 40
LEAST = 0.2  # ln; the axis is never shorter
SHAPES = {"female": "circle", "balanced": "square", "male": "triangle-up"}
CLASS_NAMES = {
    "female": N_("female professions"),
    "balanced": N_("balanced professions"),
    "male": N_("male professions"),
    "": N_("no class"),
}
GENDER_NAMES = {"male": N_("male words"), "female": N_("female words"), "neutral": N_("neutral words")}


def leans(data: pd.DataFrame, *, description: str, row: int = ROW, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return a point with its interval per row of *data*: columns name, value, low, high (ln, NaN where none), stays.

    A filled point stays different from 0 after Holm's adjustment; a hollow one does not. Rows keep their order.
    """
    ends = data[["low", "high"]].itertuples(index=False)
    shown = data.assign(
        label=data["name"],
        colour=["female" if value < 0 else "male" for value in data["value"]],
        hollow=~data["stays"].astype(bool),
        written_value=[_written(value) for value in data["value"]],
        interval=["—" if math.isnan(low) else f"{_written(low)} … {_written(high)}" for low, high in ends],
    )
    tips = {"name": N_("Profession"), "written_value": "M − W (ln)", "interval": N_("95% interval")}
    far = data[["value", "low", "high"]].abs().to_numpy().ravel()
    reach = 1.05 * max([LEAST, *(float(x) for x in far if not math.isnan(x))])
    # Two lines, which a telephone is wide enough for.
    title = ["M − W (ln)", "◀ " + say(N_("female words")) + "\u2002·\u2002" + say(N_("male words")) + " ▶"]
    axis = alt.Axis(labelExpr=SIGNED_LABEL, tickCount=6, grid=True, gridDash=[4, 4], domain=False, ticks=False)
    x = alt.X("value:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=axis, title=title)
    zero = rule(x, 0, color=palette.soft, strokeWidth=1.5)
    look = Look(row=row, size=70, faint=0.55, limit=190)
    return dot_rows(shown, x, tips=tips, say=say, look=look, under=[zero], description=description, palette=palette)


def _written(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:+z.3f}".replace("-", "−")


def warmth(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Return the mean association of each profession (down) with each group of person words (across), ln.

    *data*: profession, gender, value (NaN undefined: a dash), n. Green: the profession makes the words more likely;
    red: less likely. Rows and columns keep their order.
    """
    shown = data.assign(group=[say(GENDER_NAMES.get(gender, gender)) for gender in data["gender"]])
    most = max([0.1, *(abs(float(v)) for v in data["value"].dropna())])
    titles = {
        "value": say(N_("Mean association (ln)")), "n": say(N_("Sentences")), "profession": say(N_("Profession")),
        "group": say(N_("Person words")),
    }  # fmt: skip
    return heatmap(
        shown, "group", "profession", "value", description=description, titles=titles, palette=palette, digits=3,
        signed=True, domain=(-most, most), row=26, tooltip=["n"],
    )  # fmt: skip


def shares(data: pd.DataFrame, *, description: str, say: Say = same, palette: Palette = LIGHT) -> Any:
    """Draw the share of women in professions (across, per cent) against M - W (up).

    Columns: name, women, value, class.
    """
    known = data[data["women"].notna() & data["value"].notna()]
    shown = known.assign(
        shown=[_written(value) for value in known["value"]],
        kind=[say(CLASS_NAMES.get(name, name)) for name in known["class"]],
        colour=["female" if value < 0 else "male" for value in known["value"]],
    )
    there = dict(zip(shown["class"], shown["kind"], strict=True))
    kinds = dict.fromkeys(kind for kind in (*SHAPES, *there) if kind in there)
    reach = 1.05 * max([LEAST, *(abs(float(v)) for v in known["value"])])
    look = alt.Axis(labelExpr=SIGNED_LABEL, gridDash=[4, 4], domain=False, ticks=False, titleAngle=-90)
    title = "◀ " + say(N_("female words")) + " · M − W (ln) · " + say(N_("male words")) + " ▶"
    across = alt.Axis(domain=False, ticks=False, grid=False, values=[0, 25, 50, 75, 100])
    legend = alt.Legend(
        title=None, orient="top", columns=alt.ExprRef("width < 400 ? 1 : 0"), symbolStrokeColor=palette.soft,
        symbolFillColor="transparent",
    )  # fmt: skip
    shapes = [SHAPES.get(kind, "diamond") for kind in kinds]
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=[there[kind] for kind in kinds], range=shapes), legend=legend)
    women = N_("Share of women (%)")
    tips = tooltips({"name": N_("Profession"), "women": women, "shown": "M − W (ln)"}, say, women=".1f")
    x = alt.X("women:Q", scale=alt.Scale(domain=[0, 100]), axis=across, title=say(women))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[-reach, reach], nice=False), axis=look, title=title)
    points = alt.Chart(shown, height=340).mark_point(size=80, strokeWidth=2, filled=False)
    zero = rule(y, 0, color=palette.soft, strokeWidth=1.5)
    colour = alt.Color("colour:N", scale=palette_scale(palette), legend=None)
    coloured = points.encode(x=x, y=y, shape=shape, tooltip=tips, color=colour)
    return styled(alt.layer(zero, coloured), description, palette)
