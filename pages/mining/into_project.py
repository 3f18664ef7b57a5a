"""Candidates of a run into a project: a new one with quotas, or one that is there."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.mining.candidates import add_candidates
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.mining.report import Report
from evenhand.core.mining.runs import MiningRun
from evenhand.core.resources import quotas
from evenhand.pages.mining.report import known_pairs, named
from evenhand.pages.ui.choose import NEW, targets
from evenhand.pages.ui.editors import edit_quotas, say_total
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.visitor import own_new_project, own_projects, page_link

PATIENCE_S = 10.0  # a page waits so long for another file; a job waits an hour


def show_into_project(store: Store, run: MiningRun, report: Report) -> None:
    """Choose or make the project, then add what it has not got yet."""
    added = st.session_state.get("added")
    if added is not None and added[0] == run.name:
        _show_added(store, *added[1:])
    if not report.candidates:
        st.info(_("This run found no candidates."))
        return
    found = {project.name: project for project in own_projects(store) if project.kind == "sentences"}
    names = targets(found)
    if (following := st.session_state.pop("into_next", None)) in found:
        st.session_state["into"] = following
    name = st.selectbox(
        _("Project"), names, key="into", format_func=named(names, lambda one: one or _("a new project")), width=360
    )
    if name == NEW:
        _show_new(store, run, report)
        return
    st.caption(_("Only candidates that are new to the project are added; flagged ones come last in the queue."))
    if st.button(_("Add the candidates"), key="add", type="primary", icon=":material/playlist_add:"):
        _add(store, found[name], run, report)


@asks("create_projects")
def _show_new(store: Store, run: MiningRun, report: Report) -> None:
    left, right = st.columns(2, gap="large")
    name = left.text_input(_("Name"), key="new_project", max_chars=80)
    people = left.text_area(_("Annotators, one per line"), key="new_people", height=110)
    with right:
        wanted = _ask_quotas(report)
    st.caption(
        _(
            "The guideline starts with the criteria of the journal paper. Criteria and quotas can be"
            " changed on the Projects page."
        )
    )
    if st.button(_("Create the project and add candidates"), key="create_add", type="primary", icon=":material/add:"):
        try:
            project = create_project(
                store, name, annotators=[line for line in people.splitlines() if line.strip()], quotas=wanted
            )
            own_new_project(store, project)
        except EvenhandError as error:
            show_error(error)
            return
        _add(store, project, run, report)


def _ask_quotas(report: Report) -> dict[tuple[str, str], int]:
    choices = ["none", "table1", "released"] if known_pairs(report) else ["none"]
    names = {
        "none": _("No quotas"),
        "table1": _("Table 1 of the paper"),
        "released": _("As in the released file"),
    }
    preset = st.segmented_control(
        _("Quotas"), choices, default="none", required=True, key="new_quotas", format_func=names.__getitem__
    )
    if preset == "none":
        st.caption(_("Every sentence is handed out for review, with pairs and sides taking turns."))
        return {}
    mined = set(report.cells)
    wanted = edit_quotas(quotas("table1" if preset == "table1" else "released"), key=f"mine-quotas-{preset}")
    say_total(wanted, preset)
    return {cell: number for cell, number in wanted.items() if cell in mined or number}


@asks("import_files")
def _add(store: Store, project: Project, run: MiningRun, report: Report) -> None:
    if report.candidates > jobs.LARGE_LINES:
        settings = Settings(project.name, run.candidates, "candidates", uid=project.uid)
        title = Notice(N_("Candidates of {run} to {project}"), {"run": run.name, "project": project.name})
        start_job(store, IMPORT, settings, title, project=project)
        st.session_state["added"] = (run.name, project.name, None)
    else:
        bar = st.progress(0.0, _("Adding the candidates"))
        try:
            done = add_candidates(
                store,
                project,
                run.candidates,
                progress=lambda some, total: bar.progress(some / total if total else 1.0, _("Adding the candidates")),
                patience_s=PATIENCE_S,
            )
        except EvenhandError as error:
            bar.empty()
            show_error(error)
            return
        st.session_state["added"] = (run.name, project.name, (done.imported, done.duplicates, done.rejected))
    st.session_state["into_next"] = project.name
    st.rerun()


def _show_added(store: Store, project: str, numbers: tuple[int, int, int] | None) -> None:
    made = next((one for one in own_projects(store) if one.name == project), None)
    if numbers is None:
        st.success(_("A background job is adding the candidates."), icon=":material/schedule:")
        page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
        return
    text = _("{imported} candidates added to {project}; {duplicates} were already there, {rejected} were not usable.")
    imported, duplicates, rejected = (f"{number:,}" for number in numbers)
    said = text.format(imported=imported, duplicates=duplicates, rejected=rejected, project=project)
    st.success(plain(said), icon=":material/check_circle:")
    if made is not None:
        show_next(store, made)
