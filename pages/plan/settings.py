"""The settings on the page Labelling plan: the plan, the share, retests, the effect of a change, pre-registration."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.events import Event, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.wanted_labels import plan_effects
from evenhand.annotations.projects.preregistration import Sheet, form, preregister, sheets
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.projects.steps import state
from evenhand.annotations.queue.leases import on_desks
from evenhand.annotations.types import Plan, Project
from evenhand.pages.plan.forecast import plan_name
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.head import errors_shown, remembered
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks, confirmed, say_changes
from evenhand.pages.ui.text import _, caption, clauses, inform, language, named, plain, warn, write
from evenhand.pages.ui.visitor import ask_author, author

SHOWN = 10  # changes in the list


@asks("change_projects")
def show_settings(store: Store, project: Project) -> None:
    """The fields, the effect of their change on labelled items, and the button that stores them."""
    asked = (_ask_plan(project) if project.kind == "sentences" else {}) | _ask_again(project)
    changed = {field: value for field, value in asked.items() if value != getattr(project, field)}
    if {"plan", "per_item", "share"} & set(changed):
        _say_effects(store, project, asked)
    if changed.get("plan") == "stop":
        _say_on_desks(store, project)
    if changed:
        say_changes(
            [(_field(name), _value(name, getattr(project, name)), _value(name, new)) for name, new in changed.items()],
            published=True,
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask_author(store, _("Plan author"), persist_state="session", placeholder=_("Your name"), width=240)
        if st.button(_("Save plan"), type="primary", key="save_plan", disabled=not changed):
            _save(store, project, changed)
    if not changed:
        caption("This plan is in force.")


def _ask_plan(project: Project) -> dict[str, Any]:
    plans: tuple[Plan, Plan] = ("all", "stop")
    place = project.uid
    captions = (
        _("Every sentence gets the full number of labels, whatever the first ones say."),
        _("A single reject drops a sentence and ends its labelling, except in the random share."),
    )
    chosen = st.radio(
        _("Labelling of each sentence"),
        plans,
        plans.index(project.plan),
        format_func=lambda plan: plan_name(plan)[:1].upper() + plan_name(plan)[1:],
        captions=captions,
        key=f"plan-{place}",
    )
    if chosen == "stop" and project.gold != "unanimous":
        warn("Stopping at the first reject requires the rule that all must accept; this project decides by majority.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        per_item = st.number_input(
            _("Labels for each sentence"), 1, 100, project.per_item, key=f"per-{place}", width=200
        )
        share = 100 * project.share
        if chosen == "stop":
            share = _ask_share(share, f"share-{place}")
    if chosen == "stop":
        caption(
            "Everybody labels these items, whatever the first label is, and agreement is computed on"
            " them: elsewhere, only sentences that people accepted have several labels."
        )
        caption(
            "Annotators who work at the same time share the work evenly. Those who begin after the"
            " others get only what the others accepted, plus the random share."
        )
        if not share:
            warn("Without a random share, agreement cannot be measured.")
    return {"plan": chosen, "per_item": int(per_item), "share": round(share / 100, 6)}


def _ask_share(share: float, key: str) -> float:
    help_text = _("Drawn with the project's seed before any label is made; nobody can tell which items belong to it.")
    label = _("Random share (%)")
    return st.number_input(label, 0.0, 100.0, round(share, 2), 1.0, format="%g", key=key, width=200, help=help_text)


def _ask_again(project: Project) -> dict[str, Any]:
    place = project.uid
    with st.container(horizontal=True, vertical_alignment="bottom"):
        retest = st.number_input(
            _("Retest rate (% of an annotator's own items)"),
            0.0,
            100.0,
            round(100 * project.retest, 2),
            1.0,
            format="%g",
            key=f"retest-{place}",
            width=280,
            help=_(
                "Retests look like any other item. The Quality page shows how far annotators agree with themselves."
            ),
        )
        hours = st.number_input(
            _("Minimum interval in hours"), 0, 8760, project.retest_hours, key=f"hours-{place}", width=200
        )
    return {"retest": round(retest / 100, 6), "retest_hours": int(hours)}


def _say_effects(store: Store, project: Project, asked: dict[str, Any]) -> None:
    with st.spinner(_("Looking at the labelled items …"), show_time=False):
        wanted = {name: asked[name] for name in ("plan", "per_item", "share")}
        found = remembered(state(store), plan_effects, project, **wanted)
    labelled = sum(found)
    if not labelled:
        inform("No sentence has a label yet: the plan applies from the first one.")
        return
    text = _(
        "Of {labelled} labelled sentences, {decided} would be decided by their labels, {reopened} would"
        " need more labels, and {same} stay as they are. No label is lost."
    )
    numbers = {name: f"{getattr(found, name):,}" for name in ("decided", "reopened", "same")}
    st.info(text.format(labelled=f"{labelled:,}", **numbers), icon=":material/preview:")


def _say_on_desks(store: Store, project: Project) -> None:
    waiting = on_desks(store, project)
    if waiting:
        text = _(
            "{number} sentences are on open desks and stay there. Labels are saved only on sentences"
            " handed out after the change."
        )
        st.info(text.format(number=f"{waiting:,}"), icon=":material/rate_review:")


@asks("change_projects")
def _save(store: Store, project: Project, changed: dict[str, Any]) -> None:
    with errors_shown():
        with st.spinner(_("Recounting the labelled items …"), show_time=False):
            change_project(store, project, author=author(store), **changed)
        st.toast(_("The plan is saved."), icon=":material/check:")
        st.rerun()


def show_changes(store: Store, project: Project) -> None:
    """Former plans, newest first."""
    found = events(store, project, action="plan", last=SHOWN)
    if not found:
        return
    with st.expander(_("Plan history")):
        for event in reversed(found):
            who = f" · {event.author}" if event.author else ""
            st.caption(plain(named(f"{moment(event.created)}{who}", _change_text(event))))


def _change_text(event: Event) -> str:
    old, new = event.data.get("old", {}), event.data.get("new", {})
    return clauses(named(_field(name), f"{_value(name, old.get(name))} → {_value(name, new[name])}") for name in new)


def _field(name: str) -> str:
    return {
        "plan": _("plan"),
        "per_item": _("labels for each item"),
        "share": _("random share"),
        "gold": _("rule"),
        "doubled": _("sample with several labels"),
        "retest": _("retest rate"),
        "retest_hours": _("minimum interval (hours)"),
    }.get(name, name)


def _value(name: str, value: Any) -> str:
    if value is None:
        return "—"
    if name == "plan":
        return plan_name(value)
    if name == "gold":
        return {"unanimous": _("all must accept"), "majority": _("the majority")}.get(value, str(value))
    return f"{100 * value:g}%" if name in ("share", "retest") else str(value)


@asks("change_projects")
def show_preregistration(store: Store, project: Project) -> None:
    """The sheets in the log, and a form for one more."""
    st.subheader(_("Pre-registration"), anchor=False)
    for one in sheets(store, project):
        _show(one)
    with st.expander(_("Add a pre-registration to the log"), icon=":material/edit_note:"):
        write(
            "What you expect, which measures decide, how large a difference matters, and when"
            " labelling ends. The text is stored with its time and hash and never changes; a release"
            " shows it beside what was done."
        )
        text = st.text_area(_("Pre-registration (Markdown)"), form(language()), height=360, key="sheet-text")
        late = switch(
            _("Add it although labels exist"), key="sheet-late",
            box=True, explained=_("The number of labels is noted, and a release states it."),
        )  # fmt: skip
        said = _("The text is stored with its time and hash. It can never be changed or removed, and releases show it.")
        if confirmed(_("Add to log"), said, _("Add it permanently"), key="sheet-write", icon=":material/lock:"):
            with errors_shown():
                preregister(store, project, text, late=late)
                st.rerun()


def _show(one: Sheet) -> None:
    when = moment(one.written)
    if one.labels:
        title = _("Pre-registration of {time}, after {n} labels", time=when, n=f"{one.labels:,}")
    else:
        title = _("Pre-registration of {time}, before any label", time=when)
    with st.expander(plain(title), icon=":material/lock:"):
        st.text(one.text)
        st.caption(plain(f"SHA-256 {one.sha256}"))
