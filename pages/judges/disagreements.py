"""The texts of which a judge says something else than somebody, to read; only texts that people have finished."""

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.judges.against_people import AgainstPeople, Disagreed
from evenhand.annotations.text_policy import text_may_leave, without_text
from evenhand.annotations.types import Project
from evenhand.pages.judges.source import judge_label
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.numbers import percent
from evenhand.pages.ui.sentences import item_card, judgement
from evenhand.pages.ui.tables import show_html, span
from evenhand.pages.ui.text import _, caption, inform, plain

PAGE = 10


def show_disagreements(project: Project, against: AgainstPeople, names: dict[str, str]) -> None:
    """Ten of them at a time, by what the judge says."""
    every = against.disagreements
    if not every:
        inform("The judge's labels equal everybody's on all compared texts.", icon=":material/check:")
        return
    counts = {code: sum(1 for one in every if one.judge == code) for code in against.choices}
    offered = [code for code, count in counts.items() if count]
    chosen = st.pills(
        _("The judge's label"), offered, selection_mode="multi", key="judge-said",
        format_func=lambda code: f"{plain(names.get(code) or code)} {counts[code]:,}",
    )  # fmt: skip
    listed = [one for one in every if not chosen or one.judge in chosen]
    pages = -(-len(listed) // PAGE)
    if st.session_state.get("judge-page", 1) > max(1, pages):
        st.session_state["judge-page"] = 1
    start = PAGE * (st.session_state.get("judge-page", 1) - 1)
    for one in listed[start : start + PAGE]:
        show_html(_card(one, judge_label(against.judge.name), names))
    with foot():
        caption("{n:,} texts", n=len(listed))
        if pages > 1:
            st.pagination(pages, width=300, key="judge-page")
        downloads([_row(project, one, against.signature) for one in listed], key="judge-disagreements")
    if not text_may_leave(project):
        caption("The file holds ids and labels, not texts: texts of this project can only be exported encrypted.")


def _card(one: Disagreed, who: str, names: dict[str, str]) -> Markup:
    share = [_("{share} of its answer", share=percent(one.share, 0))] if one.share is not None else []
    said = [judgement(who, one.judge, names, share)]
    for label in one.people:
        lines = [names.get(code, code) for code in label.reasons] + ([_("Flagged")] if label.extraneous else [])
        said.append(judgement(label.annotator, label.choice, names, lines, label.note))
    about = " · ".join(part for part in (one.model, one.pronoun) if part)
    return item_card(one.item, _marked(one), said, about=about, context=one.context)


def _marked(one: Disagreed) -> Markup:
    """The text as HTML, what the judge marked boxed; nothing else of it is HTML."""
    found, at = Markup(""), 0
    for start, end, _kind in one.judge_marks:
        found += Markup("{}{}").format(one.text[at:start], span(one.text[start:end], "hit"))
        at = end
    return found + one.text[at:]


def _row(project: Project, one: Disagreed, signature: str) -> dict[str, object]:
    row: dict[str, object] = {
        "item": one.item, "model": one.model, "pronoun": one.pronoun, "judge": one.judge, "share": one.share,
        "people": ";".join(f"{label.annotator}={label.choice}" for label in one.people), "context": one.context,
        "completion": one.text, "signature": signature,
    }  # fmt: skip
    return without_text(project, row, "context", "completion")
