"""The cases on the page Adjudicate: the queue, its filters, and the way from case to case."""

from collections.abc import Collection
from dataclasses import dataclass

import streamlit as st

from evenhand.annotations.adjudication import decisions
from evenhand.annotations.browse.search import pairs_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, guidelines
from evenhand.annotations.projects.steps import latest
from evenhand.annotations.types import Annotator, Guideline, Project
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.text import _, in_brackets, inform, plain
from evenhand.pages.ui.visitor import remembered


def at_the_desk(store: Store, project: Project) -> Annotator | None:
    """Return the annotator whose desk of this project is open in this visit, who sees only own items; or None."""
    if st.session_state.get("desk_project") != project.name:
        return None
    name = st.session_state.get("desk_annotator")
    reader = next((annotator for annotator in annotators(store, project, active=False) if annotator.name == name), None)
    if reader is not None:
        text = _("Your desk as {name} is open: only items you have labelled are listed, so that labels stay blind.")
        st.caption(plain(text.format(name=reader.name)))
    return reader


@dataclass(frozen=True, slots=True)
class Listed:
    """The cases that match the filters, by public id."""

    queue: decisions.Queue
    cases: list[str]


def list_cases(store: Store, project: Project, counts: dict[decisions.Queue, int], reader: Annotator | None) -> Listed:
    """Return the cases that match the filters; without any, show what to do."""
    queue, between, pair = _filters(store, project, counts)
    cases = decisions.cases(store, project, queue, between=between, pair=pair, reader=reader)
    if not cases:
        if queue == "settled":
            inform("No cases have been settled yet.", icon=":material/gavel:")
        elif counts["open"]:
            inform("No open cases match.", icon=":material/filter_alt_off:")
        elif counts["settled"]:
            inform("Every case is settled. New ones appear here as annotators finish items.", icon=":material/check:")
        else:
            inform(
                "No open cases: no fully labelled item has differing labels. Cases appear here as annotators finish"
                " items.",
                icon=":material/check:",
            )
    return Listed(queue, cases)


def choose_case(cases: list[str], guideline: Guideline) -> str:
    """Return the case to show: that of the address, else the one that the visitor has gone to."""
    asked = st.query_params.pop("item", None)
    if asked in cases:
        st.session_state["case"] = cases.index(asked) + 1
    return cases[_chosen_place(len(cases), {choice.key.upper() for choice in guideline.choices}) - 1]


def _chosen_place(number: int, taken: Collection[str]) -> int:
    """Let the visitor go from case to case, by keyboard with N and P, and return the place of the one to show.

    *taken*: keys that decide.
    """
    place: int = min(max(1, st.session_state.get("case", 1)), number)
    if st.session_state.get("case", 1) != place:
        st.session_state["case"] = place
    if number > 1:
        with st.container(horizontal=True, vertical_alignment="center", key="case-steps"):
            for key, name, step, icon in (("P", _("Previous case"), -1, "left"), ("N", _("Next case"), 1, "right")):
                st.button(
                    name, key=f"case-{key}", shortcut=None if key in taken else key, icon=f":material/chevron_{icon}:",
                    on_click=_go, args=(place + step,), disabled=not 1 <= place + step <= number,
                )  # fmt: skip
            st.pagination(number, key="case")
    return place


def _go(place: int) -> None:
    st.session_state["case"] = place


def _filters(
    store: Store, project: Project, counts: dict[decisions.Queue, int]
) -> tuple[decisions.Queue, str | None, str | None]:
    texts: dict[decisions.Queue, str] = {"open": _("Open cases: {n}"), "settled": _("Settled: {n}")}
    names = {queue: plain(text.format(n=f"{counts[queue]:,}")) for queue, text in texts.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        queue = choose(_("Cases"), names, "queue", address="queue", heading=False)
        if not counts[queue]:
            return queue, None, None
        known = {
            choice.code: choice_name(choice) for guideline in guidelines(store, project) for choice in guideline.choices
        }
        kinds = dict(remembered(latest(store), decisions.patterns, project, queue))
        between = st.selectbox(
            _("Differing labels"),
            list(kinds),
            index=None,
            format_func=lambda kind: _pattern(kind, known, kinds[kind]),
            placeholder=_("All"),
            key="between",
        )
        pair = None
        if project.kind == "sentences":
            pairs = pairs_of(store, project)
            pair = st.selectbox(_("Keyword pair"), pairs, index=None, placeholder=_("All"), key="case-pair")
    return queue, between, pair


def _pattern(kind: str, known: dict[str, str], number: int) -> str:
    codes = [known.get(code, code) for code in kind.split("/")]
    words = " / ".join(codes) if len(codes) > 1 else _("{choice}, flag differs", choice=codes[0])
    return in_brackets(words, number)
