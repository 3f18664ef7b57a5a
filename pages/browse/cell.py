"""The selection of Agreement on the page Browse: the items of a cell of the table of two annotators, as a chip."""

from dataclasses import replace

import streamlit as st

from evenhand.annotations.browse.search import Filters
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.steps import latest
from evenhand.annotations.types import Project
from evenhand.pages.ui.results import selected, show_chip
from evenhand.pages.ui.sentences import names_of
from evenhand.pages.ui.text import _, clauses, named
from evenhand.pages.ui.visitor import remembered


def of_cell(store: Store, project: Project, filters: Filters) -> Filters:
    """Return *filters*, narrowed to the cell in the address if there is one: its chosen labels are those of others, so
    not for an annotator."""
    a, b, cell = (selected(name) for name in ("a", "b", "cell"))
    if filters.reader is not None or not (a and b and cell):
        return filters
    # Here, because it takes a tenth of a second to load.
    from evenhand.annotations.agreement.cell_items import TableCell, items_of_cell

    first, _slash, second = cell.partition("/")
    found = remembered(
        latest(store), items_of_cell, project, TableCell(a, b, first, second), way=selected("way") or "four",
        version=filters.version, on="share" if selected("on") == "share" else "all",
    )  # fmt: skip
    return replace(filters, among=found.items)


def show_cell(store: Store, project: Project) -> None:
    """Show the cell in the address, with a button that removes it."""
    a, b, cell = (selected(name) for name in ("a", "b", "cell"))
    if a and b and cell:
        names, codes = names_of(store, project), cell.partition("/")[::2]
        text = clauses(named(who, names.get(code, _(code))) for who, code in zip((a, b), codes, strict=True))
        with st.container(horizontal=True, key="chips"):
            show_chip(text, "cell", "a", "b", "way", "on")
