"""Adding known answers on the page Quality: random items, by id or text, or from a file."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.known_answers import find_item, import_known_answers
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import item as one_item
from evenhand.annotations.quality.known_answers import Among, draw_candidates, set_known
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import explain
from evenhand.pages.quality.item_cards import card
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.text import literal, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import ask_author, author

MOST = 50  # drawn at once: each of them is read and answered
SHOWN = 5  # problems of a file


@asks("change_projects")
def mark_more(store: Store, project: Project) -> None:
    """Three ways to more items with a known answer."""
    heading = _("More known answers")
    st.markdown(f"**{plain(heading)}**")
    ask_author(store, _("Answers provided by"), persist_state="session", placeholder=_("Your name"))
    ways = {"draw": _("Draw at random"), "one": _("Single item"), "file": _("From a file")}
    way = choose(_("Selection"), ways, "mark-how", heading=False)
    if way == "draw":
        _draw(store, project)
    elif way == "one":
        _one(store, project)
    else:
        _file(store, project)


def _draw(store: Store, project: Project) -> None:
    names: dict[Among, str] = {"unlabelled": _("Unlabelled items"), "agreed": _("Unanimous items")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        among = choose(_("Items to draw from"), names, "draw-among")
        number = st.number_input(_("Number of items"), 1, MOST, 10, key="draw-number", width=120)
        if st.button(_("Draw"), key="draw", icon=":material/casino:"):
            drawn = [one.uid for one in draw_candidates(store, project, int(number), among)]
            st.session_state["drawn"] = (project.uid, among, drawn)
            if not drawn:
                st.toast(_("There is no such item."), icon=":material/info:")
    if among == "agreed":
        text = _(
            "The answer is taken from the labels. It therefore tests only annotators who have not labelled"
            " the item yet, for example those who join later."
        )
        st.caption(plain(text))
    kept, made_among, uids = st.session_state.get("drawn", ("", among, []))
    if kept == project.uid and uids:
        _answers(store, project, made_among, uids)


def _answers(store: Store, project: Project, among: Among, uids: list[str]) -> None:
    """The drawn items with the lead's answers; items without one are left out."""
    choices = {each.code: choice_name(each) for each in guideline(store, project).choices}
    given: dict[str, str | None] = {}
    with st.form("drawn-answers"):
        for number, uid in enumerate(uids, 1):
            found = one_item(store, project, uid)
            card(found, _("{n} of {all}").format(n=number, all=len(uids)), [])
            given[uid] = st.pills(  # they wrap where a telephone has no room
                _("Answer for text {n}").format(n=number),
                list(choices),
                default=found.gold if among == "agreed" and found.gold in choices else None,
                format_func=lambda code: plain(choices[code]),
                key=f"answer-{uid}",
                label_visibility="collapsed",
            )
        with st.container(horizontal=True):
            kept = st.form_submit_button(_("Set as known answers"), type="primary", icon=":material/key:")
            dropped = st.form_submit_button(_("Discard"), icon=":material/close:")
        st.caption(_("Texts without an answer stay ordinary items."))
    if kept:
        for uid, choice in given.items():
            if choice is not None and not _keep(store, project, uid, choice, from_labels=among == "agreed"):
                return
    if kept or dropped:
        del st.session_state["drawn"]
        st.rerun()


@asks("change_projects")
def _keep(store: Store, project: Project, uid: str, choice: str, why: str = "", *, from_labels: bool = False) -> bool:
    # An answer that differs from the labels is the lead's own.
    same = from_labels and one_item(store, project, uid).gold == choice
    try:
        who = author(store, st.session_state.get("adjudicator", ""))
        set_known(store, project, uid, choice, why=why, author=who, from_labels=same)
    except EvenhandError as error:
        show_error(error)
        return False
    return True


def _one(store: Store, project: Project) -> None:
    label = _("Id or text of the item") if project.kind == "sentences" else _("Id of the item")
    asked = st.text_input(label, key="known-id").strip()
    if not asked:
        return
    found: Item | None = find_item(store, project, asked)
    if found is None:
        st.warning(_("This project has no such item."), icon=":material/search_off:")
        return
    card(found, found.uid, [])
    choices = {each.code: choice_name(each) for each in guideline(store, project).choices}
    choice = st.pills(
        _("Answer"), list(choices), format_func=lambda code: plain(choices[code]), key=f"known-choice-{found.uid}"
    )
    why = st.text_area(
        _("Why"), key=f"known-why-{found.uid}", height=80, placeholder=_("For the record: why this answer?")
    )
    pressed = st.button(
        _("Set as known answer"), type="primary", icon=":material/key:", key="known-keep", disabled=choice is None
    )
    if pressed and choice is not None and _keep(store, project, found.uid, choice, why):
        st.toast(_("This item now has a known answer."), icon=":material/key:")
        st.rerun()


@asks("change_projects")
def _file(store: Store, project: Project) -> None:
    st.caption(_("CSV, TSV, JSON lines or Excel with the columns item or text, choice, and optionally why."))
    if project.kind == "generations":
        st.caption(_("A column context tells equal texts apart."))
    try:
        path = choose_upload(_("File"), ["csv", "tsv", "jsonl", "json", "xlsx"], key="known-file", heading=False)
        if path is None:
            return
        if st.session_state.get("known-brought", ("",))[0] != path:
            who = author(store, st.session_state.get("adjudicator", ""))
            report = import_known_answers(store, project, path, name=path.name, author=who)
            st.session_state["known-brought"] = (path, report)
            st.rerun()
    except EvenhandError as error:
        show_error(error)
        return
    report = st.session_state["known-brought"][1]
    st.success(plain(_("Known answers set from this file: {n}.").format(n=report.marked)), icon=":material/key:")
    if report.problems:
        st.warning(plain(_("{n} rows could not be used.").format(n=len(report.problems))))
        lines = [_("Line {line}: {why}").format(line=p.line, why=explain(p, language())) for p in report.problems]
        for line in lines[:SHOWN]:
            literal(line, size=".9rem")
        downloads([{"problem": line} for line in lines], key="known-problems")
