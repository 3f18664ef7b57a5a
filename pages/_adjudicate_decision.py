"""The decision on the page Adjudicate: a choice, its reasons, why; or left as it is; or reopened."""

import uuid

import streamlit as st

from annotations.adjudication import Case, reopen, settle_case
from annotations.store import Store
from annotations.types import Guideline, Mark, Project
from core.errors import EvenhandError
from pages._adjudicate_case import names_of
from pages._widgets import _, plain, show_error


def decision(store: Store, project: Project, found: Case, asked: Guideline) -> None:
    """The fields of a decision on the case that is shown, and its buttons."""
    st.subheader(_("Decision"))
    st.text_input(_("Who decides"), key="adjudicator", persist_state="session", placeholder=_("Your name"))
    if found.settlement is not None:
        _settled(store, project, found)
        return
    key, names = found.item.uid, names_of(asked)
    choice = st.segmented_control(
        _("Label"),
        [each.code for each in asked.choices],
        format_func=lambda code: plain(names[code]),
        key=f"choice-{key}",
    )
    reasons = st.multiselect(
        _("Reasons") if project.kind == "sentences" else _("Tags"),
        [each.code for each in asked.reasons],
        format_func=lambda code: plain(names[code]),
        placeholder=_("none"),
        key=f"reasons-{key}",
    )
    extraneous, marks = _generation(found, choice) if project.kind == "generations" else (None, ())
    why = st.text_area(_("Why"), key=f"why-{key}", height=80, placeholder=_("For the record: why this label?"))
    with st.container(horizontal=True):
        decide = st.button(
            _("Decide this case"), type="primary", icon=":material/gavel:", key="decide", disabled=not choice
        )
        leave = st.button(_("Leave as it is"), icon=":material/skip_next:", key="leave")
    if decide or leave:
        kept = (tuple(reasons), extraneous, marks) if decide else ((), None, ())
        _store(store, project, found, choice if decide else None, kept, why)


def _generation(found: Case, choice: str | None) -> tuple[bool, tuple[Mark, ...]]:
    """The flag and the marks of a decision on a generation: those of one annotator, or of all who chose the same."""
    key = found.item.uid
    votes = [each.extraneous for each in found.said]
    extraneous = st.checkbox(
        _("extraneous gendered language"), votes.count(True) > votes.count(False), key=f"extraneous-{key}"
    )
    whose = st.selectbox(
        _("Marks"),
        ["same", *(each.letter for each in found.said), "none"],
        format_func=lambda each: plain(
            {"same": _("of all who chose the same"), "none": _("none")}.get(each, _("of {letter}").format(letter=each))
        ),
        key=f"marks-{key}",
    )
    taken = [each for each in found.said if whose in (each.letter, "same") and whose != "none"]
    if whose == "same":
        taken = [each for each in taken if each.choice == choice]
    return extraneous, _joined([mark for each in taken for mark in each.marks], extraneous)


def _joined(marks: list[Mark], extraneous: bool) -> tuple[Mark, ...]:
    """Marks without those that overlap an earlier one; those of gendered words only where the flag is set."""
    kept: list[Mark] = []
    for mark in sorted(set(marks)):
        if (not kept or mark.start >= kept[-1].end) and (extraneous or mark.kind == "pronoun"):
            kept.append(mark)
    return tuple(kept)


def _store(
    store: Store,
    project: Project,
    found: Case,
    choice: str | None,
    kept: tuple[tuple[str, ...], bool | None, tuple[Mark, ...]],
    why: str,
) -> None:
    reasons, extraneous, marks = kept
    base = found.settlements[-1].op_id if found.settlement else None
    # One id for one screen: a double click is one decision.
    op_id = st.session_state.setdefault(f"op-{found.item.uid}-{len(found.settlements)}", uuid.uuid4().hex)
    try:
        settle_case(
            store, project, found.item.uid, adjudicator=st.session_state.get("adjudicator", ""), choice=choice,
            seen=found.seen, base=base, reasons=reasons, extraneous=extraneous, marks=marks, why=why, op_id=op_id,
        )  # fmt: skip
    except EvenhandError as error:
        show_error(error)
        return
    st.toast(_("Settled."), icon=":material/gavel:")
    st.rerun()


def _settled(store: Store, project: Project, found: Case) -> None:
    if found.settlement is None or not st.button(_("Reopen"), icon=":material/undo:", key="reopen"):
        return
    try:
        name = st.session_state.get("adjudicator", "")
        reopen(store, project, found.item.uid, adjudicator=name, base=found.settlement.op_id)
    except EvenhandError as error:
        show_error(error)
        return
    st.rerun()
