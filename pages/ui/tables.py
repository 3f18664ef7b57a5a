"""The style sheet, and tables, tiles and small pieces of HTML that are safe by construction."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import streamlit as st
from markupsafe import Markup, escape

from evenhand.core.charts.palette import css_variables
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.numbers import DASH, interval, note_text, number
from evenhand.pages.ui.text import _, plain

Row = TypeVar("Row")
NUMBER = re.compile(r"[<>≥+−±-]?\s?\d")  # how a cell with a number begins
ONE_LINE = 17  # characters: "+0.300 → +0.300" stays in one line


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, and the class of its cells: "number" (right-aligned), "text", "short" (one line)."""

    name: str | Markup
    kind: str = ""


def show_html(body: Markup) -> None:
    """Put HTML on the page; that it is `Markup` says that every text in it is escaped."""
    st.html(body)


def number_columns(names: Sequence[str], numbers: Iterable[int]) -> list[Column]:
    """Return columns; the columns at the places *numbers* (from 0) hold numbers."""
    places = set(numbers)
    return [Column(name, "number" if place in places else "") for place, name in enumerate(names)]


def element(name: str, content: str | Markup, kind: str = "", **attributes: str) -> Markup:
    """Return one element: *content* is escaped unless it is `Markup`; *kind* is its class; empty attributes are left
    out."""
    given = {"class": kind, **{key.replace("_", "-"): value for key, value in attributes.items()}}
    written = Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in given.items() if value)
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, content)


def span(text: str | Markup, kind: str = "", title: str = "") -> Markup:
    """Return text with a class of the style sheet: soft, small, good, bad, male, female, strong."""
    return element("span", text, kind, title=title)


def below(*lines: str | Markup) -> Markup:
    """Return smaller lines to put below the content of a cell, without empty lines."""
    return Markup("").join(element("div", line, "small") for line in lines if line)


def joined(parts: Iterable[str | Markup], between: str | Markup = "") -> Markup:
    """Return the parts one after the other, with *between* between them and text escaped."""
    return escape(between).join(escape(part) for part in parts)


def undefined_cell(reason: str) -> Markup:
    """Return the dash of an undefined value, and why it is one."""
    return Markup("{}{}").format(DASH, below(reason))


def estimate_cell(estimate: Estimate, form: str = ".2f", *, stacked: bool = False) -> Markup:
    """Return a value with its 95% interval next to it, or below it (*stacked*); undefined: a dash and the reason."""
    if estimate.value is None:
        return undefined_cell(note_text(estimate.reason))
    value, ends = number(estimate.value, form), interval(estimate, form)
    if not ends:
        return Markup("{}{}").format(value, below(note_text(estimate.note)))
    if stacked:
        return Markup("{}{}").format(value, element("div", ends, "small interval", title=note_text(estimate.note)))
    return Markup("{} {}").format(value, span(f"({ends})", "small interval"))


def table(
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[str | Markup]],
    *,
    kind: str = "",
    caption: str = "",
) -> Markup:
    """Return a table that scrolls sideways where it has to; without columns it has no head.

    Every row has a cell for each column, "" for none. *kind* adds classes of the style sheet: "text" (sentences in
    several columns: on a narrow screen it scrolls), "stacked" (on a narrow screen each row becomes a card), "narrow",
    "pinned" (the first column stays). *caption* says what is counted, where the heading above does not.
    """
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    head = Markup("").join(
        element("th", column.name, column.kind, scope="col") if column.name else element("td", "", column.kind)
        for column in heads
    )
    body = Markup("").join(element("tr", _cells(heads, row)) for row in rows)
    inside = Markup("{}{}{}").format(
        element("caption", caption) if caption else "",
        element("thead", element("tr", head)) if heads else "",
        element("tbody", body),
    )
    return element("div", element("table", inside, f"table {kind}".strip()), "wide", tabindex="0")


def _cells(heads: Sequence[Column], row: Sequence[str | Markup]) -> Markup:
    if not heads:
        return Markup("").join(element("td", cell) for cell in row)
    return Markup("").join(
        element("td", cell, head.kind, data_label=escape(head.name).striptags())
        for head, cell in zip(heads, row, strict=True)
    )


def show_records(rows: Sequence[Mapping[str, object]]) -> None:
    """Show a table whose cells wrap; on a narrow screen every row becomes a card. Text is shown exactly as it is.

    Columns in which every cell is a number, perhaps with its interval, are aligned on the right. Whole numbers have
    separators of thousands; None is a dash.
    """
    if not rows:
        return
    body = [[_written(cell) for cell in row.values()] for row in rows]
    columns = [
        Column(name, "number" if all(NUMBER.match(row[place]) or row[place] == DASH for row in body) else "")
        for place, name in enumerate(rows[0])
    ]
    cells = [[span(text, "nowrap") if len(text) <= ONE_LINE else text for text in row] for row in body]
    show_html(table(columns, cells, kind="stacked"))


def _written(cell: object) -> str:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    return DASH if cell is None else str(cell)


def page_of(rows: Sequence[Row], key: str, size: int) -> Sequence[Row]:
    """Return the rows on the chosen page of a list: the first page where the list has become shorter than that."""
    if st.session_state.get(key, 1) > -(-len(rows) // size):
        st.session_state[key] = 1
    start = size * int(st.session_state.get(key, 1) - 1)
    return rows[start : start + size]


def show_pages(total: int, key: str, size: int) -> None:
    """Show the numbers of the pages of a list, where it has several."""
    if total > size:
        st.pagination(-(-total // size), width=300, key=key)


@dataclass(frozen=True, slots=True)
class Tile:
    """One number: *name* above it, *lines* below it, *explained* as the help next to the name. All of it is text."""

    name: str
    value: str
    lines: tuple[str, ...] = ()
    explained: str = ""


def estimate_tile(name: str, estimate: Estimate, meaning: str, form: str = "z.2f") -> Tile:
    """Return a measure: its value, its interval or why it has none, and what it means; undefined is a dash with the
    reason."""
    value = number(estimate.value, form)
    if estimate.value is None:
        reason = note_text(estimate.reason)
        return Tile(name, value, (reason,), reason)
    if estimate.low is None:
        return Tile(name, value, (note_text(estimate.note), meaning))
    ends = _("95% interval: {interval} ({method})", interval=interval(estimate, form), method=_(estimate.method))
    return Tile(name, value, (ends, note_text(estimate.note), meaning))


def show_tiles(tiles: Sequence[Tile], in_a_row: int = 3) -> None:
    """Show tiles of equal width, *in_a_row* per row."""
    for start in range(0, len(tiles), in_a_row):
        row = tiles[start : start + in_a_row]
        for column, tile in zip(st.columns(in_a_row), row, strict=False):
            with column, st.container(border=True, height="stretch"):
                st.metric(plain(tile.name), tile.value, help=plain(tile.explained) or None)
                for line in tile.lines:
                    if line:
                        st.caption(plain(line))


def tile_grid(tiles: Iterable[Tile]) -> Markup:
    """Return small tiles as HTML, as many in a row as there is room for."""
    return element("div", Markup("").join(_small(tile) for tile in tiles), "tiles")


def _small(tile: Tile) -> Markup:
    lines = Markup("").join(element("div", line, "small") for line in tile.lines)
    inside = Markup("{}{}{}").format(element("div", tile.name, "name"), element("div", tile.value, "value"), lines)
    return element("div", inside, title=tile.explained)


ROOT = Path(__file__).resolve().parents[2]
SHEETS = (ROOT / "pages" / "ui" / "style.css", ROOT / "core" / "report" / "report.css")


def show_style() -> None:
    """Put the style sheet on the page: once a run, before the page."""
    st.html(f"<style>{sheet()}</style>")


@cache
def sheet() -> str:
    """Return the colours as variables, then the looks of the pages and those that they share with the HTML report."""
    looks = "".join(file.read_text(encoding="utf-8") for file in SHEETS)
    return f":root{{{css_variables(dark=True)}}}\n{looks}"
