"""What the page Concordance asks for: the word, its neighbours, where to look. The address holds the words."""

import re
from dataclasses import dataclass

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.concordance import UNITS, Question, question
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.corpus import Source, ask_source
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import own_project

BETWEEN = re.compile(r"[\s,，、;；/]+")
START = {"word": "护士", "near": "他 她"}


@dataclass(frozen=True, slots=True)
class Wish:
    """A question and where it is asked: a source of files, or a project."""

    question: Question
    source: Source | None
    project: str | None

    @property
    def name(self) -> str:
        """What the visitor calls the text."""
        return self.project or (self.source.name if self.source else "")

    def find_project(self, store: Store) -> Project:
        """The project, looked up anew among those of the visitor; only for wishes that have one. Raises NotFound."""
        return own_project(store, self.project or "")


def unit_name(unit: str) -> str:
    """A unit in words."""
    names = {
        "auto": _("texts if there are several, otherwise paragraphs"),
        "document": _("texts"),
        "paragraph": _("paragraphs"),
        "sentence": _("sentences"),
    }
    return names[unit]


def _take_address() -> None:
    for key, value in START.items():
        if key not in st.session_state:
            st.session_state[key] = st.query_params.get(key, value)


def ask(store: Store) -> Wish | None:
    """Draw the inputs; None where there is no text yet. Raises Refused for what cannot be asked."""
    _take_address()
    left, right, more = st.columns([3, 3, 2], vertical_alignment="bottom")
    word = left.text_input(_("Word"), key="word", max_chars=40)
    near = right.text_input(
        _("Near words"), key="near", max_chars=200, help=_("One to twenty, separated by spaces or commas.")
    )
    with more:
        window, unit = _settings()
    kind, source = ask_source("concordance", ("folder", "files", "project"))
    chosen = choose_project(store) if kind == "project" else None
    for key in START:
        st.query_params[key] = st.session_state[key]
    asked = question(word, [part for part in BETWEEN.split(near) if part], window=window, unit=unit)
    if source is None and chosen is None:
        return None
    return Wish(asked, source, chosen.name if chosen else None)


def _settings() -> tuple[int | None, str]:
    with st.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        close = st.toggle(_("Only near the word, not in the whole sentence"), key="close")
        window = int(st.number_input(_("Maximum distance in characters"), 1, 200, 10, key="window", disabled=not close))
        unit = st.selectbox(
            _("Unit of the intervals"),
            ("auto", *UNITS),
            key="unit",
            format_func={unit: unit_name(unit) for unit in ("auto", *UNITS)}.__getitem__,
            help=_("Sentences of one text are alike: intervals over texts are wider and more accurate."),
        )
    return window if close else None, unit
