"""How many labels each sampling design needs for an interval as narrow as wanted: asked, simulated, shown."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import judges, state_of_judges
from evenhand.annotations.projects.pipeline_counts import state
from evenhand.annotations.sampling.frame import STRATA, frame, free_items
from evenhand.annotations.sampling.labels_needed import ACCURACY, Forecast, forecast
from evenhand.annotations.types import Project
from evenhand.core.charts.sampling import table as rows_of
from evenhand.core.charts.sampling import widths
from evenhand.core.errors import EvenhandError
from evenhand.core.sampling.designs import SHARE
from evenhand.core.sampling.labels_needed import Needed
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, note_text, number, percent
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.tables import below, number_columns, show_html, table
from evenhand.pages.ui.text import paragraph, plain, show_signature

SHOWN = (50, 100, 200, 400)  # sizes in the table


def show_labels_needed(store: Store, project: Project, names: dict[str, str], columns: dict[str, str]) -> None:
    """What is asked, and for whoever asks the table and the chart. *names*: of designs; *columns*: of strata."""
    st.subheader(_("How many labels are needed"), anchor=False)
    if not free_items(store, project):
        st.caption(_("No item is left to draw from."))
        return
    asked = _ask(project, columns, has_judges=any(one.labels for one in judges(store, project)))
    if st.button(_("Simulate"), key="needed-start", icon=":material/query_stats:"):
        st.session_state["needed-asked"] = asked
    if st.session_state.get("needed-asked") != asked:
        st.caption(_("Draws samples of this project by each design and measures how wide their intervals are."))
        return
    try:
        with st.spinner(_("Simulating samples …"), show_time=False):
            made = _forecast(project.uid, (*state(store), *state_of_judges(store)), repr(asked), project, asked)
    except EvenhandError as error:
        show_error(error)
        return
    _show(project, made, names)


def _ask(project: Project, columns: dict[str, str], *, has_judges: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {}
    ways = {"judges": _("From the judges' labels"), "assumed": _("From assumed rates")}
    way = choose(_("Expected labels"), ways, "needed-way") if has_judges else "assumed"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        asked["width"] = (
            2
            * st.number_input(
                _("Interval: plus or minus (points)"), 0.5, 25.0, 5.0, 0.5, format="%g", key="needed-width", width=230
            )
            / 100
        )
        if way == "assumed":
            asked["rate"] = (
                st.number_input(_("Assumed rate (%)"), 0.5, 99.5, 20.0, 5.0, format="%g", key="needed-rate", width=180)
                / 100
            )
            asked["accuracy"] = (
                st.number_input(
                    _("A judge is right in (%)"),
                    50.0,
                    100.0,
                    100 * ACCURACY,
                    5.0,
                    format="%g",
                    key="needed-accuracy",
                    width=200,
                )
                / 100
            )
    st.session_state.setdefault("needed-by", list(STRATA[project.kind][:1]))
    asked["by"] = tuple(
        st.multiselect(_("Strata by"), STRATA[project.kind], format_func=columns.__getitem__, key="needed-by",
                       placeholder=_("Columns"))
    )  # fmt: skip
    asked["share"] = SHARE
    return asked


@st.cache_data(max_entries=32, show_spinner=False)
def _forecast(uid: str, now: tuple[str, ...], key: str, _project: Project, _asked: dict[str, Any]) -> Forecast:
    with open_store(_project) as store:
        width = float(_asked["width"])
        return forecast(frame(store, _project), width, **{k: v for k, v in _asked.items() if k != "width"})


def _show(project: Project, made: Forecast, names: dict[str, str]) -> None:
    sizes = [size for size in SHOWN if any(size in dict(one.widths) for one in made.needed)]
    heads = (_("Design"), _("Items needed"), _("Labels"), *(_("Width with {n}").format(n=f"{n:,}") for n in sizes))
    rows = [_row(one, project, names, sizes) for one in made.needed]
    with st.container(key="labels-needed"):
        show_html(table(number_columns(heads, range(1, len(heads))), rows, kind="stacked"))
    rests = (
        _("Rate by people and {judge} together.").format(judge=made.judge)
        if made.judge
        else _("Rate by people and such a judge together.")
    )
    about = _("Simulated on {simulated} of {of} items that can be drawn; median width of 95% intervals.")
    st.caption(plain(paragraph((rests, about.format(simulated=f"{made.simulated:,}", of=f"{made.of:,}")))))
    drawn = [one for one in made.needed if one.widths]
    if drawn:
        says = _(
            "Width of the interval by number of labelled items, for each design; the thin line is the wanted width."
        )
        chart = widths(drawn, names, made.width, description=says, say=_, palette=colours())
        show_chart(chart, rows_of(drawn, names), key="labels-needed-chart", says=says)
    show_signature(made.signature)


def _row(one: Needed, project: Project, names: dict[str, str], sizes: list[int]) -> list[str | Markup]:
    by_size = dict(one.widths)
    cells = [percent(by_size.get(size)) for size in sizes]
    if one.items is None:
        return [names[one.design], Markup("{}{}").format(DASH, below(note_text(one.reason))), DASH, *cells]
    about = below(_("extrapolated")) if one.beyond else ""
    return [
        names[one.design], Markup("{}{}").format(number(one.items, ",.0f"), about),
        number(one.items * project.per_item, ",.0f"), *cells,
    ]  # fmt: skip
