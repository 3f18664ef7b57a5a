"""The section Leaks: are the extremes of a model bias, or sentences that give the answer away? Draw, send, read."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from evenhand.annotations.audit import audit_projects
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.audit.sample import MOST, AuditSample, draw, labels_needed
from evenhand.core.errors import EvenhandError
from evenhand.pages.model_bias.leaks_result import show_result
from evenhand.pages.model_bias.numbers import rows_for
from evenhand.pages.ui.choose import model_label
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import duration
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.score_files import ScoreFile
from evenhand.pages.ui.text import clauses, in_brackets, named, names_in, plain
from evenhand.pages.ui.visitor import own_new_project, page_link

if TYPE_CHECKING:
    import pandas as pd

SECONDS_A_LABEL = 8  # what a short question on one sentence takes a practised reader, for the forecast


def show_audit(frame: "pd.DataFrame", store: Store, run: str | None = None) -> None:
    """The whole section. *frame*: scores of the chosen models; *run*: what the scores are called."""
    name = run if run is not None else str(st.session_state.get("run") or "")
    st.subheader(_("Bias, or a sentence that reveals the word?"), anchor=False)
    st.write(
        _(
            "The most extreme sentences are quoted most and are the least reliable: where another word in"
            " the sentence reveals the gender, a model needs no bias to be sure. An audit checks this."
            " Annotators see the most extreme sentences mixed with ordinary ones of the same pair and"
            " side, with the keyword covered, and say which reveal it. They are not told which is which."
        )
    )
    past = audit_projects.audits(store)
    if past:
        _past(past, frame, store, name)
    with st.expander(_("New audit"), icon=":material/casino:", expanded=not past):
        _new(frame, store, name)


def _past(past: list[audit_projects.Audit], frame: "pd.DataFrame", store: Store, run: str) -> None:
    """The results: of one audit at a time, the newest first."""
    names = {one.project.uid: one for one in past}
    if st.session_state.get("audit") not in names:
        st.session_state["audit"] = next(iter(names))
    uid = st.selectbox(_("Audit"), list(names), key="audit", format_func=lambda uid: _audit_name(names[uid]))
    chosen = names[uid]
    own = frame if chosen.run == run and chosen.model in set(frame["model"]) else None
    show_result(store, chosen, own)


def _audit_name(one: audit_projects.Audit) -> str:
    text = _("{name} · {model} · {done} of {all} labels")
    return text.format(name=one.project.name, model=one.model, done=one.labels, all=one.labels_wanted)


def _new(frame: "pd.DataFrame", store: Store, run: str) -> None:
    sample, per_item = _choose(frame)
    if sample is None:
        return
    _preview(sample, per_item)
    with st.form("audit-new", border=False):
        left, right = st.columns(2)
        first = _("Leaks of {model}").format(model=sample.model)
        name = left.text_input(_("Name of the project"), first, key="audit-name")
        people = right.text_area(_("Annotators, one per line"), key="audit-annotators", height=90)
        sent = st.form_submit_button(_("Send to the desk"), icon=":material/send:", type="primary")
    if sent:
        _send(store, sample, name, people, per_item, run)
    made = st.session_state.get("audit-made")
    if made:
        st.success(plain(_("{name} is on the desk; its annotators can start.").format(name=made)))
        page_link(
            "review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params={"project": made}
        )


def _choose(frame: "pd.DataFrame") -> tuple[AuditSample | None, int]:
    models = list(dict.fromkeys(frame["model"]))
    one, two, three, four = st.columns([3, 3, 2, 2])
    model = one.selectbox(_("Model"), models, key="audit-model", format_func=model_label)
    orders: dict[Any, str] = {
        "bias": _("by Bias_c"),
        "corrected": _("by Bias_c minus the pair mean"),
    }
    by = two.selectbox(_("Extremes"), list(orders), format_func=orders.__getitem__, key="audit-by")
    n = three.number_input(_("Extremes per direction"), 1, MOST, 25, key="audit-n")
    per_item = four.number_input(_("Labels per sentence"), 1, 10, 3, key="audit-per-item")
    with st.popover(_("Change the seed"), icon=":material/tune:", type="tertiary"):
        seed = st.number_input(
            _("Seed"), 0, 10**6, 0, key="audit-seed", help=_("The same seed draws the same sentences.")
        )
    if not model:
        return None, int(per_item)
    try:
        return draw(frame, model, int(n), int(seed), by=by), int(per_item)
    except EvenhandError as error:
        show_error(error)
        return None, int(per_item)


def _preview(sample: AuditSample, per_item: int) -> None:
    """How many sentences, how many labels, what such a sample can and cannot tell."""
    labels = labels_needed(len(sample.items), per_item)
    tiles = [
        (_("Extremes, male word"), f"{sample.extremes['male']:,}"),
        (_("Extremes, female word"), f"{sample.extremes['female']:,}"),
        (_("Matched ordinary sentences"), f"{sample.controls:,}"),
        (_("Labels needed"), f"{labels:,}"),
    ]
    for column, (name, value) in zip(st.columns(4), tiles, strict=True):
        column.metric(name, value, border=True)
    text = _("About {time} of reading in all, {each} for each of {people} people at {seconds} s a sentence.")
    seconds = labels * SECONDS_A_LABEL
    times = {"time": duration(seconds), "each": duration(seconds / per_item)}
    said = [text.format(**times, people=per_item, seconds=SECONDS_A_LABEL)]
    width = sample.reach
    if width is not None:
        told = _("A difference of less than {points} percentage points between the two shares can be missed.")
        said.append(told.format(points=f"{100 * width:.0f}"))
    if sample.left_out:
        said.append(_("Excluded for lack of a finite value: {count}.").format(count=f"{sample.left_out:,}"))
    if sample.repeated:
        said.append(_("Excluded as repeated sentences: {count}.").format(count=f"{sample.repeated:,}"))
    st.caption(plain(("" if language() == "zh" else " ").join(said)))
    _shortages(sample)


def _shortages(sample: AuditSample) -> None:
    if not sample.shortages:
        return
    side = {"male": _("male word"), "female": _("female word")}
    parts = [named(in_brackets(s.pair, side[s.side]), f"{s.found}/{s.wanted}") for s in sample.shortages]
    text = _("Too few ordinary sentences of the same pair and side: {cells}. They are not replaced by others.")
    st.warning(plain(text.format(cells=clauses(parts))), icon=":material/warning:")


@asks("create_projects")
def _send(store: Store, sample: AuditSample, name: str, people: str, per_item: int, run: str) -> None:
    names = names_in(people)
    try:
        made: Project = audit_projects.create_audit_project(
            store, sample, name, names, per_item=per_item, language=language(), run=run
        )
        own_new_project(store, made)
    except EvenhandError as error:
        show_error(error)
        return
    st.session_state["audit-made"] = made.name
    st.session_state["audit"] = made.uid
    st.rerun()


def show_leaks(source: ScoreFile, models: list[str]) -> None:
    """Is an extreme value a lean of the model, or does the sentence give the answer away? People judge."""
    with open_store() as store:
        show_audit(rows_for(source, models), store, source.name)
