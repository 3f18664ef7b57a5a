"""What pages of results share: the conclusion, views as tabs, a selection in the address, the folded method."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.address import asked_for, keep
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.numbers import interval, note_text, number
from evenhand.pages.ui.tables import element, show_html
from evenhand.pages.ui.text import _, in_brackets, plain
from evenhand.pages.ui.visitor import page_link


def show_conclusion(text: str) -> None:
    """Show the result of a page as one sentence, before its chart."""
    show_html(element("p", text, "says"))


def forest_row(id_: str, estimate: Estimate, name: str = "", *, n: int | None = None) -> TableRow:
    """Return the row of `show_forest` of the quantity *id_*; *name*: a shorter one than that of the catalogue; *n*: the
    number of items, where the units of the interval are others."""
    quantity = ENTRIES[id_]
    form, counted = FORMS[quantity.unit], f"{estimate.units if n is None else n:,}"
    more = [interval(estimate, form), _("n = {n}", n=counted)]
    if estimate.value is None:
        more = [note_text(estimate.reason)]
    return {
        "id": id_, "name": name or _(quantity.name), "value": estimate.value, "low": estimate.low,
        "high": estimate.high, "n": counted, "note": note_text(estimate.note or estimate.reason),
        "written": in_brackets(number(estimate.value, form), " · ".join(filter(None, more))),
    }  # fmt: skip


def show_forest(rows: Sequence[TableRow], *, key: str, says: str, signature: str) -> None:
    """Show measures as a forest plot: name, value, interval and number of items of each."""
    import pandas as pd

    from evenhand.core.charts.forest import forest

    chart = forest(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, [{**row, "signature": signature} for row in rows], key=key, says=says)


@contextmanager
def open_view(names: Mapping[str, str], key: str = "view", *, address: str = "view", first: str = "") -> Iterator[str]:
    """Show the views of a page as tabs, and yield the open one; what is drawn inside is its content.

    *names*: view -> its title. *address*: where the address keeps the view. *first*: the view at the start. Only the
    open view is computed.
    """
    titles = {title: name for name, title in names.items()}
    asked = asked_for(address, key)
    if asked in names or st.session_state.get(key) not in titles:  # titles change with the language
        at_start = first or next(iter(names))
        known = asked or st.query_params.get(address) or at_start
        st.session_state[key] = names.get(known, names[at_start])
    tabs = st.tabs(list(titles), key=key, on_change="rerun")
    title = st.session_state[key]
    keep(address, key, titles[title])
    with tabs[list(titles).index(title)]:
        yield titles[title]


def selected(name: str, allowed: Iterable[str] | None = None) -> str | None:
    """Return what the address selects under *name*; None if nothing, or nothing of *allowed*."""
    value = st.query_params.get(name) or None
    return value if value is not None and (allowed is None or value in allowed) else None


def select(name: str, value: str | None) -> None:
    """Put a selection into the address; None removes it."""
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]


def show_chip(text: str, name: str, *more: str) -> None:
    """Show what is selected under *name* as a button that removes the selection, and those under *more* with it."""

    def remove() -> None:
        for each in (name, *more):
            select(each, None)

    st.button(
        plain(text), key=f"chip-{name}", icon=":material/close:", help=_("Remove this selection"), on_click=remove
    )


def choose_selection(label: str, names: Mapping[str, str], name: str, *, on_change: Callable[[], None] | None = None,
                     **look: Any) -> str | None:  # fmt: skip
    """Return what is selected under *name* in the address: by a click in a chart, or in this list, by keyboard.

    *names*: selection -> its words. *on_change*: called after a choice in the list. *look*: further arguments of the
    list.
    """
    key = f"select-{name}"
    st.session_state[key] = selected(name, names)

    def choose() -> None:
        select(name, st.session_state[key])
        if on_change is not None:
            on_change()

    st.selectbox(label, list(names), format_func=names.__getitem__, key=key, on_change=choose, **look)
    return selected(name, names)


def show_item_links(project: Project, item: str, text: str) -> None:
    """Show links from a listed item (its public id) to its record in Browse and, with the *text* of a sentence, to
    Try."""
    with st.container(horizontal=True, key=f"links-{item}"):
        page_link("browse/page.py", label=_("Open"), icon=":material/chevron_right:", query_params={"item": item})
        show_try_link(project, text)


def show_try_link(project: Project, text: str) -> None:
    """Show a link from a sentence of *project* to Try; nothing for a generation, or where texts must not leave."""
    if project.kind == "sentences" and text_may_leave(project):
        page_link("sentence_bias/page.py", label=_("Try"), icon=":material/balance:", query_params={"text": text})


def show_method(*paragraphs: str, signature: str = "") -> None:
    """Show how the numbers of a page were computed, folded at its end: *paragraphs*, and the *signature* to copy."""
    with st.expander(_("Method and signature") if signature else _("Method"), icon=":material/functions:"):
        for text in filter(None, paragraphs):
            st.caption(plain(text))
        if signature:
            st.caption(_("How these numbers were computed; cite it with them. The About page explains each part."))
            st.code(signature, language=None, wrap_lines=True)
