"""A case on the page Adjudicate: the text, what each said beside it, what was settled, the comments."""

import html
from collections.abc import Sequence
from itertools import pairwise

import streamlit as st

from annotations.adjudication import Case, Said, Settlement, add_comment
from annotations.database.store import Store
from annotations.types import Choice, Guideline, Project
from core.charts.style import Palette, palette
from core.errors import EvenhandError
from pages.ui.head import show_error
from pages.ui.language import _
from pages.ui.sentences import choice_name, with_keyword
from pages.ui.text import plain, series

SIGN = {"accept": "✓", "correct": "✓", "reject": "✕", "misgendering": "✕"}


def names_of(asked: Guideline) -> dict[str, str]:
    """Codes of choices, reasons and tags as the visitor reads them."""
    options: tuple[Choice, ...] = (*asked.choices, *asked.reasons)
    return {each.code: choice_name(each) for each in options}


def show_case(found: Case, asked: Guideline) -> None:
    """The text with everybody's marks, and a card for each annotator."""
    colours = palette(st.context.theme.type)
    names = names_of(asked)
    people = "".join(_said(each, found, names, colours) for each in found.said)
    st.html(
        f'<article data-item="{html.escape(found.item.uid)}" style="border:1px solid {colours.line};border-radius:12px;'
        f'padding:14px 18px;background:{colours.card};color:{colours.ink}">{_about(found, colours)}'
        f'<div style="font-size:1.15rem;line-height:1.9;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{_text(found, colours)}</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:12px;margin-top:12px">{people}</div></article>'
    )


def _about(found: Case, colours: Palette) -> str:
    extra, item = found.item.extra, found.item
    who = ""
    if extra.get("name") or extra.get("pronouns"):
        sets = extra.get("pronouns") or []
        said = series(map(str, sets)) if isinstance(sets, list) else str(sets)
        text = _("{name}, pronouns: {pronouns}").format(name=extra.get("name") or "—", pronouns=said or "—")
        who = f'<div style="font-weight:700;margin-bottom:4px">{html.escape(text)}</div>'
    if not item.context:
        return who
    return who + f'<div style="color:{colours.soft};white-space:pre-wrap">{html.escape(item.context)}</div>'


def _text(found: Case, colours: Palette) -> str:
    """The text in pieces, each with the letters of those who marked it; nothing of it is HTML."""
    item = found.item
    marks = [(each.letter, mark) for each in found.said for mark in each.marks]
    if item.word is not None and item.side:
        return with_keyword(item.text, item.word, item.side, colours)
    edges = sorted({0, len(item.text), *(edge for _letter, mark in marks for edge in mark[:2])})
    pieces = []
    for start, end in pairwise(edges):
        inside = [(letter, mark.kind) for letter, mark in marks if mark.start <= start and end <= mark.end]
        pieces.append(_piece(item.text[start:end], inside, colours))
    return "".join(pieces)


def _piece(text: str, inside: Sequence[tuple[str, str]], colours: Palette) -> str:
    if not inside:
        return html.escape(text)
    wrong = any(kind == "pronoun" for _letter, kind in inside)
    line = f"3px solid {colours.bad}" if wrong else f"3px dotted {colours.soft}"
    letters = "".join(sorted({letter for letter, _kind in inside}))
    return (
        f'<mark style="background:{colours.line};color:inherit;border-bottom:{line};font-weight:700">'
        f'{html.escape(text)}</mark><sup style="color:{colours.soft};margin-left:1px">{letters}</sup>'
    )


def _said(said: Said, found: Case, names: dict[str, str], colours: Palette) -> str:
    sign = SIGN.get(said.choice, "•")
    colour = {"✓": colours.good, "✕": colours.bad}.get(sign, colours.ink)
    lines = [names.get(code, code) for code in said.reasons]
    kinds = {"pronoun": _("wrong pronoun"), "extraneous": _("gendered word")}
    lines += [f"{kinds[mark.kind]}: {found.item.text[mark.start : mark.end]}" for mark in said.marks]
    if said.extraneous:
        lines.append(_("extraneous gendered language"))
    listed = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    note = (
        f'<div style="white-space:pre-wrap;margin-top:4px;color:{colours.soft}">{html.escape(said.note)}</div>'
        if said.note
        else ""
    )
    choice = html.escape(names.get(said.choice, said.choice))
    return (
        f'<div style="flex:1 1 200px;border-left:3px solid {colour};padding:2px 0 2px 10px;font-size:.92rem">'
        f'<div style="color:{colours.soft}">{html.escape(said.letter)}</div>'
        f'<div style="color:{colour};font-weight:700">{sign} {choice}</div>'
        f'<ul style="margin:4px 0 0;padding-left:1.2em;overflow-wrap:anywhere">{listed}</ul>{note}</div>'
    )


def what_was_settled(found: Case, asked: Guideline) -> None:
    """Everything that adjudicators did about this case, oldest first."""
    names = names_of(asked)
    for each in found.settlements:
        st.caption(plain(_line(each, names)), width="stretch")


def _line(each: Settlement, names: dict[str, str]) -> str:
    texts = {
        "decide": _("{when}: {who} decided: {choice}."),
        "leave": _("{when}: {who} left it as the labels have it."),
        "reopen": _("{when}: {who} reopened it."),
    }
    when = each.created[:16].replace("T", " ")
    said = texts[each.action].format(when=when, who=each.adjudicator, choice=names.get(each.choice or "", each.choice))
    reasons = series(names.get(code, code) for code in each.reasons)
    return " ".join(part for part in (said, reasons, each.why) if part)


def comment_list(store: Store, project: Project, found: Case) -> None:
    """The comments so far and a field for the next; names of annotators are not shown here."""
    st.subheader(_("Comments"))
    for each in found.comments:
        author = each.author if each.annotator is None else _("an annotator")
        with st.container(border=True):
            st.caption(plain(f"{author} · {each.created[:16].replace('T', ' ')}"))
            st.text(each.text)
    with st.form(f"comment-{found.item.uid}-{len(found.comments)}", border=False):
        text = st.text_area(_("Comment"), key=f"comment-text-{found.item.uid}-{len(found.comments)}", height=80)
        if st.form_submit_button(_("Add the comment"), icon=":material/chat:"):
            try:
                author = st.session_state.get("adjudicator") or _("Lead")
                add_comment(store, project, found.item.uid, text, author=author)
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()
