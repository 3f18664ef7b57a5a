"""The page Home: a sentence with a model's verdict, own work, projects, and the pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME as DEMO_GENERATIONS
from evenhand.annotations.demo.sentences import NAME as DEMO_SENTENCES
from evenhand.annotations.permissions import OPEN
from evenhand.annotations.projects.steps import Pipeline, Step, pipeline, state
from evenhand.annotations.quantities.items import OPEN_PROJECTS
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import explain
from evenhand.core.resources import table
from evenhand.core.runs.records import runs_folder, runs_in, sentences_scored
from evenhand.core.sentence_bias.model_answer import ModelAnswer, read
from evenhand.core.sentence_bias.slot import find_slot
from evenhand.core.worker import client
from evenhand.pages.ui.choose import annotator_at_desk, first_models, own_desks
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.rail import PLACES, ProjectProgress, own_remaining, place_of, state_text, step_names, way
from evenhand.pages.ui.runs import own_runs
from evenhand.pages.ui.sentences import bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, language, named, plain
from evenhand.pages.ui.verdicts import mass_html, ratio_html, show_sentence
from evenhand.pages.ui.visitor import may, opens, page_link, visitor

LISTED = 6  # projects in an entrance


@st.cache_data(max_entries=8, show_spinner=False)
def first_reading(text: str, model: str) -> ModelAnswer:
    """Return what a built-in model says of the first example; asked once while the app runs."""
    return read(text, client.RemoteScorer(client.shared(), model))


def show_verdict() -> None:
    """Show the first example in the visitor's language, with what a built-in model of this language says of it."""
    text = next(row["text"] for row in table("gallery") if row["language"] == language())
    models = first_models(language())
    if not models or not opens("sentence_bias/page.py"):
        return
    show_sentence(find_slot(text))
    try:
        reading = first_reading(text, models[0])
    except EvenhandError as error:
        st.caption(plain(explain(error, language())))
        return
    mass = mass_html(reading.p_male, reading.p_female, sided=True)
    verdict = element("div", ratio_html(reading.slot, reading.bias_log10), "home-verdict")
    show_html(element("div", joined([verdict, mass]), "try-verdict home"))
    caption("{model}: a small model that comes with the app, for trying it, not for findings.", model=models[0])


def show_try() -> None:
    """Show the ways from the verdict on: the slides, and a sentence of one's own."""
    if not opens("sentence_bias/page.py"):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            _("Try your own sentence"), key="entrance-text", max_chars=500,
            placeholder=_("Try your own sentence"), label_visibility="collapsed",
        )  # fmt: skip
        page_link("sentence_bias/page.py", label=_("Present"), icon=":material/slideshow:",
                  query_params={"present": "1"})  # fmt: skip
    if text.strip():
        st.session_state.pop("entrance-text", None)
        st.switch_page("sentence_bias/page.py", query_params={"text": text.strip()})


def show_users() -> None:
    """Show in one line each what the three kinds of users do here."""
    st.header(_("What you can do here"), anchor=False)
    for file, who, what in (
        ("mining/page.py", _("Linguists"), _("curate sentences in which both words fit equally well")),
        ("projects/page.py", _("Evaluators"), _("label what models write and compare people, a rule and judges")),
        ("sentence_bias/page.py", _("Presenters"), _("show which word a model prefers, and by how much")),
    ):
        text = f"**{plain(who)}** {plain(what)}"
        if opens(file):
            page_link(file, label=text, icon=":material/arrow_forward:")
        else:
            st.markdown(text)


def show_work(store: Store, projects: Sequence[Project]) -> None:
    """Show the desks of the visitor, with those of others folded, and the projects; of the demo projects that in the
    visitor's language is first."""
    demos = [DEMO_GENERATIONS, DEMO_SENTENCES] if language() == "en" else [DEMO_SENTENCES, DEMO_GENERATIONS]
    place = {name: number for number, name in enumerate(demos, 1)}
    mine = sorted(projects, key=lambda project: (place.get(project.name, 0), -project.id))  # the newest first
    if opens("review/page.py"):
        _show_desks(store, mine)
    if opens("progress/page.py") or (mine and not opens("review/page.py")):
        _show_projects(store, mine)


def _show_desks(store: Store, projects: Sequence[Project]) -> None:
    desks = [(project, desk) for project in projects for desk in own_desks(store, project)]
    known = [(project, annotator_at_desk(store, project)) for project in projects]
    here = {(project.id, person.id) for project, person in known if person is not None}
    own = [(project, desk) for project, desk in desks if (project.id, desk.id) in here]
    with st.container(key="entrance-annotate"):
        if own:
            st.header(_("Continue where you were"), anchor=False)
            if not _show_waiting(store, own):
                caption("Nothing is waiting for you here.")
        if not desks:
            caption("No desk yet: a project needs annotators.")
        others = [pair for pair in desks if pair not in own]
        if others and visitor(store) is OPEN:
            with st.expander(_("Desks of annotators"), icon=":material/rate_review:"):
                _show_waiting(store, others)
                page_link("review/page.py", label=_("All desks"), icon=":material/rate_review:")


def _show_waiting(store: Store, desks: Sequence[tuple[Project, Annotator]]) -> bool:
    """Show a link to each desk with open items, by project; return whether there is one."""
    waiting: dict[str, list[tuple[Annotator, str]]] = {}
    for stored_project, desk in desks:
        left, pilot = own_remaining(store, stored_project, desk)
        text = _("{name}: {left} left") if pilot is None else _("{name}: {left} left of pilot {number}")
        if left:
            label = text.format(name=desk.name, left=f"{left:,}", number=pilot)
            waiting.setdefault(stored_project.name, []).append((desk, label))
    for name, own in list(waiting.items())[:LISTED]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{plain(name)}**", width="content")
            for desk, label in own:
                where = {"project": name, "annotator": desk.name}
                page_link("review/page.py", label=plain(label), icon=":material/rate_review:", query_params=where)
    return bool(waiting)


def _show_projects(store: Store, projects: Sequence[Project]) -> None:
    leads = opens("projects/page.py")
    st.header(_("Projects") if leads else _("My projects"), anchor=False)
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
        about = _("No file has been scored yet.")
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
            element("p", stage.text) if stage.count is None else "",
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
    found = stages(_counted(state(store), only, store), scored)
    about = "  \n".join(plain(named(stage.name, stage.text)) for stage in found)
    st.header(_("From texts to a data set"), anchor=False, help=about)
    show_html(picture(found))
