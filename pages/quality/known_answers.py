"""Known answers on the page Quality: scores of annotators, misses, and the items."""

from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.quality.known_answers import KnownAnswerScore, answer_choices, set_known, wrong_answers
from evenhand.annotations.quality.report import Quality
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Project
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.errors import EvenhandError
from evenhand.pages.quality.item_cards import card, names_of, people_chart
from evenhand.pages.ui.charts import csv_bytes, downloads, show_chart
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import day, estimate_columns, interval_or_reason, percent
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, judgement
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import plain, show_signature
from evenhand.pages.ui.visitor import author

PAGE = 5
SHORT = 60  # characters of a text in the list of items


def score_list(found: Quality) -> None:
    """Each annotator against the known answers: a chart, a table, the signature."""
    if not found.known:
        text = _(
            "No item has a known answer yet. Choose some items below whose answer you know. Annotators"
            " cannot tell them from others, and scores appear only on this page."
        )
        st.info(text, icon=":material/key:")
        return
    rows = [_row(one) for one in found.scores]
    drawn = any(one.right + one.wrong for one in found.scores)
    if drawn:
        says = _("Share of known answers given by each annotator, over {n} items with a known answer; 95% intervals.")
        people_chart(
            [(one.annotator, one.share) for one in found.scores],
            key="known-answers",
            title=_("Known answers given"),
            says=says.format(n=len(found.known)),
            table=_downloaded(found),
        )
    else:
        text = _("{n} items have a known answer; none of them has a valid label yet.")
        st.caption(plain(text.format(n=len(found.known))))
    st.dataframe(rows, hide_index=True, key="known-table")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Blind labels only. An answer taken from the labels does not count for the annotators who made"
            " those labels: they would only agree with themselves."
        )
        st.caption(plain(text))
        if not drawn:  # else beside the chart
            downloads(_downloaded(found), key="known-answers-table")
    show_signature(found.known_signature)


def _row(one: KnownAnswerScore) -> dict[str, Any]:
    return {
        _("Annotator"): one.annotator if one.active else _("{name} (has left)").format(name=one.annotator),
        _("Right"): one.right,
        _("Wrong"): one.wrong,
        _("Not labelled"): one.unlabelled,
        _("Known answers given"): percent(one.share.value),
        _("95% interval"): interval_or_reason(one.share, ".1%"),
    }


def _downloaded(found: Quality) -> list[dict[str, Any]]:
    return [
        {
            "annotator": one.annotator,
            "active": one.active,
            "right": one.right,
            "wrong": one.wrong,
            "not_labelled": one.unlabelled,
            **estimate_columns("share", one.share),
            "signature": found.known_signature,
        }
        for one in found.scores
    ]


def what_missed(store: Store, project: Project, found: Quality) -> None:
    """One annotator: answers against labels, and every miss."""
    people = {one.annotator: one for one in found.scores if one.right + one.wrong}
    if not people:
        return
    name = st.selectbox(_("Annotator"), list(people), key="known-who")
    left, right = st.columns([2, 3], gap="large")
    with left:
        _confusion(store, project, people[name], found.known_signature)
    with right:
        missed = wrong_answers(store, project, name)
        if not missed:
            st.info(_("All known answers were given."), icon=":material/check:")
            return
        st.markdown(plain(_("{n} known answers missed").format(n=len(missed))))
        page = min(st.session_state.get("missed-page", 1), -(-len(missed) // PAGE))
        names = names_of(store, project)
        for one in missed[PAGE * (page - 1) : PAGE * page]:
            reasons = [names.get(code, code) for code in one.reasons]
            answer = judgement(_("known answer"), one.answer, names, note=one.why)
            card(one.item, one.annotator, [answer, judgement(_("label"), one.choice, names, reasons, one.note)])
        if len(missed) > PAGE:
            st.pagination(-(-len(missed) // PAGE), width=300, key="missed-page")


def _confusion(store: Store, project: Project, one: KnownAnswerScore, signature: str) -> None:
    choices = answer_choices(store, project)
    used = [i for i in range(len(choices)) if sum(one.table[i]) or any(row[i] for row in one.table)]
    names = [choice_name(choice) for choice in choices]
    rows = [{"answer": names[i], "label": names[j], "items": one.table[i][j]} for i in used for j in used]
    says = _("Rows: known answer; columns: label by {name}. {k} of {n} given.")
    says = says.format(name=one.annotator, k=one.right, n=one.right + one.wrong)
    chart = heatmap(
        pd.DataFrame(rows),
        "label",
        "answer",
        "items",
        description=says,
        domain=(0, max(one.right + one.wrong, 1)),
        titles={"answer": _("known answer"), "label": _("label"), "items": _("items")},
        digits=0,
        width=240,
        palette=colours(),
    )
    show_chart(chart, [{**row, "signature": signature} for row in rows], key="answer-and-label", says=says)


@asks("change_projects")
def known_list(store: Store, project: Project, found: Quality) -> None:
    """All items with a known answer; chosen ones become ordinary items again."""
    if not found.known:
        return
    names = names_of(store, project)
    rows = [
        {
            _("Text"): _short(one.item.whole_text),
            _("Known answer"): names.get(one.choice, one.choice),
            _("Labels"): one.labels,
            _("Why"): one.why,
            _("From its labels"): one.from_labels,
            _("By"): one.author,
            _("Since"): day(one.created),
        }
        for one in found.known
    ]
    st.markdown(plain(_("Items with a known answer: {n}").format(n=len(rows))))
    # A new widget key for a changed table, so that selected rows never point to other items.
    key = f"known-items-{hash(tuple(one.item.uid for one in found.known))}"
    state: Any = st.dataframe(rows, hide_index=True, key=key, on_select="rerun", selection_mode="multi-row")
    chosen = [found.known[i].item.uid for i in state["selection"]["rows"] if i < len(rows)]
    with st.container(horizontal=True, vertical_alignment="center"):
        text = (
            _("Turn {n} selected items back into ordinary ones")
            if chosen
            else _("Select rows to turn back into ordinary items")
        )
        pressed = st.button(
            plain(text.format(n=len(chosen))), key="withdraw-known", icon=":material/key_off:", disabled=not chosen
        )
        st.download_button(
            _("Download (CSV)"), lambda: _table(project), "known-answers.csv", "text/csv", key="known-items-csv",
            on_click="ignore", icon=":material/download:", type="tertiary",
        )  # fmt: skip
    if pressed:
        try:
            for uid in chosen:
                set_known(store, project, uid, None, author=author(store, st.session_state.get("adjudicator", "")))
        except EvenhandError as error:
            show_error(error)
            return
        st.rerun()


def _table(project: Project) -> bytes:
    from evenhand.annotations.quality.known_answers import known_items

    with open_store(project) as store:
        found = known_items(store, project)
    rows = [
        {
            "item": one.item.uid,
            "text": one.item.whole_text,
            "choice": one.choice,
            "why": one.why,
            "from_labels": one.from_labels,
            "author": one.author,
            "created": one.created,
        }
        for one in found
    ]
    return csv_bytes([without_text(project, row, "text", "why") for row in rows])


def _short(text: str) -> str:
    return text if len(text) <= SHORT else text[:SHORT] + "…"
