"""The one selection of the page Models side by side: sentences that the address names, in every view of the page.

A selection is written as its parts after each other: `bin|MODEL|LOW|HIGH` (Bias_c, log10), `span|MODEL|LOW|HIGH` (an
empty MODEL: in every model shown), `square|A|B|LOW|HIGH|LOW|HIGH`, or `pair|MODEL|PAIR`, `side|...`, `masks|...`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st
from markupsafe import Markup

from evenhand.core.charts.bias_distribution import signed
from evenhand.pages.model_bias.source import Settings, at_once, rows_for, show_sentences
from evenhand.pages.ui import results
from evenhand.pages.ui.address import link_to
from evenhand.pages.ui.runs import ScoreFile, score_runs
from evenhand.pages.ui.tables import element
from evenhand.pages.ui.text import _, in_brackets, inform, plain, series

if TYPE_CHECKING:
    import pandas as pd

NAME = "pick"  # of the selection in the address
GROUPS = ("pair", "side", "masks", "group")
CORRECTED = "-corrected"  # after bin or span: of Bias_c minus the mean of the pair


@dataclass(frozen=True, slots=True)
class Pick:
    """A selection: `kind` (bin, span, square, pair, side, masks), its `models`, and the borders or the `group`."""

    kind: str
    models: tuple[str, ...]
    borders: tuple[float, ...] = ()
    group: str = ""
    corrected: bool = False

    @property
    def address(self) -> str:
        """The selection as the address holds it."""
        kind = self.kind + CORRECTED * self.corrected
        models = self.models if self.kind == "square" or len(self.models) == 1 else ("",)
        return "|".join([kind, *models, *([self.group] if self.group else map("{:g}".format, self.borders))])

    def words(self) -> str:
        """Return what is selected, for the chip and the heading of the sentences."""
        if self.kind in GROUPS:
            return in_brackets(group_name(self.kind, self.group), self.models[0])
        measure = _("Bias_c minus the pair mean") if self.corrected else "Bias_c"
        spans = [_span(*self.borders[at : at + 2]) for at in range(0, len(self.borders), 2)]
        if self.kind == "square":
            return series(f"{model} {span}" for model, span in zip(self.models, spans, strict=True))
        where = self.models[0] if len(self.models) == 1 else _("in all models")
        return in_brackets(f"{measure} {spans[0]}", where)


def _span(low: float, high: float) -> str:
    if math.isinf(low) or math.isinf(high):
        return _("below {number}", number=signed(high)) if math.isinf(low) else _("above {number}", number=signed(low))
    return f"{signed(low)} … {signed(high)}"


def group_name(by: str, name: str) -> str:
    """Return a group as the visitor reads it."""
    if by == "side":
        return _("male word in the source") if name == "male" else _("female word in the source")
    if by == "masks":
        return _("1 mask") if name == "1" else _("{n} masks", n=name)
    return name


def picked(models: Sequence[str]) -> Pick | None:
    """Return what the address selects among *models*; None for nothing, or if it cannot be read."""
    text = results.selected(NAME)
    if not text:
        return None
    kind, *parts = text.split("|")
    corrected, kind = kind.endswith(CORRECTED), kind.removesuffix(CORRECTED)
    wanted = {"square": (2, 4), "bin": (1, 2), "span": (1, 2)}.get(kind, (1, 1) if kind in GROUPS else None)
    if wanted is None or len(parts) != sum(wanted):
        return None
    chosen = tuple(parts[: wanted[0]])
    chosen = tuple(models) if kind == "span" and chosen == ("",) else chosen
    if not set(chosen) <= set(models):
        return None
    if kind in GROUPS:
        return Pick(kind, chosen, group=parts[-1])
    try:
        borders = tuple(map(float, parts[wanted[0] :]))
    except ValueError:
        return None
    return None if any(map(math.isnan, borders)) else Pick(kind, chosen, borders, corrected=corrected)


def pick(value: Pick | None) -> None:
    """Select *value* in the address, and draw the page again if that is new."""
    if (value.address if value else None) != results.selected(NAME):
        results.select(NAME, value.address if value else None)
        st.rerun()


def take_click(key: str, clicked: Mapping[str, Any] | None, value: Pick | None) -> None:
    """Select *value* if the click in the chart *key* is a new one.

    A chart keeps its last click, which must not come back after another selection or none.
    """
    place = f"{key}-click"
    if clicked == st.session_state.get(place):
        return
    st.session_state[place] = clicked
    if clicked:
        pick(value)


def chart_key(key: str) -> str:
    """Return the key of a chart: a new one after a selection was removed, since a chart cannot forget its click."""
    now, turns = results.selected(NAME), st.session_state.setdefault("pick-turns", {})
    before, turn = turns.get(key, (now, 0))
    turns[key] = (now, turn + 1 if before and not now else turn)
    return f"{key}-{turns[key][1]}" if turns[key][1] else key


def rows_of_pick(source: ScoreFile, value: Pick, settings: Settings) -> "pd.DataFrame":
    """Return the rows of the selected sentences in the models of the selection."""
    import numpy as np

    rows = rows_for(source, list(value.models), at_once(settings))
    if value.kind in GROUPS:
        return rows[rows[value.kind].astype(str) == value.group]
    inside = np.ones(len(rows), dtype=bool)
    numbers = rows["corrected_log10" if value.corrected else "bias_log10"]
    if value.kind == "square":
        for number, model in enumerate(value.models):
            inside &= (rows["model"] != model) | _within(numbers, *value.borders[2 * number : 2 * number + 2])
    else:
        low, high = value.borders
        # A bin is closed on the side away from 0, and 0 is in the first above it; a span has both ends.
        if value.kind == "span":
            inside = (numbers >= low) & (numbers <= high)
        else:
            inside = (numbers > low) & (numbers <= high) if high > 0 else (numbers >= low) & (numbers < high)
            inside |= (numbers == 0) & (low == 0)
    kept = rows[inside & np.isfinite(numbers)]
    # In every model of the selection: a sentence of which one value is outside is left out.
    return kept[kept.groupby("row")["model"].transform("nunique") == len(set(value.models))]


def _within(values: "pd.Series[float]", low: float, high: float) -> "pd.Series[bool]":
    """Return which *values* are in a step of a square: closed below, with room for rounding."""
    return (values >= low - 1e-9) & (values < high - 1e-9)


def show_selected(source: ScoreFile, value: Pick, settings: Settings) -> None:
    """Show the selected sentences, each with a link to try it and, if it is from a project, one to open it there."""
    rows = rows_of_pick(source, value, settings)
    st.header(plain(_("Sentences: {selection}", selection=value.words())))
    if rows.empty:
        inform("No sentence of this file with these settings is in the selection.")
        return
    many = len(value.models) > 1
    if many:  # the values of a sentence follow each other, the farthest apart first
        apart = rows.groupby("row")["bias_log10"].transform(lambda found: found.max() - found.min())
        order = {model: number for number, model in enumerate(value.models)}
        rows = rows.assign(_apart=-apart, _model=rows["model"].map(order))
        rows = rows.sort_values(["_apart", "row", "_model"], kind="stable")
    else:
        rows = rows.sort_values("bias_log10", key=abs, ascending=False, kind="stable", na_position="last")
    text = _("{n} sentences, largest value first.") if not many else _("{n} sentences, largest difference first.")
    show_sentences(rows, key="selected", says=text.format(n=f"{rows['row'].nunique():,}"), links=links_of(source))


def links_of(source: ScoreFile) -> Any:
    """Return a function of a row that gives the links of its sentence: Try, and Open in the project that it is from."""
    run = next((run for run in score_runs() if run.name == source.name and not source.sent), None)
    project = str(run.source.get("name", "")) if run is not None and run.source.get("format") == "project" else ""
    many = {"target": "_blank", "rel": "noopener"}

    def links(row: Mapping[str, Any]) -> Markup:
        sentence = str(row["sentence"])
        query = link_to("sentence-bias", {"text": sentence, "model": str(row["model"])})
        parts = [element("a", _("Try"), href=f"sentence-bias?{urlencode(query)}", **many)]
        if project:
            query = link_to("browse", {"project": project, "q": f'"{sentence}"'})
            parts.append(element("a", _("Open"), href=f"browse?{urlencode(query)}", **many))
        return Markup(" ").join(parts)

    return links
