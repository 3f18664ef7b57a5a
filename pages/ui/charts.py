"""A chart with the sentence that says what it shows; its numbers and its picture as files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import streamlit as st

from evenhand.core.files.formula_cells import neutralised
from evenhand.pages.ui.language import _
from evenhand.pages.ui.text import plain

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


def show_chart(chart: "Drawing", data: "Table", *, key: str, says: str) -> None:
    """A chart, the sentence that says what it shows, and its numbers and picture to take away.

    *says* is also what a screen reader reads in place of the picture.
    """
    with st.container(key=f"{key}-box"):
        # A chart with a description of its own brings it along; both at once are a warning in the log.
        st.vega_lite_chart(vega_lite(chart), key=key, alt=None if isinstance(chart.description, str) else says)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(plain(says))
            downloads(data, key=key, chart=chart)


def vega_lite(chart: "Drawing") -> dict[str, Any]:
    """*chart* for `st.vega_lite_chart`: what `st.altair_chart` sends, but not checked against the schema of Vega-Lite.

    The check takes most of the time of drawing. It finds mistakes of this code, so tests/core/charts make it.
    """
    return chart.to_dict(validate=False)


def downloads(data: "Table", *, key: str, chart: "Drawing | None" = None) -> None:
    """A small menu: the numbers as CSV and, for a chart, the picture as SVG and PNG; each is made when asked for."""
    with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"{key}-menu"):
        st.download_button(
            "CSV", lambda: csv_bytes(data), f"{key}.csv", "text/csv", key=f"{key}-csv", on_click="ignore"
        )
        if chart is None:
            return
        st.download_button(
            "SVG", lambda: _picture(chart, "svg"), f"{key}.svg", "image/svg+xml", key=f"{key}-svg", on_click="ignore"
        )
        st.download_button(
            "PNG", lambda: _picture(chart, "png"), f"{key}.png", "image/png", key=f"{key}-png", on_click="ignore"
        )


def csv_bytes(data: "Table") -> bytes:
    """*data* as CSV in UTF-8 with a BOM; undefined is an empty cell; no cell and no heading runs as a formula."""
    import pandas as pd

    frame = pd.DataFrame(data)
    guarded = frame.map(_guarded).rename(columns=_guarded)
    text: str = guarded.to_csv(index=False, lineterminator="\r\n")  # RFC 4180; also quotes a lone \r
    return text.encode("utf-8-sig")


def _guarded(cell: Any) -> Any:
    return neutralised(cell) if isinstance(cell, str) else cell


def _picture(chart: "Drawing", kind: Literal["svg", "png"]) -> bytes:
    from evenhand.core.charts.export import picture

    return picture(chart, kind)
