"""The page Home: four entrances (to annotate, to lead a project, to try a model, to measure), and the pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN
from evenhand.annotations.projects.steps import Pipeline, Step, pipeline, state
from evenhand.annotations.quantities.items import OPEN_PROJECTS
from evenhand.annotations.types import Annotator, Project
from evenhand.core.runs.records import runs_folder, runs_in, sentences_scored
from evenhand.pages.ui.choose import DEMOS, annotator_at_desk, own_desks
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.rail import PLACES, ProjectProgress, own_remaining, place_of, state_text, step_names, way
from evenhand.pages.ui.runs import own_runs
from evenhand.pages.ui.sentences import bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, plain
from evenhand.pages.ui.visitor import may, opens, page_link, visitor

LISTED = 6  # projects in an entrance


def show_entrances(store: Store, projects: Sequence[Project]) -> None:
    """Show which of the four entrances are open to the visitor, two in a row; demo projects come last in each."""
    mine = sorted(projects, key=lambda one: (one.name in DEMOS, -one.id))  # the newest first
    shown = [
        part
        for part, page in ((_annotate, "review"), (_lead, "progress"), (_try, "sentence_bias"), (_measure, "nli"))
        if opens(f"{page}/page.py") or (part is _lead and mine and not opens("review/page.py"))
    ]
    for start in range(0, len(shown), 2):
        for column, part in zip(st.columns(2), shown[start : start + 2], strict=False):
            with column, st.container(border=True, height="stretch", key=f"entrance-{part.__name__.strip('_')}"):
                part(store, mine)


def _annotate(store: Store, projects: Sequence[Project]) -> None:
    st.header(_("I annotate"), anchor=False)
    desks = [(project, desk) for project in projects for desk in _desks(store, project)]
    if not desks:
        caption("No desk yet: a project needs annotators.")
        return
    waiting: dict[str, list[tuple[Annotator, str]]] = {}
    for stored_project, desk in desks:
        left, pilot = own_remaining(store, stored_project, desk)
        text = _("{name}: {left} left") if pilot is None else _("{name}: {left} left of pilot {number}")
        if label := (text.format(name=desk.name, left=f"{left:,}", number=pilot) if left else ""):
            waiting.setdefault(stored_project.name, []).append((desk, label))
    if not waiting:
        caption("Nothing is waiting for you here.")
    for name, own in list(waiting.items())[:LISTED]:
        st.markdown(f"**{plain(name)}**")
        with st.container(horizontal=True):
            for desk, label in own:
                where = {"project": name, "annotator": desk.name}
                page_link("review/page.py", label=plain(label), icon=":material/rate_review:", query_params=where)
    if len(waiting) > LISTED:
        page_link("review/page.py", label=_("All desks"), icon=":material/rate_review:")


def _desks(store: Store, project: Project) -> list[Annotator]:
    """Return the desks of a project that this visit may open; while one is open in the open mode, that one."""
    if (open_here := annotator_at_desk(store, project)) is not None and visitor(store) is OPEN:
        return [open_here]
    return own_desks(store, project)


def _lead(store: Store, projects: Sequence[Project]) -> None:
    leads = opens("projects/page.py")
    st.header(_("I lead a project") if leads else _("My projects"), anchor=False)
    if not projects:
        caption("There is no project yet.")
    for project in projects[:LISTED]:
        _show_way(way(store, project))
    if leads:
        with st.container(horizontal=True):
            if may(store, "create_projects"):
                page_link("projects/page.py", label=_("New project"), icon=":material/add:",
                          query_params={"view": "new"})  # fmt: skip
            page_link("projects/page.py", label=_("All projects"), icon=":material/folder_open:")


def _show_way(project_progress: ProjectProgress) -> None:
    """Show the project, and the step that is next in it."""
    open_here = [step for step, (file, _part) in PLACES.items() if opens(file)]
    step = (
        project_progress.next if project_progress.next in open_here else "progress" if "progress" in open_here else None
    )
    step = step or next((one for one in ("agreement", "adjudication", "review") if one in open_here), None)
    if step is None:
        st.markdown(plain(project_progress.project.name))
        return
    file, where = place_of(step, project_progress.project)
    said = _next_in_words(project_progress, step) if step == project_progress.next else _("nothing waiting")
    icon = ":material/arrow_circle_right:" if step == project_progress.next else ":material/check_circle:"
    page_link(file, label=f"**{plain(project_progress.project.name)}** · {plain(said)}", icon=icon, query_params=where)


def _next_in_words(project_progress: ProjectProgress, step: Step) -> str:
    if step == "people" and project_progress.uninvited:
        return _("next: invite {number} annotators", number=f"{project_progress.uninvited:,}")
    left = project_progress.states["review"].number if "review" in project_progress.states else None
    if step == "progress" and left:
        return _("annotators are labelling, {number} left", number=f"{left:,}")
    known = project_progress.states.get(step)
    text = _("next: {step}", step=step_names()[step])
    return in_brackets(text, state_text(known)) if known and known.state == "waiting" and known.number else text


def _try(_store: Store, _found: Sequence[Project]) -> None:
    st.header(_("I try a model"), anchor=False)
    text = st.text_input(
        _("A sentence"), key="entrance-text", max_chars=500, placeholder=_("The nurse said he was tired."),
        label_visibility="collapsed",
    )  # fmt: skip
    if st.button(_("Which word does a model prefer?"), key="entrance-go", icon=":material/balance:") or text.strip():
        where = {"text": text.strip()} if text.strip() else {}
        st.session_state.pop("entrance-text", None)
        st.switch_page("sentence_bias/page.py", query_params=where)


def _measure(_store: Store, _found: Sequence[Project]) -> None:
    st.header(_("I measure models"), anchor=False)
    for file, label, icon, text in (
        ("model_bias/page.py", _("Models side by side"), ":material/compare_arrows:",
         _("Which word do models prefer across a data set?")),
        ("association/page.py", _("Professions"), ":material/work:",
         _("Does a profession make a person word more likely?")),
        ("nli/page.py", _("NLI bias"), ":material/alt_route:",
         _("Does a classifier infer gender from an occupation?")),
        ("misgendering/page.py", _("Misgendering"), ":material/record_voice_over:",
         _("Does a model use a person's pronouns consistently?")),
    ):  # fmt: skip
        page_link(file, label=f"**{label}** :gray[{plain(text)}]", icon=icon)


@dataclass(frozen=True, slots=True)
class Stage:
    """One station of the pipeline; `count` None: undefined, with the reason in `text`. `id`: of its quantity."""

    name: str
    count: int | None
    text: str
    share: float | None = None
    id: str = ""


def share(part: int, whole: int) -> float | None:
    """Return part / whole, from 0 to 1; None if *whole* is 0."""
    return part / whole if whole else None


def stages(found: Pipeline, scored: int | None) -> list[Stage]:
    """Return the five stations of a sentence, in the visitor's language; `scored` None: no file has been scored."""
    whole = found.candidates
    about = _("sentences in the runs of the Score a file page, each data set counted once")
    if scored is None:
        about = _("No file has been scored yet. To score a single sentence, use Try a sentence.")
    mined = _("sentences with exactly one keyword in active projects; a sentence in several projects counts once")
    same = _("reviewed sentences with at least two blind labels, all with the same choice")
    texts = {
        "candidates": mined, "reviewed": _("fully labelled items"), "unanimous": same,
        "kept": _("the items of the data set"),
    }  # fmt: skip
    counted = [
        Stage(_(one.name), count := getattr(found, key), texts[key], share(count, whole), one.id)
        for key, one in OPEN_PROJECTS.items()
    ]
    counted[0] = replace(counted[0], share=None)
    return [*counted, Stage(_("Scored"), scored, about)]


def picture(found: list[Stage]) -> Markup:
    """Return the stations as HTML: an ordered list for a screen reader, a row of cards with arrows for the eye."""
    cards = []
    for stage in found:
        count = DASH if stage.count is None else f"{stage.count:,}"
        drawn = "" if stage.share is None else bar([("good", stage.share)])
        parts = [
            span(stage.name, "name"),
            element("b", count, title=explained(stage.id) if stage.id else "", data_quantity=stage.id),
            drawn,
            element("p", stage.text),
        ]
        cards.append(element("li", joined(parts)))
    return element("ol", joined(cards), "pipeline")


@st.cache_data(max_entries=4, show_spinner=False)
def _counted(key: tuple[str, ...], only: tuple[str, ...], _store: Store) -> Pipeline:
    return pipeline(_store, only)


def show_pipeline(store: Store, projects: Sequence[Project]) -> None:
    """Show the five stations with the counts of these projects, recounted only after a change of the database."""
    only = tuple(project.uid for project in projects)
    scored = sentences_scored(own_runs(store, runs_in(runs_folder(store.path, "scores"))))
    show_html(picture(stages(_counted(state(store), only, store), scored)))
