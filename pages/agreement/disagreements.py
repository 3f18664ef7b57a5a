"""The disagreements on the page Agreement: each sentence with the labels beside it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.annotator_models import ModelledItem
from evenhand.annotations.agreement.disagreements import (
    Disagreement,
    ItemText,
    differing_items,
    disagreements,
    disagreements_of,
    item_texts,
    record_reveals,
)
from evenhand.annotations.agreement.groups import OpinionItem
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import BlindLabel
from evenhand.annotations.projects.steps import latest
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave, without_text
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.charts import csv_bytes, download, downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import open_store, remembered
from evenhand.pages.ui.notices import say_blind
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import item_card, judgement, judgement_lines, names_of, with_keyword
from evenhand.pages.ui.tables import page_of, show_html, show_pages
from evenhand.pages.ui.text import _, caption, inform

PAGE = 10
Listed = TypeVar("Listed", ModelledItem, OpinionItem)


@asks("see_all_labels")
def disagreement_list(store: Store, project: Project, report: AgreementReport) -> None:
    """Items with different labels, ten at a time, with filters and a download."""
    pair, between = _filters(project, report)
    reader = annotator_at_desk(store, project)
    if reader is not None:
        say_blind(reader)
    items = remembered(latest(store), differing_items, project, between=tuple(between), pair=pair, reader=reader)
    if not items:
        inform("No disagreement among the fully labelled items.", icon=":material/check:")
        return
    found = disagreements_of(store, page_of(items, "disagreement-page", PAGE))
    if reader is not None:
        record_reveals(store, reader, found)
    names = names_of(store, project)
    for one in found:
        show_html(_card(one, names))
    with foot():
        caption("{total} items with different labels", total=len(items))
        show_pages(len(items), "disagreement-page", PAGE)
        file, name = (lambda: _table(project, between, pair, reader)), "disagreements.csv"
        download(_("Download all (CSV)"), file, name, key="disagreements-csv", type="secondary")


def list_items(
    store: Store, reader: Annotator | None, listed: Sequence[Listed], card: Callable[[Listed, ItemText], Markup], *,
    key: str, rows: Sequence[Mapping[str, object]],
) -> None:  # fmt: skip
    """Show fully labelled items ten at a time, as *card* draws each with its text; *rows*: all of them for a file."""
    shown = page_of(listed, f"{key}-page", PAGE)
    texts = item_texts(store, [one.row for one in shown])
    if reader is not None:
        record_reveals(store, reader, texts)
    for one, text in zip(shown, texts, strict=True):
        show_html(card(one, text))
    with foot():
        caption("{n:,} items", n=len(listed))
        show_pages(len(listed), f"{key}-page", PAGE)
        downloads(rows, key=f"{key}-items")


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
