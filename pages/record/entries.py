"""The items on the page My record: each with its history and the private thread with the lead."""

from typing import get_args

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication import add_comment
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import guidelines
from evenhand.annotations.record.entries import Act, Entry, RecordQuery, State, entries
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, choice_sign, marked, with_cover
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import plain, series


def listed(store: Store, project: Project, person: Annotator) -> None:
    """A page of items, with a search and a choice of states."""
    names = {
        "labelled": _("Labelled"), "skipped": _("Skipped"), "leased": _("On the desk"), "released": _("Went to others"),
        "any": _("All"),
    }  # fmt: skip
    search = st.text_input(_("Search texts and notes"), key="record-search", icon=":material/search:", width=320)
    # Not beside it in a row: on a telephone the choices would run out of it instead of into the next line.
    chosen = choose(_("State"), names, "record-state", heading=False, address="state")
    state: State | None = next((one for one in get_args(State) if one == chosen), None)
    asked, before = (person.uid, search, chosen), st.session_state.get("record-asked")
    st.session_state["record-asked"] = asked
    page = st.session_state.get("record-page", 1) if asked == before else 1  # a new search begins at its first page
    found = entries(store, project, person, RecordQuery(search, state, page))
    if not found.total:
        empty = _("Nothing is stored yet. Your record begins with your first label.")
        st.info(
            _("Nothing was found.") if search or state not in (None, "labelled") else empty,
            icon=":material/search_off:",
        )
        return
    if found.number != st.session_state.get("record-page", 1):
        st.session_state["record-page"] = found.number
    st.caption(plain(_("{total} items, most recent first").format(total=f"{found.total:,}")))
    options = [one for each in guidelines(store, project) for one in each.options]
    words = {one.code: choice_name(one) for one in options}
    for one in found.entries:
        with st.container(border=True, key=f"entry-{one.uid}"):
            show_html(_item(one, words))
            _talk(store, project, person, one)
    if found.pages > 1:
        st.pagination(found.pages, key="record-page")


def _item(one: Entry, words: dict[str, str]) -> Markup:
    """The text with its word marked, then each act with its time."""
    item = one.item
    if item is None:
        waits = one.state == "leased"
        why = (
            _("It is waiting at your desk; read it there.")
            if waits
            else _("It was on your desk but you did not label it; its text is not shown.")
        )
        text = span(why, "soft")
    else:
        text = with_cover(item) if one.covered else marked(item.whole_text, item.word, item.side)
    context = element("div", item.context, "soft verbatim") if item is not None and item.context else ""
    lines = [_act(act, words) for act in one.acts]
    if one.revealed:
        lines.append(element("li", f"{moment(one.revealed)} · " + _("others' opinions were shown to you")))
    if one.sent_back:
        lines.append(element("li", _("awaiting your relabelling")))
    elif one.state == "released":
        lines.append(element("li", _("went to others")))
    return joined([context, element("div", text, "own-text"), element("ul", joined(lines), "acts")])


def _act(act: Act, words: dict[str, str]) -> Markup:
    """One line: when, what, why, how long, under which version."""
    if act.kind == "skip":
        what = _("skipped")
    elif act.kind == "undone":
        what = _("label undone")
    else:
        sign, tone = choice_sign(act.choice or "")
        what = f"{sign if tone else ''} {words.get(act.choice or '', act.choice or '')}".strip()
    parts = [words.get(code, code) for code in act.reasons]
    parts += [_("tags: {tags}").format(tags=series(act.tags))] if act.tags else []
    parts += [_("extraneous gendered language")] if act.extraneous else []
    parts += [_("{number} marks").format(number=len(act.marks))] if act.marks else []
    parts += [_("{seconds} s").format(seconds=f"{act.seconds:,.1f}")] if act.seconds is not None else []
    parts += [_("guideline version {version}").format(version=act.guideline)] if act.guideline else []
    parts += [_("keyword hidden")] if act.form_shown == "masked" else []
    parts += [_("after others' opinions were shown")] if act.after_reveal else []
    parts += [_("arrived late: another of your desks was first")] if act.superseded else []
    pieces: list[str | Markup] = [moment(act.created), span(what, "strong" if act.stands else "")]
    pieces += [span(" · ".join(parts), "soft")] if parts else []
    pieces += [element("b", _("valid"))] if act.stands else []
    note = element("div", act.note, "soft verbatim") if act.note else ""
    return element("li", joined([joined(pieces, " · "), note]))


@asks("see_own_labels")
def _talk(store: Store, project: Project, person: Annotator, one: Entry) -> None:
    """The private thread of this annotator and the lead, with a field to write."""
    if one.item is None or one.item.uid != one.uid:
        return  # waiting items and retests have no thread
    number = len(one.comments)
    label = _("Comments ({number})").format(number=number) if number else _("Ask the lead")
    with st.expander(label, icon=":material/forum:", expanded=False):
        for said in one.comments:
            private = _("private") if said.thread else _("to all")
            st.caption(plain(f"{moment(said.created)} · {said.author} · {private}"))
            st.text(said.text)
        with st.form(f"talk-{one.uid}", border=False, clear_on_submit=True):
            text = st.text_area(_("To the lead only"), key=f"talk-text-{one.uid}", height=80, max_chars=4_000)
            if st.form_submit_button(_("Send"), icon=":material/send:", key=f"talk-send-{one.uid}"):
                try:
                    add_comment(store, project, one.uid, text, author=person.name, annotator=person, thread=person)
                except EvenhandError as error:
                    show_error(error)
                else:
                    st.rerun()
