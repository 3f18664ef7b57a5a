"""The annotators of a project: progress of each; add, rename, replace, deactivate, reactivate."""

from collections.abc import Callable

import streamlit as st

from evenhand.annotations.accounts.links import uninvited
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.projects.annotators import participants
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotators,
    other_projects,
    remove_annotator,
    rename_annotator,
    replace_annotator,
)
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.projects.consent import show_consent, show_groups
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.text import plain, series
from evenhand.pages.ui.visitor import page_link


@asks("change_projects")
def show_people(store: Store, project: Project) -> None:
    """The annotators with progress and a link to each desk, and a field to add more."""
    if error := st.session_state.pop("people-error", None):
        show_error(error)
    if done := st.session_state.pop("people-done", None):
        st.success(plain(done), icon=":material/check:")
    by_link = participants(store, project)
    everybody = [one for one in annotators(store, project, active=False) if one.id not in by_link]
    people = [one for one in annotators(store, project) if one.id not in by_link]
    left = [one for one in everybody if one not in people]
    if not people:
        st.info(_("There are no annotators yet. Add the first one."))
    _show_uninvited(store, project)
    for person in people:
        _person(store, project, person)
    with st.form("add_people", border=False, clear_on_submit=True):
        names = st.text_area(_("More annotators, one per line"), key="new_annotators", height=90)
        if st.form_submit_button(_("Add annotators"), icon=":material/person_add:", key="add_annotators"):
            try:
                add_annotators(store, project, [line for line in names.splitlines() if line.strip()])
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()
    if by_link:
        st.caption(plain(_("Participants of online studies ({number})").format(number=f"{len(by_link):,}")))
        page_link("study/page.py", label=_("Online studies"), icon=":material/link:")
    if everybody:
        show_consent(store, project)
        show_groups(store, project)
    if left:
        with st.expander(_("Former annotators ({number})").format(number=len(left)), expanded=not people):
            for person in left:
                _former_annotator(store, project, person)


def _show_uninvited(store: Store, project: Project) -> None:
    """Name the annotators who can open no desk because they have neither an account nor an open invitation."""
    names = uninvited(store, project)
    if not names:
        return
    text = _("No account and no open invitation yet: {names}. They can label once you have invited them.")
    st.info(plain(text.format(names=series(names))), icon=":material/mail:")
    where = {"project": project.name}
    page_link("accounts/page.py", label=_("Invite annotators"), icon=":material/mail:", query_params=where)


def _person(store: Store, project: Project, person: Annotator) -> None:
    own = own_progress(store, project, person)
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small"):
        st.markdown(f"**{plain(person.name)}**", width=180)
        text = _("{labelled} of {total}").format(labelled=f"{own.labelled:,}", total=f"{own.total:,}")
        st.progress(own.labelled / own.total if own.total else 0.0, text, width=180)
        where = {"project": project.name, "annotator": person.name}
        page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
        page_link("record/page.py", label=_("Record"), icon=":material/history:", query_params=where)
        with st.popover(_("Change"), icon=":material/manage_accounts:", type="tertiary", key=f"change-{person.uid}"):
            _rename(store, project, person)
            _replace(store, project, person)
            _leaving(project, person)


def _former_annotator(store: Store, project: Project, person: Annotator) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        own = own_progress(store, project, person)
        st.markdown(f"**{plain(person.name)}**", width=200)
        st.caption(plain(_("{labels} labels, which stay and count").format(labels=f"{own.labelled:,}")))
        where = {"project": project.name, "annotator": person.name}
        page_link("record/page.py", label=_("Record"), icon=":material/history:", query_params=where)
        st.button(
            _("Reactivate"), key=f"return-{person.uid}", icon=":material/person_add:", on_click=_reactivate,
            args=(project, person),
        )  # fmt: skip


def _rename(store: Store, project: Project, person: Annotator) -> None:
    st.text_input(_("New name"), person.name, key=f"name-{person.uid}", max_chars=80)
    if others := other_projects(store, project, person):
        text = _("{name} has the same name in every project, so it changes in {projects} too.")
        st.caption(plain(text.format(name=person.name, projects=series(others))))
    st.button(_("Rename"), key=f"rename-{person.uid}", on_click=_rename_now, args=(project, person))


def _replace(store: Store, project: Project, person: Annotator) -> None:
    st.divider()
    st.text_input(_("Successor"), key=f"successor-{person.uid}", max_chars=80, placeholder=_("Name of a person"))
    text = _(
        "The open items of {name} move to the successor, who may be new or an existing annotator. The"
        " labels of {name} stay and count; {name} gets no more items."
    )
    st.caption(plain(text.format(name=person.name)))
    st.button(_("Replace"), key=f"replace-{person.uid}", on_click=_replace_now, args=(project, person))


def _leaving(project: Project, person: Annotator) -> None:
    st.divider()
    text = _("{name} gets no more items; those on the desk go to others. The labels stay and count.")
    st.caption(plain(text.format(name=person.name)))
    label = _("Deactivate {name}").format(name=person.name)
    st.button(plain(label), key=f"leave-{person.uid}", on_click=_let_leave, args=(project, person))


def _tried(act: Callable[[Store], str]) -> None:
    """Run an action and keep its message for the next run, because a callback cannot show it in place."""
    try:
        with open_store() as store:
            st.session_state["people-done"] = act(store)
    except EvenhandError as error:
        st.session_state["people-error"] = error


@asks_at_click("change_projects")
def _rename_now(project: Project, person: Annotator) -> None:
    name = st.session_state[f"name-{person.uid}"]

    def act(store: Store) -> str:
        renamed = rename_annotator(store, project, person, name)
        if st.session_state.get("desk_annotator") == person.name:  # the desk of this visit is opened by name
            st.session_state["desk_annotator"] = renamed.name
        return _("{old} is now called {new}.").format(old=person.name, new=renamed.name)

    _tried(act)


@asks_at_click("change_projects")
def _replace_now(project: Project, person: Annotator) -> None:
    name = st.session_state[f"successor-{person.uid}"]

    def act(store: Store) -> str:
        new = replace_annotator(store, project, person, name)
        return _("{new} has replaced {old}.").format(new=new.name, old=person.name)

    _tried(act)


@asks_at_click("change_projects")
def _let_leave(project: Project, person: Annotator) -> None:
    def act(store: Store) -> str:
        remove_annotator(store, project, person)
        return _("{name} was deactivated. The labels stay and count.").format(name=person.name)

    _tried(act)


@asks_at_click("change_projects")
def _reactivate(project: Project, person: Annotator) -> None:
    def act(store: Store) -> str:
        add_annotators(store, project, [person.name])
        return _("{name} was reactivated.").format(name=person.name)

    _tried(act)
