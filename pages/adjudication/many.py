"""Many cases at once on the page Adjudicate: one decision for all that match the filters, and its undo."""

import uuid
from collections.abc import Sequence
from typing import Any

import streamlit as st

from evenhand.annotations.adjudication.decisions import case
from evenhand.annotations.adjudication.many_decisions import (
    ManyDecisions,
    decide_cases,
    labels_in_view,
    reopen_cases,
)
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Guideline, Project
from evenhand.core.language import explain
from evenhand.pages.adjudication.case import LEAVE, names_of, show_case
from evenhand.pages.ui.text import _, caption, language, named, paragraph, plain
from evenhand.pages.ui.visitor import ask_author, asks, asks_at_click, author, confirmed, errors_shown, open_store

MOST = 200  # cases decided at once
SHOWN = 3
ACT = "act-at-once"  # in the session: the id of the act that is about to be stored
DONE = "decided-at-once"  # in the session: project, acts that can be taken back


@asks("settle")
def decide_many(store: Store, project: Project, guideline: Guideline, cases: Sequence[str]) -> None:
    """Show one decision for all *cases* (public ids), some of them to read, and a button that stores it."""
    chosen = cases[:MOST]
    st.header(_("{n} cases at once", n=f"{len(chosen):,}"))
    if len(cases) > MOST:
        caption("The first {most} of {n} cases; the others follow.", most=MOST, n=f"{len(cases):,}")
    names = names_of(guideline)
    ask_author(store, _("Adjudicator"), persist_state="session", placeholder=_("Your name"))
    choice = st.selectbox(
        _("Decision for all of them"), [LEAVE, *_choices(project, guideline)], None,
        lambda code: _("Confirm labels") if code == LEAVE else names[code], key="many-choice",
        placeholder=_("Choose a decision"),
    )  # fmt: skip
    reasons = st.multiselect(
        _("Reasons"), [reason.code for reason in guideline.reasons], format_func=names.__getitem__, key="many-reasons",
        placeholder=_("no reason"),
    )  # fmt: skip
    why = st.text_area(_("Why"), key="many-why", height=80, placeholder=_("Why this label?"))
    if choice is not None:
        name = _("Confirm labels") if choice == LEAVE else names[choice]
        text = _(
            "{n} cases: {choice}. Each gets a decision of its own, with this reason; a case whose labels have changed"
            " is left out. You can undo this.",
            n=f"{len(chosen):,}", choice=name,
        )  # fmt: skip
        if choice != LEAVE and _has_flag(project, guideline):
            text = paragraph((text, _("The flag for extraneous gendered language is stored as not set.")))
        look: dict[str, Any] = {"icon": ":material/done_all:", "primary": True}
        if confirmed(_("Decide all"), text, _("Decide now"), key="decide-many", **look):
            _store(store, project, guideline, chosen, None if choice == LEAVE else choice, tuple(reasons), why)
    st.caption(plain(_("The first of them:")))
    for uid in chosen[:SHOWN]:
        show_case(case(store, project, uid), guideline)


def _has_flag(project: Project, guideline: Guideline) -> bool:
    """Return whether labels have the flag for extraneous gendered language."""
    return project.kind == "generations" and guideline.scheme is None and not guideline.compares


def _choices(project: Project, guideline: Guideline) -> list[str]:
    """Return the labels that need no marks and that the project allows."""
    barred = {"accept"} if project.gold == "unanimous" and not project.rescue else set()
    if _has_flag(project, guideline):
        barred = {"misgendering"}
    return [choice.code for choice in guideline.choices if choice.code not in barred]


@asks("settle")
def _store(
    store: Store, project: Project, guideline: Guideline, cases: Sequence[str], choice: str | None,
    reasons: tuple[str, ...], why: str,
) -> None:  # fmt: skip
    flag = False if choice is not None and _has_flag(project, guideline) else None
    # One id per screen, so that a double click is one act.
    act = st.session_state.setdefault(ACT, uuid.uuid4().hex)
    with errors_shown():
        done = decide_cases(
            store, project, labels_in_view(store, project, cases), adjudicator=author(store), choice=choice,
            reasons=reasons if choice else (), extraneous=flag, why=why, act=act,
        )  # fmt: skip
        if done.refused and not done.stored:
            raise done.refused[0][1]
        del st.session_state[ACT]
        st.session_state[DONE] = (project.uid, done)
        st.rerun()


def show_undo(store: Store, project: Project) -> None:
    """Show what was decided at once in this visit, and a button that takes it back."""
    of, done = st.session_state.get(DONE, ("", ManyDecisions((), ())))
    if of != project.uid:
        return
    st.success(plain(_("{n} cases are settled.", n=f"{len(done.stored):,}")), icon=":material/gavel:")
    for item, error in done.refused[:SHOWN]:
        st.warning(plain(named(item, explain(error, language()))))
    if done.stored:
        st.button(_("Undo"), key="undo-many", icon=":material/undo:", on_click=_undo, args=(project, done))


@asks_at_click("settle")
def _undo(project: Project, done: ManyDecisions) -> None:
    with open_store(project, "settle") as store:
        taken_back = reopen_cases(store, project, done.stored, adjudicator=author(store))
    del st.session_state[DONE]
    st.toast(_("{n} cases are open again.", n=f"{len(taken_back.stored):,}"), icon=":material/undo:")
