"""Views of the page Home: the pipeline as a picture, the pages, open work."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from annotations.database.store import Store
from annotations.labels.read import own_progress
from annotations.pilot.pilots import own_pilot
from annotations.projects.pipeline_counts import Pipeline, pipeline, state
from annotations.projects.projects import annotators, counts
from annotations.types import Annotator, Project
from core.runs.records import runs_folder, runs_in, sentences_scored
from pages.ui.choose import annotator_at_desk
from pages.ui.language import _
from pages.ui.numbers import DASH
from pages.ui.runs import own_runs
from pages.ui.sentences import bar
from pages.ui.tables import element, joined, show_html, span
from pages.ui.text import plain
from pages.ui.visitor import opens, page_link

A_ROW = 3  # cards side by side


@dataclass(frozen=True, slots=True)
class Stage:
    """One station of the pipeline; `count` None: undefined, with the reason in `text`."""

    name: str
    count: int | None
    text: str
    share: float | None = None


def share(part: int, whole: int) -> float | None:
    """part / whole, 0 to 1; None if whole is 0."""
    return part / whole if whole else None


def stages(found: Pipeline, scored: int | None) -> list[Stage]:
    """The five stations of a sentence, in the visitor's language; `scored` None: no file has been scored."""
    whole = found.candidates
    return [
        Stage(_("Mined"), whole, _("sentences with one keyword in the open projects")),
        Stage(_("Reviewed"), found.reviewed, _("have all the labels they need"), share(found.reviewed, whole)),
        Stage(_("Unanimous"), found.unanimous, _("all annotators chose the same"), share(found.unanimous, whole)),
        Stage(_("Kept"), found.kept, _("accepted: these leave as a data set"), share(found.kept, whole)),
        _scored(scored),
    ]


def _scored(count: int | None) -> Stage:
    if count is None:
        text = _("No file has been scored yet. Single sentences are scored on Try a sentence.")
    else:
        text = _("sentences in the runs of the page Score, each data set once")
    return Stage(_("Scored"), count, text)


def picture(found: list[Stage]) -> Markup:
    """The stations as HTML: an ordered list for a screen reader, a row of cards with arrows for the eye."""
    cards = []
    for stage in found:
        count = DASH if stage.count is None else f"{stage.count:,}"
        drawn = "" if stage.share is None else bar([("good", stage.share)])
        parts = [span(stage.name, "name"), element("b", count), drawn, element("p", stage.text)]
        cards.append(element("li", joined(parts)))
    return element("ol", joined(cards), "pipeline")


@st.cache_data(max_entries=4, show_spinner=False)
def _counted(key: tuple[str, ...], only: tuple[str, ...], _store: Store) -> tuple[int, int, int, int]:
    found = pipeline(_store, only)
    return found.candidates, found.reviewed, found.unanimous, found.kept


def show_pipeline(store: Store, found: Sequence[Project]) -> None:
    """The five stations with the counts of these projects, recounted only after a change of the database."""
    only = tuple(one.uid for one in found)
    scored = sentences_scored(own_runs(store, runs_in(runs_folder(store.path, "scores"))))
    show_html(picture(stages(Pipeline(*_counted(state(store), only, store)), scored)))


def show_project(store: Store, project: Project, *, names: bool) -> None:
    """One project: its progress, and, for who may see *names*, a link per annotator with open sentences."""
    found = counts(store, project)
    done = found.accepted + found.rejected
    with st.container(border=True):
        st.markdown(f"**{plain(project.name)}**")
        st.progress(done / found.items if found.items else 0.0, _progress_text(project, found.items, done))
        if not found.items:
            where = {"project": project.name}
            label = _("Import a file")
            page_link("projects/page.py", label=label, icon=":material/upload_file:", query_params=where)
            return
        with st.container(horizontal=True):
            for person in annotators(store, project) if names else ():
                if label := _items_left(store, project, person):
                    where = {"project": project.name, "annotator": person.name}
                    page_link("review/page.py", label=plain(label), icon=":material/rate_review:", query_params=where)
        if done == found.items:
            st.caption(_("Everything is reviewed. Look at the agreement, then release it."))
            with st.container(horizontal=True):
                where = {"project": project.name}
                page_link("agreement/page.py", label=_("Agreement"), icon=":material/handshake:", query_params=where)
                page_link("release/page.py", label=_("Release"), icon=":material/inventory_2:", query_params=where)


def show_own_desk(store: Store, project: Project) -> None:
    """One project as its annotator sees it: the own open items, nothing that depends on others' labels."""
    with st.container(border=True):
        st.markdown(f"**{plain(project.name)}**")
        person = annotator_at_desk(store, project)
        label = _items_left(store, project, person) if person else ""
        if person and label:
            where = {"project": project.name, "annotator": person.name}
            page_link("review/page.py", label=plain(label), icon=":material/rate_review:", query_params=where)
        else:
            st.caption(_("Nothing waits for you here."))


def _items_left(store: Store, project: Project, person: Annotator) -> str:
    """The open items of an annotator in words, or ""; while a pilot is open, those of the pilot."""
    pilot = own_pilot(store, project, person)
    if pilot is not None:
        left, text = pilot.items - pilot.labelled, _("{name}: {left} left of pilot {number}")
        return text.format(name=person.name, left=f"{left:,}", number=pilot.number) if left > 0 else ""
    mine = own_progress(store, project, person)
    left = mine.total - mine.labelled
    return _("{name}: {left} left").format(name=person.name, left=f"{left:,}") if left > 0 else ""


def _progress_text(project: Project, items: int, done: int) -> str:
    if not items:
        return _("No items yet")
    sentences, texts = _("{done} of {items} sentences decided"), _("{done} of {items} texts have their label")
    return (sentences if project.kind == "sentences" else texts).format(done=f"{done:,}", items=f"{items:,}")


def show_places() -> None:
    """What can be done here: one card a page."""
    places = (
        ("projects", _("Projects"), ":material/folder_open:", _("Bring sentences in, say what to judge, export.")),
        ("pilot", _("Pilot and guideline"), ":material/flag:", _("Try the criteria on a few items, then write them.")),
        ("review", _("Review"), ":material/rate_review:", _("Judge one sentence after the other by keyboard.")),
        ("agreement", _("Agreement"), ":material/handshake:", _("See where annotators agree, and where not.")),
        (
            "progress",
            _("Progress"),
            ":material/trending_up:",
            _("See who did what, and whether the quotas can be met."),
        ),
        ("release", _("Release"), ":material/inventory_2:", _("Freeze the set with its papers.")),
        ("generation", _("Generate"), ":material/edit_note:", _("Let a model write, and judge the pronouns it uses.")),
        ("sentence_bias", _("Try a sentence"), ":material/balance:", _("See which of two words a model prefers.")),
        ("scoring", _("Score a file"), ":material/playlist_play:", _("Ask several models about a whole data set.")),
        ("association", _("Professions"), ":material/work:", _("Does a profession make a person word likelier?")),
        ("nli", _("Inference"), ":material/alt_route:", _("Does a classifier guess gender from a trade?")),
        ("misgendering", _("Misgendering"), ":material/record_voice_over:", _("Does a model keep to a pronoun set?")),
    )
    columns = [column for _row in range(0, len(places), A_ROW) for column in st.columns(A_ROW)]
    there = [one for one in places if opens(f"{one[0]}/page.py")]
    for column, (file, title, icon, text) in zip(columns, there, strict=False):
        with column, st.container(border=True, height="stretch"):
            page_link(f"{file}/page.py", label=f"**{title}**", icon=icon)
            st.caption(text)
