"""Review: one annotator's desk. ?project=NAME&annotator=NAME opens it."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.review.desk import show_desk
from evenhand.pages.ui.address import enter_project
from evenhand.pages.ui.choose import choose_project, own_desks
from evenhand.pages.ui.text import _, caption, inform, language, plain, warn
from evenhand.pages.ui.visitor import open_store, own_projects, page_head, page_link, visitor


def asked_for(store: Store) -> tuple[Project, Annotator] | None:
    """Return the desk that the address names, else the one of this visit; None where that desk does not exist."""
    asked = [st.query_params.get(key) for key in ("project", "annotator")]
    names = [st.session_state.get(f"desk_{key}") for key in ("project", "annotator")]
    # An address that names an annotator or another project is not completed with who was at the desk before.
    if asked[1] or asked[0] not in (None, "", names[0]):
        names = asked
    open_to_me = own_projects(store)
    if not names[1] and visitor(store) is not OPEN:
        # Who has an account has one desk a project: with one project there is nothing to choose.
        desks = [
            (project, desk)
            for project in open_to_me
            for desk in own_desks(store, project)
            if names[0] in (None, project.name)
        ]
        return desks[0] if len(desks) == 1 else None
    if not names[1]:
        return None
    stored_project = next((project for project in open_to_me if project.name == names[0]), None)
    person = (
        next((own_desk for own_desk in own_desks(store, stored_project) if own_desk.name == names[1]), None)
        if stored_project
        else None
    )
    if stored_project is None or person is None:
        # Of a project in the address that is not there, the choice among the others says so.
        if stored_project or names[0] != asked[0] or not open_to_me:
            warn("{annotator} has no desk in {project}.", annotator=names[1], project=names[0])
        return None
    return stored_project, person


def remember(project: Project | None, annotator: Annotator | None) -> None:
    for key, value in (("project", project), ("annotator", annotator)):
        st.session_state[f"desk_{key}"] = value.name if value else None
        if value:
            st.query_params[key] = value.name
        elif key in st.query_params:
            del st.query_params[key]


def choose(store: Store) -> None:
    page_head("Read a sentence and label it with one key. First choose your name.")
    project = choose_project(store)
    if project is None:
        return
    people = own_desks(store, project)
    if not people:
        inform("This project has no annotators yet. Add them on the Projects page.")
        return
    caption("Who is labelling?")
    with st.container(horizontal=True, key="annotators"):
        for person in people:
            st.button(plain(person.name), key=f"annotator-{person.uid}", on_click=remember, args=(project, person))


def leave(project: Project) -> None:
    remember(None, None)
    enter_project(project.name)


with open_store() as store:
    if desk := asked_for(store):
        remember(*desk)
        st.set_page_config(initial_sidebar_state="collapsed")
        head = st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key="desk-room"
        )
        with head:
            st.title(_("Review"))
            where = {"project": desk[0].name, "annotator": desk[1].name}
            page_link("record/page.py", label=_("My record"), icon=":material/history:", query_params=where)
            st.button(
                _("Switch annotator or project"),
                key="leave",
                type="tertiary",
                icon=":material/logout:",
                on_click=leave,
                args=(desk[0],),
            )
        show_desk(store, *desk, language())
    else:
        choose(store)
