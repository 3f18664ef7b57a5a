"""What is selected on the page Agreement (two annotators, a cell of their table, a keyword pair), and its items.

The address holds the selection, so that it stays from view to view and a link opens it.
"""

from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.cell_items import CellItems, TableCell, items_of_cell
from evenhand.annotations.agreement.disagreements import (
    Disagreement,
    differing_items,
    disagreements_of,
    record_reveals,
)
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.merged_labels import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.labels.read import BlindLabel
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.steps import latest
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.charts import csv_bytes, download, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.notices import say_blind
from evenhand.pages.ui.results import choose_selection, select, selected, show_chip, show_item_links
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, judgement_lines, names_of, with_keyword
from evenhand.pages.ui.tables import page_of, show_html, show_pages
from evenhand.pages.ui.text import _, clauses, in_brackets, inform, named, plain
from evenhand.pages.ui.visitor import asks, may, open_store, page_link, remembered

PAGE = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """Two annotators as the report names them, the categories of a cell of their table, and a keyword pair.

    `way`: in which the labels are compared. None: not selected.
    """

    two: tuple[str, str] | None
    cell: tuple[str, str] | None
    pair: str | None
    way: Way = "four"

    @property
    def address(self) -> dict[str, str]:
        """The selection as the address of Agreement and of Browse holds it."""
        values = dict(zip("ab", self.two, strict=True)) if self.two else {}
        values |= {"cell": "/".join(self.cell)} if self.cell else {}
        return values | ({"pair": self.pair} if self.pair else {})


def selection_of(report: AgreementReport, way: Way) -> Selection:
    """Return what the address selects of this report; names and codes that it does not have are left out."""
    a, b = (selected(name, report.annotators) for name in "ab")
    two = (a, b) if a and b and a != b else None
    codes = [choice.code for choice in report.choices]
    cells = {f"{first}/{second}": (first, second) for first in codes for second in codes}
    cell = cells.get(selected("cell") or "") if two else None
    return Selection(two, cell, selected("pair", [name for name, _measures in report.by_pair if name]), way)


def select_two(a: str, b: str) -> None:
    """Select two annotators, and no cell of their table."""
    for name, value in (("a", a), ("b", b), ("cell", None)):
        select(name, value)


def show_chips(report: AgreementReport, chosen: Selection) -> None:
    """Show what is selected, each with a button that removes it."""
    if not chosen.address:
        return
    with st.container(horizontal=True, key="chips"):
        if chosen.two:
            show_chip(_("{a} and {b}", a=chosen.two[0], b=chosen.two[1]), "a", "b", "cell")
        if chosen.two and chosen.cell:
            show_chip(cell_name(report, chosen.two, chosen.cell), "cell")
        if chosen.pair:
            show_chip(chosen.pair, "pair")


def cell_name(report: AgreementReport, two: tuple[str, str], cell: tuple[str, str]) -> str:
    """Return a cell of the table of two annotators in words: A: accept; B: reject."""
    names = {choice.code: choice_name(choice) for choice in report.choices}
    return clauses(named(who, names[code]) for who, code in zip(two, cell, strict=True))


def choose_cell(report: AgreementReport, two: tuple[str, str]) -> None:
    """Let the visitor choose a cell of the table of two annotators from a list: the way by keyboard."""
    found = report.two(*two)
    codes = [choice.code for choice in report.choices]
    table = found.table if found else ()
    names = {
        f"{codes[i]}/{codes[j]}": in_brackets(cell_name(report, two, (codes[i], codes[j])), f"{count:,}")
        for i, row in enumerate(table) for j, count in enumerate(row) if count
    }  # fmt: skip

    def with_annotators() -> None:
        for name, who in zip("ab", two, strict=True):
            select(name, who)

    choose_selection(
        _("Show the items of …"), names, "cell", on_change=with_annotators, placeholder=_("Choose a cell"),
    )  # fmt: skip


def choose_pair(report: AgreementReport) -> None:
    """Let the visitor choose a keyword pair from a list."""
    pairs = [name for name, _measures in report.by_pair if name]
    choose_selection(_("Show the items of …"), dict(zip(pairs, pairs, strict=True)), "pair", placeholder=_("All pairs"))


@asks("see_all_labels")
def show_items(store: Store, project: Project, report: AgreementReport, chosen: Selection) -> None:
    """Show the items of the selection with their labels, `PAGE` at a time: of a cell all that it counts, else those
    with different labels."""
    reader = annotator_at_desk(store, project)
    if reader is not None:
        say_blind(reader)
    found = remembered(latest(store), listed_items, project, report=(report.version, report.on), chosen=chosen,
                       names=_real_names(store, project), reader=reader)  # fmt: skip
    if not found.items:
        _nothing(chosen, found)
        return
    st.caption(plain(_count(chosen, found)), width="stretch")
    listed = disagreements_of(store, page_of(found.items, "disagreement-page", PAGE))
    if reader is not None:
        record_reveals(store, reader, listed)
    shown_names = {name: shown for shown, name in _real_names(store, project)}
    names = names_of(store, project)
    for disagreement in listed:
        show_html(_card(disagreement, chosen, names, shown_names))
        show_item_links(project, disagreement.item, disagreement.text)
    with foot():
        show_pages(len(found.items), "disagreement-page", PAGE)
        if chosen.cell:
            where = _in_browse(chosen, report)
            page_link("browse/page.py", label=_("All in Browse"), icon=":material/search:", query_params=where)
        file, name = (lambda: _table(project, report, chosen, reader)), "disagreements.csv"
        download(_("Download all (CSV)"), file, name, key="disagreements-csv", type="secondary")


def _in_browse(chosen: Selection, report: AgreementReport) -> dict[str, str]:
    version = {} if report.version is None else {"version": str(report.version)}
    return chosen.address | {"way": chosen.way, "on": report.on} | version


def _real_names(store: Store, project: Project) -> tuple[tuple[str, str], ...]:
    """Return the annotators as this visitor sees them, with their names."""
    if may(store, "see_names", project):
        return ()
    return tuple((code, name) for name, code in pseudonyms(store, project).items())


def listed_items(
    store: Store, project: Project, *, report: tuple[int | None, ItemScope], chosen: Selection,
    names: tuple[tuple[str, str], ...], reader: Annotator | None,
) -> CellItems:  # fmt: skip
    """Return the items of a selection; *report*: version and scope of the report, *names*: shown name, real name."""
    real = dict(names)
    two = tuple(real.get(name, name) for name in chosen.two or ())
    if chosen.two and chosen.cell:
        version, on = report
        cell = TableCell(two[0], two[1], *chosen.cell)
        return items_of_cell(
            store, project, cell, way=chosen.way, version=version, on=on, pair=chosen.pair, reader=reader
        )
    found = tuple(differing_items(store, project, between=two, pair=chosen.pair, reader=reader))
    return CellItems(found, len(found))


def _nothing(chosen: Selection, found: CellItems) -> None:
    if found.total:
        inform(
            "The items of this selection still await labels, so they are not listed.", icon=":material/visibility_off:"
        )
    elif chosen.cell:
        inform("No item has these two labels.", icon=":material/check:")
    else:
        inform("No disagreement among the fully labelled items.", icon=":material/check:")


def _count(chosen: Selection, found: CellItems) -> str:
    if not chosen.cell:
        return _("{total} items with different labels", total=len(found.items))
    said = [_("{n:,} of {total:,} items of this cell", n=len(found.items), total=found.total)]
    if len(found.items) < found.total and not chosen.pair:
        said.append(_("the others still await labels"))
    return clauses(said)


def _card(disagreement: Disagreement, chosen: Selection, names: dict[str, str], shown: dict[str, str]) -> Markup:
    def place(label: BlindLabel) -> tuple[int, str]:
        who = shown.get(label.annotator, label.annotator)
        two = chosen.two or ()
        return (two.index(who) if who in two else len(two)), who

    people = []
    for label in sorted(disagreement.judgements, key=place):
        lines = judgement_lines(label.reasons, label.marks, disagreement.text, names, extraneous=label.extraneous)
        people.append(judgement(place(label)[1], label.choice, names, lines, label.note))
    text = with_keyword(disagreement.text, disagreement.word, disagreement.side)
    return item_card(disagreement.item, text, people, context=disagreement.context or "")


def _table(project: Project, report: AgreementReport, chosen: Selection, reader: Annotator | None) -> bytes:
    with open_store(project, "see_all_labels") as store:
        real = _real_names(store, project)
        listed = listed_items(
            store, project, report=(report.version, report.on), chosen=chosen, names=real, reader=reader
        )
        found = disagreements_of(store, listed.items)
        if reader is not None:
            record_reveals(store, reader, found)
    shown = {name: code for code, name in real}
    canary = {CANARY_KEY: CANARY} if needs_canary(project) and text_may_leave(project) else {}
    rows = [
        _label_row(project, disagreement, label, shown) | canary
        for disagreement in found
        for label in disagreement.judgements
    ]
    return csv_bytes([without_text(project, row, "context", "text", "note") for row in rows])


def _label_row(
    project: Project, disagreement: Disagreement, label: BlindLabel, shown: dict[str, str]
) -> dict[str, object]:
    sentences = project.kind == "sentences"
    marked = {"extraneous": label.extraneous, "spans": [list(mark) for mark in label.marks]}
    return {
        "item": disagreement.item,
        **({} if sentences else {"context": disagreement.context}),
        "text": disagreement.text,
        **({"pair": disagreement.pair, "side": disagreement.side} if sentences else {}),
        "annotator": shown.get(label.annotator, label.annotator),
        "choice": label.choice,
        **({} if sentences else marked),
        "reasons": ";".join(label.reasons),
        "note": label.note,
        "form_shown": label.form_shown,
        "guideline": label.guideline,
        "created": label.created,
    }


def show_disagreements(store: Store, project: Project, report: AgreementReport, chosen: Selection) -> None:
    """Show the items with different labels, or those of the selection, with the lists that narrow it."""
    with st.container(horizontal=True):
        if project.kind == "sentences":
            choose_pair(report)
        if len(st.session_state.get("disagreement-between", ())) != 1:  # the second of two is still to be chosen
            st.session_state["disagreement-between"] = list(chosen.two or ())
        st.multiselect(
            _("Only between"), report.annotators, max_selections=2, placeholder=_("Everybody"),
            key="disagreement-between", on_change=_between,
        )  # fmt: skip
    show_items(store, project, report, chosen)


def _between() -> None:
    two = st.session_state["disagreement-between"]
    select_two(*(two if len(two) == 2 else ("", "")))
