"""The navigation: three areas, of which one is open: the project of this visit with its steps in the order of work,
texts, models.

The state of a step depends on the labels of all annotators. Annotators, and visitors with a desk open in this visit,
must not see those first: they see only their own work.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.pilot.pilots import own_pilot
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.projects.steps import State, Step, StepCounts, StepState, facts, latest, next_step, steps
from evenhand.annotations.sampling.samples import own_sample
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.catalogue import PageSpec, page_at, page_in, pages_in
from evenhand.pages.ui.address import PROJECT, PROJECT_PAGES, enter_project, project_of_visit
from evenhand.pages.ui.choose import annotator_at_desk, choose_in_rail, has_project_choice
from evenhand.pages.ui.text import _, language, plain
from evenhand.pages.ui.visitor import may, opens, own_projects, page_link, sees_project, visitor

ICONS: dict[State, str] = {
    "done": ":material/check_circle:",
    "waiting": ":material/pending:",
    "not begun": ":material/radio_button_unchecked:",
}
NEXT_ICON = ":material/arrow_circle_right:"
# The page of each step, and the part of it that the step is about.
PLACES: dict[Step, tuple[str, str]] = {
    "sources": ("projects/page.py", "files"),
    "guideline": ("pilot/page.py", ""),
    "plan": ("plan/page.py", ""),
    "people": ("projects/page.py", "people"),
    "review": ("review/page.py", ""),
    "adjudication": ("adjudication/page.py", ""),
    "progress": ("progress/page.py", ""),
    "agreement": ("agreement/page.py", ""),
    "quality": ("quality/page.py", ""),
    "describe": ("describe/page.py", ""),
    "release": ("release/page.py", ""),
}


@dataclass(frozen=True, slots=True)
class ProjectProgress:
    """Where a project is, for one visitor. `states`: of the steps that may be seen; `next`: None: nothing waits.

    `uninvited`: annotators who have neither an account nor an open invitation.
    """

    project: Project
    states: dict[Step, StepState]
    next: Step | None
    uninvited: int = 0


def place_of(step: Step, project: Project) -> tuple[str, dict[str, str]]:
    """Return the page of a step of a project, and what its address says."""
    file, part = PLACES[step]
    return file, {"project": project.name} | ({"section": part} if part else {})


def way(store: Store, project: Project) -> ProjectProgress:
    """Return the steps of a project as the visitor may see them."""
    mine = annotator_at_desk(store, project)
    open_to_me: list[Step] = [step for step, (file, _part) in PLACES.items() if opens(file)]
    if mine is None and may(store, "see_all_labels", project):
        result = _facts(latest(store), project.uid, store, project)
        states = {step.step: step for step in steps(result)}
        return ProjectProgress(project, states, next_step(result, open_to_me), result.uninvited)
    left = own_remaining(store, project, mine)[0] if mine is not None else 0
    own: dict[Step, StepState] = {"review": StepState("review", "waiting" if left else "done", left or None)}
    return ProjectProgress(project, own if mine is not None else {}, "review" if left else None)


def own_remaining(store: Store, project: Project, person: Annotator) -> tuple[int, int | None]:
    """Return the open items of an annotator, from own labels only; while a pilot or a sample is open, those of it; and
    the number of the pilot."""
    if (pilot := own_pilot(store, project, person)) is not None:
        return max(0, pilot.items - pilot.labelled), pilot.number
    if (drawn := own_sample(store, project, person)) is not None:
        return drawn[1], None
    mine = own_progress(store, project, person)
    return max(0, mine.total - mine.labelled), None


@st.cache_data(max_entries=32, show_spinner=False)
def _facts(now: tuple[str, ...], uid: str, _store: Store, _project: Project) -> StepCounts:
    return facts(_store, _project)


def show_rail(page: str) -> None:
    """Show the links to where the visitor may go from *page* (its address), in the sidebar."""
    mine: list[str] = []
    try:
        with stores.borrow() as store:
            here = _project_here(store, page)
            project_progress = way(store, here) if here is not None else None
            if here is not None and has_project_choice(page):
                mine = [project.name for project in own_projects(store)]
    except (EvenhandError, sqlite3.Error):
        here = project_progress = None  # the page says by itself what is wrong
    own = (page, here.uid if here else "", here.name if here else "", project_progress, len(mine) > 1)
    reach = (sorted(st.session_state.get("open_pages", ())), st.session_state.get(PROJECT))
    with st.container(key="rail", gap=None):
        page_link("home/page.py", label=_("Home"), icon=":material/home:")
        step = _step_here(page)
        with st.container(key="rail-here" if page == "projects" and step is None else "rail-projects"):
            page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        if here is not None and len(mine) > 1:
            choose_in_rail(here.name, mine)
        where = (st.query_params.get("lang"), language(), step)
        _drawn(repr((own, reach, where)), page, project_progress, named=len(mine) < 2)


@st.cache_data(max_entries=500, show_spinner=False)
def _drawn(everything: str, page: str, _found: ProjectProgress | None, *, named: bool) -> None:
    """Show the areas of the rail, of which one is open, stored because most runs of a page send the same about forty
    elements.

    *everything* is the key: all that the elements say, and for whom. *named*: write the name of the project.
    """
    area = page_at(page).areas[0]
    if _found is not None and area not in ("texts", "models", "measures"):
        if named:
            with st.container(key="rail-project"):
                st.markdown(f"**{plain(_found.project.name)}**")
        _show_steps(_found, _step_here(page))
    elif _found is not None:
        with _area(plain(_found.project.name), is_open=False):
            _show_steps(_found, None)
    if texts := _open_here(pages_in("texts")):
        with _area(_("Texts"), is_open=area == "texts"):
            _show_links(texts)
    if models := _open_here(pages_in("models") + pages_in("measures")):
        with _area(_("Models"), is_open=area in ("models", "measures") or (_found is None and area != "texts")):
            _show_links(models)
    with st.container(key="server-links", gap=None):
        _show_links(_open_here(pages_in("server")))


def _area(name: str, *, is_open: bool) -> ExpanderContainer:
    return st.expander(name, expanded=is_open, type="compact")


def _open_here(pages: Sequence[PageSpec]) -> list[PageSpec]:
    """Return the *pages* that the visitor may open."""
    return [page for page in pages if opens(page.file)]


def _show_links(pages: Sequence[PageSpec], project: Project | None = None) -> None:
    for page in pages:
        where = {"project": project.name} if project else None
        page_link(page.file, label=_(page.title), icon=page.symbol, query_params=where)


def show_next(store: Store, project: Project) -> str:
    """Show the link that leads on after an action in a project: to its next step, else to its progress. Return that
    page."""
    project_progress = way(store, project)
    step: Step = project_progress.next or "progress"
    file, where = place_of(step, project)
    text = _("Next in {project}: {step}", project=project.name, step=step_names()[step])
    page_link(file, label=f"**{plain(text)}**", icon=NEXT_ICON, query_params=where)
    return file


def _project_here(store: Store, page: str) -> Project | None:
    """Return the project of this visit; the address of each page that is about one names it."""
    person = visitor(store)
    result = {project.name: project for project in projects(store) if sees_project(person, project)}
    name = project_of_visit(list(result))
    if name is not None and page in PROJECT_PAGES and st.query_params.get("project", name) in result:
        enter_project(name)  # an address that names no project stays: the page says that there is none
    return result[name] if name is not None else None


def _show_steps(project_progress: ProjectProgress, here: Step | None) -> None:
    names = step_names()
    for step in PLACES:
        file, where = place_of(step, project_progress.project)
        if not opens(file):
            continue
        known = project_progress.states.get(step)
        icon = (
            NEXT_ICON if step == project_progress.next else ICONS[known.state] if known else ":material/arrow_forward:"
        )
        with st.container(key="rail-here") if step == here else st.container(key=f"rail-{step}"):
            number = f" :gray[{known.number:,}]" if known and known.number is not None else ""
            label = (
                f"**{names[step]}**{number} :violet-badge[{_('next')}]"
                if step == project_progress.next
                else f"{names[step]}{number}"
            )
            help = state_text(known) if known else None
            page_link(file, label=label, icon=icon, query_params=where, help=help)
    _show_links(_open_here(_other_pages(project_progress.project)), project_progress.project)


def state_text(known: StepState) -> str:
    """Return the state of a step in words."""
    if known.state == "waiting":
        return _("waiting: {number}", number=f"{known.number:,}") if known.number else _("waiting")
    return _("done") if known.state == "done" else _("not started")


def step_names() -> dict[Step, str]:
    """Return the name of each step: that of its page, but for the two steps on the page Projects."""
    own: dict[Step, str] = {"sources": _("Sources"), "people": _("People")}
    return {
        step: own.get(step) or _(page_in(file.removesuffix("/page.py")).title) for step, (file, _part) in PLACES.items()
    }


def _step_here(page: str) -> Step | None:
    if page == "projects":
        if "project" not in st.query_params:
            return None
        part = st.session_state.get("section") or st.query_params.get("section", "files")
        return "people" if part == "people" else "sources" if part in ("files", "imports") else None
    folder = page.replace("-", "_")
    return next((step for step, (file, _part) in PLACES.items() if file == f"{folder}/page.py"), None)


def _other_pages(project: Project) -> list[PageSpec]:
    """Return the pages of a project that are not a step of its work."""
    hidden = set[str]()
    if project.kind != "generations":
        hidden.add("human_vs_rule")
    if opens("pilot/page.py"):  # which shows the guideline too
        hidden.add("guideline")
    return [page for page in pages_in("project") if page.folder not in hidden]
