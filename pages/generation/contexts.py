"""What the page Generate goes on from: the built-in set, templates or contexts of one's own; the first ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.core.errors import EvenhandError
from evenhand.core.files.bounded import run_bounded
from evenhand.core.generation.contexts import Context
from evenhand.core.generation.inputs import BUILT_IN, ENDINGS, ContextInput, Filling, open_contexts
from evenhand.core.misgendering.slots import SETTINGS, Setting
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.own_words import choose_pronoun_sets
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, plain
from evenhand.pages.ui.uploads import choose_upload

PLACE = "file-0"
SHOWN = 4

CARET = span("", "caret")  # where the model goes on


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where contexts are, how they are filled and called, and what they are; `upload`: they go with the job."""

    place: str
    filling: Filling
    label: str
    found: ContextInput
    upload: bool = False


def choose_contexts() -> Chosen | None:
    """The choice of contexts; None while there are none, and then what to do is said."""
    names = {"built-in": _("The built-in set"), "file": _("A file")}
    kind = choose(_("Contexts"), names, "contexts")
    try:
        return _of_file() if kind == "file" else _built_in()
    except EvenhandError as error:
        show_error(error)
        return None


def _built_in() -> Chosen | None:
    caption(
        "Our own short texts that state a person's pronouns. Before the slot: the text up to the"
        " pronoun. After the slot: the whole text with the right pronoun."
    )
    filling = _filling(choose_pronoun_sets("generate-pronouns"))
    if filling is None:
        return None
    return Chosen(BUILT_IN, filling, _("built-in set"), _opened(BUILT_IN, filling))


def _trim() -> bool:
    return switch(
        _("Remove the space at the end of a context"),
        value=True,
        key="trim",
        box=True,
        explained=_(
            "Most models write the space themselves and perform worse if it is already there. The"
            " published code keeps it."
        ),
    )


def _filling(only: Sequence[str]) -> Filling | None:
    names: dict[str, str] = {"pre": _("before the slot"), "post": _("after the slot")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen: list[Setting] = st.pills(
            _("Start of the continuation"), SETTINGS, format_func=names.__getitem__, selection_mode="multi",
            default=list(SETTINGS), key="settings",
        )  # fmt: skip
        passes = st.number_input(
            _("People per template"), 1, 60, 1, key="passes", width=160, help=_("Each person has a different name.")
        )
    trimmed = _trim()
    if not chosen or not only:
        inform("Choose at least one pronoun set and one start of the continuation.")
        return None
    return Filling(
        passes=int(passes), settings=tuple(s for s in SETTINGS if s in chosen), only=tuple(only), trim=trimmed
    )


def _of_file() -> Chosen | None:
    path = choose_upload(
        _("File"),
        ENDINGS,
        key=PLACE,
        help=_(
            "Rows with a column context (optional: name, pronouns, dataset, setting, template); one"
            " context per line; or templates with a slot, as published for MISGENDERED, RUFF and TANGO."
        ),
    )
    if path is None:
        return None
    filling = Filling(trim=_trim())
    return Chosen(str(path), filling, path.name, _opened(str(path), filling), upload=True)


@st.cache_data(max_entries=10, show_spinner=False)
def _opened(place: str, filling: Filling) -> ContextInput:
    """The contexts; read again when the file or the choice changes."""
    return run_bounded(open_contexts, place, filling, file=Path(place).name)


def show_first_contexts(chosen: Chosen) -> None:
    """How many contexts there are, what could not be used, and a few of them."""
    found = chosen.found
    caption("{contexts} contexts. Examples; the model continues at the bar:", contexts=f"{len(found.contexts):,}")
    show_html(element("ol", joined(map(_line, _some(found.contexts))), "sentences"))
    if found.twice:
        caption("{number} duplicates were removed.", number=f"{found.twice:,}")
    if found.problems:
        first = found.problems[0]
        why = _(first.message).format(**first.values) if first.values else _(first.message)
        text = _("{number} rows cannot be used; the first is line {line}: {why}")
        st.warning(plain(text.format(number=f"{len(found.problems):,}", line=first.line, why=why)))


def _some(contexts: Sequence[Context]) -> list[Context]:
    """A few from all over the file, of as many pronoun sets as there are."""
    step = -(-len(contexts) // SHOWN) or 1
    shown: list[Context] = []
    seen: set[tuple[str, ...]] = set()
    for start in range(0, len(contexts), step):
        part = contexts[start : start + step]
        one = next((each for each in part if each.pronouns not in seen), part[0])
        seen.add(one.pronouns)
        shown.append(one)
    return shown


def described(context: Context | dict[str, Any]) -> str:
    """Who is meant, and how this person's pronouns are called; empty where nobody says."""
    values = context if isinstance(context, dict) else {"name": context.name, "pronouns": context.pronouns}
    pronouns = values.get("pronouns") or ()
    said = " + ".join(pronouns) if isinstance(pronouns, list | tuple) else str(pronouns)
    return " · ".join(part for part in (str(values.get("name") or ""), said) if part)


def _line(context: Context) -> Markup:
    return element("li", span(joined([below(described(context)), context.text, CARET])))
