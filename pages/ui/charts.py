"""A chart with the sentence that says what it shows; its numbers and its picture as files."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import streamlit as st

from evenhand.core.charts.palette import Palette, palette
from evenhand.core.files.csv_out import neutralised
from evenhand.pages.ui.text import _, from_to, plain, series

if TYPE_CHECKING:  # both cost a third of a second to import; the first page draws no chart
    import altair as alt
    import pandas as pd

    Table: TypeAlias = pd.DataFrame | Sequence[Mapping[str, Any]]
    Drawing: TypeAlias = (
        alt.Chart
        | alt.LayerChart
        | alt.HConcatChart
        | alt.VConcatChart
        | alt.ConcatChart
        | alt.FacetChart
        | alt.RepeatChart
    )

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".xml": "application/xml",
    ".zip": "application/zip",
}


def colours() -> Palette:
    """Return the palette of this visitor's theme."""
    return palette(st.context.theme.type)


def show_chart(
    chart: "Drawing", data: "Table", *, key: str, says: str, click: str = "", brush: str = "", file: str = "",
    below: str | None = None, on_click: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """Show a chart, the sentence that says what it shows, and its numbers and picture to take away.

    *says* is also what a screen reader reads in place of the picture. *click*: a selection of the chart; what was
    clicked is returned, None for nothing. *brush*: another, whose span `brushed` returns. *file*: the name of the
    files, else *key*. *below*: what is written below the chart instead of *says*. *on_click*: called with what was
    clicked, for a page that keeps the selection itself.
    """
    turn = st.session_state.get(f"{key}-turn", 0)

    def clicked_now() -> None:
        # A new chart after each click: the one that was clicked would take a second click on its cell as its end.
        st.session_state[f"{key}-turn"] = turn + 1
        found = st.session_state[f"{key}-{turn}"]["selection"].get(click)
        if found and on_click is not None:
            on_click(dict(found[0]))

    with st.container(key=f"{key}-box"):
        # A chart with a description of its own brings it along; both at once are a warning in the log.
        words = None if isinstance(chart.description, str) else says
        modes = [name for name in (click, brush) if name]
        react = clicked_now if on_click else "rerun"
        select: dict[str, Any] = {"on_select": react, "selection_mode": modes} if modes else {}
        spec = vega_lite(chart)
        if click:
            spec["config"] = {**spec["config"], "mark": {**spec["config"]["mark"], "cursor": "pointer"}}
        event: Any = st.vega_lite_chart(spec, key=f"{key}-{turn}" if on_click else key, alt=words, **select)
        caption_with_files(says if below is None else below, data, key=file or key, chart=chart)
    clicked = event["selection"].get(click) if click else None
    return dict(clicked[0]) if clicked else None


def brushed(key: str, brush: str) -> tuple[float, float] | None:
    """Return the span of values that was marked in the chart *key*; None for none."""
    event = st.session_state.get(key) or {}
    spans = list(event.get("selection", {}).get(brush, {}).values())
    return (float(min(spans[0])), float(max(spans[0]))) if spans and len(spans[0]) == 2 else None


def show_heatmap(
    rows: "Table", x: str, y: str, value: str, *, key: str, says: str, data: "Table", below: str | None = None,
    click: Sequence[str] = (), on_click: Callable[[dict[str, Any]], None] | None = None, **look: Any,
) -> None:  # fmt: skip
    """Show *rows* as a heatmap: column *x* across, *y* down, the number *value* in each cell. One cell is a sentence.

    *data*: the numbers to take away. *below*: as for `show_chart`. *on_click*: called with the columns *click* of a
    cell that was clicked. *look*: what `core.charts.heatmap.heatmap` takes.
    """
    import pandas as pd

    from evenhand.core.charts.heatmap import clickable, heatmap

    if len(rows) == 1:
        caption_with_files(says, data, key=key)
        return
    chart = heatmap(pd.DataFrame(rows), x, y, value, description=says, palette=colours(), **look)
    if click:
        chart = clickable(chart, click)
    show_chart(chart, data, key=key, says=says, below=below, click="cell" if click else "", on_click=on_click)


def show_confusion(
    table: Sequence[Sequence[int]], names: Sequence[str], down: str, across: str, *,
    key: str, says: str, titles: Mapping[str, str], signature: str, width: int = 240, chosen: str | None = None,
    on_click: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Show how often the choices *names* met: first judgement *down*, second *across*, as a heatmap of counts.

    *on_click*: called with the places of both choices, as "0/1", for a clicked cell; *chosen*: those of the outlined
    one.
    """
    places = [(i, j) for i in range(len(table)) for j in range(len(table[i]))]
    rows = [{down: names[i], across: names[j], "items": table[i][j]} for i, j in places]
    cells = [{"place": f"{i}/{j}", "chosen": f"{i}/{j}" == chosen} for i, j in places]
    look: dict[str, Any] = {} if on_click is None else {"click": ("place",), "outlined": "chosen"}
    show_heatmap(
        [row | cell for row, cell in zip(rows, cells, strict=True)], across, down, "items", key=key, says=says,
        data=[{**row, "signature": signature} for row in rows],
        domain=(0, max(1, sum(map(sum, table)))), titles={**titles, "items": _("items")}, digits=0, width=width,
        on_click=None if on_click is None else lambda cell: on_click(str(cell["place"])), **look,
    )  # fmt: skip


def caption_with_files(
    says: str, data: "Table", *, key: str, chart: "Drawing | None" = None, about: str | None = None
) -> None:  # fmt: skip
    """Write the sentence below a chart or table, and offer its numbers and picture to take away; *about*: its help."""
    with foot():
        st.caption(plain(says), help=about)
        downloads(data, key=key, chart=chart)


def range_says(what: str, rows: "Table", write: Callable[[float], str], *places: str, value: str = "value") -> str:
    """Say the lowest and the highest *value* of *rows* as *write* puts it, each with its place (*places*)."""
    import pandas as pd

    known = pd.DataFrame(rows).dropna(subset=value)
    low, high = known.loc[known[value].idxmin()], known.loc[known[value].idxmax()]
    ends = ((write(row[value]), series(row[place] for place in places)) for row in (low, high))
    return from_to(what, *ends)


def foot() -> Any:
    """Return the row below a chart, table or list: a sentence on the left, what can be done on the right."""
    return st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute")


def vega_lite(chart: "Drawing") -> dict[str, Any]:
    """Return *chart* for `st.vega_lite_chart`, without a check against the schema of Vega-Lite.

    `st.altair_chart` makes this check, which takes most of the time of drawing. The check finds mistakes of this code,
    so tests/core/charts make it.
    """
    return chart.to_dict(validate=False)


def downloads(data: "Table", *, key: str, chart: "Drawing | None" = None) -> None:
    """Offer a small menu: the numbers as CSV and, for a chart, the picture as SVG and PNG; each is made when asked
    for."""
    with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"{key}-menu"):
        download("CSV", lambda: csv_bytes(data), f"{key}.csv", key=f"{key}-csv", icon=None, type="secondary")
        if chart is not None:
            download("SVG", lambda: _picture(chart, "svg"), f"{key}.svg", key=f"{key}-svg", icon=None, type="secondary")
            download("PNG", lambda: _picture(chart, "png"), f"{key}.png", key=f"{key}-png", icon=None, type="secondary")


def download(
    label: str,
    data: Any,
    name: str,
    *,
    key: str | None = None,
    icon: str | None = ":material/download:",
    type: Literal["primary", "secondary", "tertiary"] = "tertiary",
    **look: Any,
) -> None:
    """Show a button that hands out *data* as the file *name*; of a function, what it returns when the button is
    pressed.

    *look*: further arguments of the button.
    """
    kind = MEDIA_TYPES.get(PurePath(name).suffix)
    st.download_button(label, data, name, kind, key=key, icon=icon, type=type, on_click="ignore", **look)


def json_text(value: Any) -> str:
    """Return *value* as a JSON file holds it. Raises ValueError for NaN, which no JSON has."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


def csv_bytes(data: "Table") -> bytes:
    """Return *data* as CSV in UTF-8 with a BOM.

    Undefined values are empty cells. No cell or heading runs as a formula in a spreadsheet.
    """
    import pandas as pd

    frame = pd.DataFrame(data)
    guarded = frame.map(_guarded).rename(columns=_guarded)
    text: str = guarded.to_csv(index=False, lineterminator="\r\n")  # RFC 4180; also quotes a lone \r
    return text.encode("utf-8-sig")


def _guarded(cell: Any) -> Any:
    return neutralised(cell) if isinstance(cell, str) else cell


def _picture(chart: "Drawing", kind: Literal["svg", "png"]) -> bytes:
    from evenhand.core.charts.style import picture

    return picture(chart, kind)
