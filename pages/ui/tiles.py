"""Tiles: a number with its name, its interval and what it means; several of them beside each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from evenhand.core.statistics import Estimate
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import interval, note_text, number
from evenhand.pages.ui.tables import element
from evenhand.pages.ui.text import plain


@dataclass(frozen=True, slots=True)
class Tile:
    """One number: *name* above it, *lines* below it, *explained* as the help beside the name. All of it is text."""

    name: str
    value: str
    lines: tuple[str, ...] = ()
    explained: str = ""


def estimate_tile(name: str, estimate: Estimate, meaning: str, form: str = "z.2f") -> Tile:
    """A measure: its value, its interval or why it has none, and what it means; undefined is a dash with the reason."""
    value = number(estimate.value, form)
    if estimate.value is None:
        reason = note_text(estimate.reason)
        return Tile(name, value, (reason,), reason)
    if estimate.low is None:
        return Tile(name, value, (note_text(estimate.note), meaning))
    text = _("95% interval: {interval} ({method})")
    ends = text.format(interval=interval(estimate, form), method=_(estimate.method))
    return Tile(name, value, (ends, note_text(estimate.note), meaning))


def show_tile(tile: Tile) -> None:
    """One tile, as wide as the room it stands in."""
    with st.container(border=True, height="stretch"):
        st.metric(plain(tile.name), tile.value, help=plain(tile.explained) or None)
        for line in tile.lines:
            if line:
                st.caption(plain(line))


def show_tiles(tiles: Sequence[Tile], in_a_row: int = 3) -> None:
    """Tiles of equal width, some in a row."""
    for start in range(0, len(tiles), in_a_row):
        row = tiles[start : start + in_a_row]
        for column, tile in zip(st.columns(in_a_row), row, strict=False):
            with column:
                show_tile(tile)


def tile_grid(tiles: Iterable[Tile]) -> Markup:
    """Small tiles as HTML, as many in a row as there is room for."""
    return element("div", Markup("").join(_small(tile) for tile in tiles), "tiles")


def _small(tile: Tile) -> Markup:
    lines = Markup("").join(element("div", line, "small") for line in tile.lines)
    inside = Markup("{}{}{}").format(element("div", tile.name, "name"), element("div", tile.value, "value"), lines)
    return element("div", inside, title=tile.explained)
