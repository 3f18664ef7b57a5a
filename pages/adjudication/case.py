"""A case on the page Adjudicate: the text, the labels beside it, the settlements, the comments."""

from collections.abc import Sequence
from itertools import pairwise

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication import AnonymousLabel, Case, Settlement, add_comment
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, judgement_lines, with_keyword
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import plain, series
from evenhand.pages.ui.visitor import author


def names_of(asked: Guideline) -> dict[str, str]:
    """Codes of choices, reasons and tags as the visitor reads them."""
    return {each.code: choice_name(each) for each in asked.options}


def show_case(found: Case, asked: Guideline) -> None:
    """The text with everybody's marks, and a card for each annotator."""
    names = names_of(asked)
    people = [_judgement(each, found, names) for each in found.labels]
    context, about = found.item.context or "", _about(found)
    show_html(item_card(found.item.uid, _text(found), people, about=about, context=context))


def _about(found: Case) -> str:
    """Of a generation: who is meant."""
    extra = found.item.extra
    sets = extra.get("pronouns") or []
    if not (extra.get("name") or sets):
        return ""
    pronouns = series(map(str, sets)) if isinstance(sets, list) else str(sets)
    text = _("{name}, pronouns: {pronouns}")
    return text.format(name=extra.get("name") or DASH, pronouns=pronouns or DASH)


def _text(found: Case) -> Markup:
    """The text in pieces, each with the letters of those who marked it."""
    item = found.item
    marks = [(each.letter, mark) for each in found.labels for mark in each.marks]
    if item.second is not None or (item.word is not None and item.side):
        return with_keyword(item.whole_text, item.word, item.side)
    edges = sorted({0, len(item.text), *(edge for _letter, mark in marks for edge in mark[:2])})
    pieces = []
    for start, end in pairwise(edges):
        inside = [(letter, mark.kind) for letter, mark in marks if mark.start <= start and end <= mark.end]
        pieces.append(_piece(item.text[start:end], inside))
    return joined(pieces)


def _piece(text: str, inside: Sequence[tuple[str, str]]) -> str | Markup:
    if not inside:
        return text
    wrong = any(kind == "pronoun" for _letter, kind in inside)
    letters = "".join(sorted({letter for letter, _kind in inside}))
    return joined([element("mark", text, "wrong" if wrong else "gendered"), element("sup", letters, "soft")])


def _judgement(said: AnonymousLabel, found: Case, names: dict[str, str]) -> Markup:
    lines = judgement_lines(said.reasons, said.marks, found.item.text, names, extraneous=said.extraneous)
    return judgement(said.letter, said.choice, names, lines, said.note)


def show_settlements(found: Case, asked: Guideline) -> None:
    """The acts of adjudicators on this case, oldest first."""
    names = names_of(asked)
    for each in found.settlements:
        st.caption(plain(_line(each, names)), width="stretch")


def _line(each: Settlement, names: dict[str, str]) -> str:
    texts = {
        "decide": _("{when}: {who} decided: {choice}."),
        "leave": _("{when}: {who} confirmed the labels."),
        "reopen": _("{when}: {who} reopened the case."),
    }
    when = moment(each.created)
    said = texts[each.action].format(when=when, who=each.adjudicator, choice=names.get(each.choice or "", each.choice))
    reasons = series(names.get(code, code) for code in each.reasons)
    return " ".join(part for part in (said, reasons, each.why) if part)


@asks("settle")
def comment_list(store: Store, project: Project, found: Case) -> None:
    """The comments so far and a field for the next; names of annotators are not shown here."""
    st.subheader(_("Comments"))
    for each in found.comments:
        by = each.author if each.annotator is None else _("an annotator")
        with st.container(border=True):
            st.caption(plain(f"{by} · {moment(each.created)}"))
            st.text(each.text)
    with st.form(f"comment-{found.item.uid}-{len(found.comments)}", border=False):
        text = st.text_area(_("Comment"), key=f"comment-text-{found.item.uid}-{len(found.comments)}", height=80)
        if st.form_submit_button(_("Add the comment"), icon=":material/chat:"):
            try:
                who = author(store, st.session_state.get("adjudicator") or "") or _("Lead")
                add_comment(store, project, found.item.uid, text, author=who)
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()
