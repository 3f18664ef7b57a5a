"""The disagreements on the page Agreement: each sentence with the labels beside it."""

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.disagreements import (
    Disagreement,
    differing_items,
    disagreements,
    disagreements_of,
    record_reveals,
)
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import BlindLabel
from evenhand.annotations.projects.pipeline_counts import latest
from evenhand.annotations.projects.projects import guidelines
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.charts import csv_bytes
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, judgement_lines, with_keyword
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import plain

PAGE = 10


@asks("see_all_labels")
def disagreement_list(store: Store, project: Project, report: AgreementReport) -> None:
    """Items with different labels, ten at a time, with filters and a download."""
    pair, between = _filters(project, report)
    reader = annotator_at_desk(store, project)
    if reader is not None:
        text = _("Your desk as {name} is open: only texts you have labelled are listed, so that labels stay blind.")
        st.caption(plain(text.format(name=reader.name)))
    items = _differing(latest(store), project.uid, tuple(between), pair, reader, store, project)
    total = len(items)
    if PAGE * (st.session_state.get("disagreement-page", 1) - 1) >= total:  # beyond the end of the filtered list
        st.session_state["disagreement-page"] = 1
    start = PAGE * (st.session_state.get("disagreement-page", 1) - 1)
    if not total:
        text = _("No disagreement among the fully labelled items.")
        st.info(text, icon=":material/check:")
        return
    found = disagreements_of(store, items[start : start + PAGE])
    if reader is not None:
        record_reveals(store, reader, found)
    names = _names(store, project)
    for one in found:
        show_html(_card(one, names))
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


@st.cache_data(max_entries=8, show_spinner=False)
def _differing(
    now: tuple[str, ...], uid: str, between: tuple[str, ...], pair: str | None, reader: Annotator | None,
    _store: Store, _project: Project,
) -> list[int]:  # fmt: skip
    return differing_items(_store, _project, between=between, pair=pair, reader=reader)


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
    return {each.code: choice_name(each) for version in versions for each in version.options}


def _table(project: Project, between: list[str], pair: str | None, reader: Annotator | None) -> bytes:
    with open_store(project) as store:
        found, _total = disagreements(store, project, between=between, pair=pair, reader=reader, limit=10**9)
        if reader is not None:
            record_reveals(store, reader, found)
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


def _marked_by(project: Project, said: BlindLabel) -> dict[str, object]:
    if project.kind == "sentences":
        return {}
    return {"extraneous": said.extraneous, "spans": [list(mark) for mark in said.marks]}


def _card(one: Disagreement, names: dict[str, str]) -> Markup:
    people = []
    for said in one.judgements:
        lines = judgement_lines(said.reasons, said.marks, one.text, names, extraneous=said.extraneous)
        people.append(judgement(said.annotator, said.choice, names, lines, said.note))
    return item_card(one.item, with_keyword(one.text, one.word, one.side), people, context=one.context or "")
