"""Before a release: the checklist, licence and source, and the form that starts the job."""

import re

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import change_project, counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.release.readiness import Check, checked_reason, checked_version, readiness, to_explain
from evenhand.annotations.release.records import releases
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.language import translate
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.jobs import is_active, start_job
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.text import _, language, plain
from evenhand.pages.ui.visitor import ask_author, author, page_link

ICONS = {"missing": ":material/cancel:", "note": ":material/info:", "done": ":material/check_circle:"}


def show_checks(store: Store, project: Project) -> bool:
    """The checklist; returns whether a release can be made."""
    st.subheader(_("Before a release"), anchor=False)
    checks = readiness(store, project)
    words = {"missing": _("missing"), "note": _("note"), "done": _("done")}
    for one in checks:
        st.markdown(f"{ICONS[one.state]} **{plain(words[one.state])}** · {plain(_sentence(one))}")
    _show_ways(checks)
    return all(one.state != "missing" for one in checks)


def _sentence(check: Check) -> str:
    said = translate(check.message, language())
    return said.format(**check.values) if check.values else said


def _show_ways(checks: list[Check]) -> None:
    pages = {
        "pilot": ("pilot/page.py", _("Pilot and guideline")), "cases": ("adjudication/page.py", _("Adjudicate")),
        "kept": ("review/page.py", _("Review")), "open": ("review/page.py", _("Review")),
        "items": ("projects/page.py", _("Projects")),
    }  # fmt: skip
    shown = set()
    with st.container(horizontal=True):
        for one in checks:
            if one.state != "done" and one.code in pages and pages[one.code] not in shown:
                path, name = pages[one.code]
                shown.add(pages[one.code])
                page_link(path, label=name, icon=":material/arrow_forward:")


@asks("release")
def show_rights(store: Store, project: Project) -> None:
    """Licence and source statement, which all later releases hold."""
    with st.form(f"rights-{project.id}", border=True, enter_to_submit=False):
        licence = st.text_input(
            _("Data set licence"),
            project.licence,
            placeholder="CC BY 4.0",
            max_chars=200,
            key=f"licence-{project.id}",
        )
        statement = st.text_area(
            _("Source statement"), project.source_statement, max_chars=4_000, key=f"source-{project.id}",
            placeholder=_("Where the texts come from and on what basis they may be redistributed"), height=110,
        )  # fmt: skip
        if st.form_submit_button(_("Save")):
            try:
                rights = {"licence": licence.strip(), "source_statement": statement.strip()}
                who = author(store)
                change_project(store, project, author=who, **rights)
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()


@asks("release")
def show_form(store: Store, project: Project, *, ready: bool) -> None:
    """Version, author and notes; the button starts a job."""
    busy = is_active(store, "release")
    with st.container(border=True):
        first, second = st.columns(2)
        last = releases(store, project)
        suggested = next_version(last[-1].version if last else None)
        version = first.text_input(_("Version"), suggested, max_chars=40, key=f"version-{project.id}-{len(last)}")
        with second:
            who = ask_author(
                store,
                _("Your name"),
                key="release_author",
                help=_("Kept in the database only; not written to any file."),
            )
        notes = st.text_area(
            _("Notes"), max_chars=4_000, key=f"notes-{project.id}-{len(last)}", height=80,
            placeholder=_("Further remarks on this release"),
        )  # fmt: skip
        reason = _ask_reason(store, project, f"{project.id}-{len(last)}") if ready else ""
        text = _(
            "Release {version} of {project} will hold {items} kept items. A release cannot be changed, withdrawn or"
            " deleted."
        )
        items = f"{counts(store, project).accepted:,}"
        pressed = confirmed(
            _("Create release"),
            text.format(version=version, project=project.name, items=items),
            _("Create release {version}").format(version=version),
            key="create-release", icon=":material/inventory_2:", primary=True, disabled=not ready or busy,
        )  # fmt: skip
    if not ready:
        st.caption(_("The button becomes active once nothing on the list is missing."))
    if pressed:
        try:
            _start(project, version, who, notes, reason)
        except EvenhandError as error:
            show_error(error)
        else:
            st.rerun()


def _ask_reason(store: Store, project: Project, place: str) -> str:
    """Why the set is released although something speaks against it; "" where nothing does."""
    found = _to_explain(state(store), project.uid, store, project)
    if not found:
        return ""
    for one in found:
        st.markdown(f":material/warning: {plain(_sentence(one))}")
    return st.text_area(
        _("Reason for releasing anyway (goes into the data sheet)"), max_chars=4_000, key=f"reason-{place}", height=80
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _to_explain(now: tuple[str, ...], uid: str, _store: Store, _project: Project) -> list[Check]:
    return to_explain(_store, _project)


@asks("release")
def _start(project: Project, version: str, who: str, notes: str, reason: str) -> None:
    from evenhand.annotations.release.make import RELEASE, Settings
    from evenhand.annotations.release.records import refuse_taken

    version = checked_version(version)
    with open_store(project) as store:
        refuse_taken(store, project, version)
        checked_reason(store, project, reason)
        settings = Settings(
            project.name, version, notes=notes.strip(), reason=reason.strip(), author=who.strip(), uid=project.uid
        )
        title = Notice(N_("Release {version} of {project}"), {"version": version, "project": project.name})
        start_job(store, RELEASE, settings, title, project=project)


def next_version(last: str | None) -> str:
    """The proposed version of the next release: 1.0 first, 1.1 after 1.0; "" after any other name."""
    if last is None:
        return "1.0"
    found = re.fullmatch(r"(\d{1,9})\.(\d{1,9})", last)
    return f"{found[1]}.{int(found[2]) + 1}" if found else ""
