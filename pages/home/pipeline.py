"""The pipeline on the page Home: how far the sentences are, as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.steps import Pipeline, pipeline, state
from evenhand.annotations.types import Project
from evenhand.core.runs.records import runs_folder, runs_in, sentences_scored
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.runs import own_runs
from evenhand.pages.ui.sentences import bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _


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
    about = _("sentences in the runs of the Score a file page, each data set counted once")
    if scored is None:
        about = _("No file has been scored yet. To score a single sentence, use Try a sentence.")
    mined = _("sentences with exactly one keyword in active projects; a sentence in several projects counts once")
    same = _("reviewed sentences with at least two blind labels, all with the same choice")
    return [
        Stage(_("Mined"), whole, mined),
        Stage(_("Reviewed"), found.reviewed, _("items with all their labels"), share(found.reviewed, whole)),
        Stage(_("Same choice"), found.unanimous, same, share(found.unanimous, whole)),
        Stage(_("Kept"), found.kept, _("accepted; these form the data set"), share(found.kept, whole)),
        Stage(_("Scored"), scored, about),
    ]


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
def _counted(key: tuple[str, ...], only: tuple[str, ...], _store: Store) -> Pipeline:
    return pipeline(_store, only)


def show_pipeline(store: Store, found: Sequence[Project]) -> None:
    """The five stations with the counts of these projects, recounted only after a change of the database."""
    only = tuple(one.uid for one in found)
    scored = sentences_scored(own_runs(store, runs_in(runs_folder(store.path, "scores"))))
    show_html(picture(stages(_counted(state(store), only, store), scored)))
