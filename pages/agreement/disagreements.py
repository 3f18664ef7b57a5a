"""The disagreements on the page Agreement: each sentence as it is, with what everybody said beside it."""

import html

import streamlit as st

from annotations.agreement.agreement import AgreementReport
from annotations.agreement.disagreements import Disagreement, Judgement, disagreements, shown_to
from annotations.database.store import Store
from annotations.projects.projects import annotators, guidelines
from annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from annotations.types import Annotator, Project
from core.charts.style import Palette, palette
from pages.ui.charts import csv_bytes
from pages.ui.head import open_store
from pages.ui.language import _
from pages.ui.sentences import choice_name, with_keyword
from pages.ui.text import plain

PAGE = 10
SIGN = {"accept": "✓", "correct": "✓", "reject": "✕", "misgendering": "✕"}


def disagreement_list(store: Store, project: Project, report: AgreementReport) -> None:
    """Items with different labels, ten at a time, with filters and a download."""
    pair, between = _filters(project, report)
    reader = open_desk(store, project)
    if reader is not None:
        text = _("Your desk as {name} is open: only texts you have labelled are listed, so that labels stay blind.")
        st.caption(plain(text.format(name=reader.name)))
    start = PAGE * (st.session_state.get("disagreement-page", 1) - 1)
    found, total = disagreements(store, project, between=between, pair=pair, reader=reader, limit=PAGE, offset=start)
    if total and not found:  # a filter left fewer pages than the one that was open
        st.session_state["disagreement-page"] = 1
        found, total = disagreements(store, project, between=between, pair=pair, reader=reader, limit=PAGE)
    if not total:
        text = _("No disagreement among the items that have all their labels.")
        st.info(text, icon=":material/check:")
        return
    if reader is not None:
        shown_to(store, reader, found)
    names = _names(store, project)
    for one in found:
        st.html(_card(one, names, palette(st.context.theme.type)))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(_("{total} items with different labels").format(total=total)))
        if total > PAGE:
            st.pagination(-(-total // PAGE), width=300, key="disagreement-page")
        st.download_button(
            _("Download all (CSV)"),
            lambda: _table(project, between, pair, reader),
            "disagreements.csv",
            "text/csv",
            key="disagreements-csv",
            on_click="ignore",
        )


def open_desk(store: Store, project: Project) -> Annotator | None:
    """Whose desk of this project is open in this visit, if any."""
    if st.session_state.get("desk_project") != project.name:
        return None
    name = st.session_state.get("desk_annotator")
    return next((one for one in annotators(store, project, active=False) if one.name == name), None)


def _filters(project: Project, report: AgreementReport) -> tuple[str | None, list[str]]:
    pair = None
    with st.container(horizontal=True):
        if project.kind == "sentences":
            pairs = [name for name, _measures in report.by_pair]
            pair = st.selectbox(
                _("Keyword pair"), pairs, index=None, placeholder=_("All pairs"), key="disagreement-pair"
            )
        between = st.multiselect(
            _("Only between"),
            report.annotators,
            max_selections=2,
            placeholder=_("Everybody"),
            key="disagreement-between",
        )
    return pair, between if len(between) == 2 else []


def _names(store: Store, project: Project) -> dict[str, str]:
    """Codes of choices and reasons as the visitor reads them; the newest wording counts."""
    versions = guidelines(store, project)
    return {each.code: choice_name(each) for version in versions for each in (*version.choices, *version.reasons)}


def _table(project: Project, between: list[str], pair: str | None, reader: Annotator | None) -> bytes:
    with open_store() as store:
        found, _total = disagreements(store, project, between=between, pair=pair, reader=reader, limit=10**9)
        if reader is not None:
            shown_to(store, reader, found)
    canary = {CANARY_KEY: CANARY} if needs_canary(project) and text_may_leave(project) else {}
    rows = [
        {
            "item": one.item,
            **({"context": one.context} if project.kind == "generations" else {}),
            "text": one.text,
            **({"pair": one.pair, "side": one.side} if project.kind == "sentences" else {}),
            "annotator": said.annotator,
            "choice": said.choice,
            **_marked_by(project, said),
            "reasons": ";".join(said.reasons),
            "note": said.note,
            "form_shown": said.form_shown,
            "guideline": said.guideline,
            "created": said.created,
            **canary,
        }
        for one in found
        for said in one.judgements
    ]
    return csv_bytes([without_text(project, row, "context", "text", "note") for row in rows])


def _marked_by(project: Project, said: Judgement) -> dict[str, object]:
    if project.kind == "sentences":
        return {}
    return {"extraneous": said.extraneous, "spans": [list(mark) for mark in said.marks]}


def _card(one: Disagreement, names: dict[str, str], colours: Palette) -> str:
    context = f'<div style="color:{colours.soft}">{html.escape(one.context)}</div>' if one.context else ""
    people = "".join(_judgement(said, one.text, names, colours) for said in one.judgements)
    return (
        f'<article data-item="{html.escape(one.item)}" style="border:1px solid {colours.line};border-radius:12px;'
        f'padding:14px 18px;background:{colours.card};color:{colours.ink}">{context}'
        f'<div style="font-size:1.15rem;line-height:1.9;white-space:pre-wrap;overflow-wrap:anywhere">'
        f"{with_keyword(one.text, one.word, one.side, colours)}</div>"
        f'<div style="display:flex;flex-wrap:wrap;gap:10px;margin-top:10px">{people}</div></article>'
    )


def _judgement(said: Judgement, text: str, names: dict[str, str], colours: Palette) -> str:
    sign = SIGN.get(said.choice, "•")
    colour = {"✓": colours.good, "✕": colours.bad}.get(sign, colours.ink)
    kinds = {"pronoun": _("wrong pronoun"), "extraneous": _("gendered word")}
    lines = [names.get(code, code) for code in said.reasons]
    lines += [f"{kinds[mark.kind]}: {text[mark.start : mark.end]}" for mark in said.marks]
    lines += [_("extraneous gendered language")] if said.extraneous else []
    reasons = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    listed = f'<ul style="margin:4px 0 0;padding-left:1.2em">{reasons}</ul>' if reasons else ""
    note = (
        f'<div style="white-space:pre-wrap;margin-top:4px;color:{colours.soft}">{html.escape(said.note)}</div>'
        if said.note
        else ""
    )
    return (
        f'<div style="flex:1 1 180px;border-left:3px solid {colour};padding:2px 0 2px 10px;font-size:.9rem">'
        f'<div style="color:{colours.soft};overflow-wrap:anywhere">{html.escape(said.annotator)}</div>'
        f'<div style="color:{colour};font-weight:700">{sign} {html.escape(names.get(said.choice, said.choice))}</div>'
        f"{listed}{note}</div>"
    )
