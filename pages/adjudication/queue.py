"""The queue of cases on the page Adjudicate, and the rule of the project."""

import streamlit as st

from evenhand.annotations.adjudication.decisions import Queue, cases, each_settlement_row, patterns
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, change_project, guidelines
from evenhand.annotations.projects.steps import latest
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.charts import csv_bytes, download
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.head import open_store, remembered
from evenhand.pages.ui.parts import asks, say_changes
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.text import _, in_brackets, inform, plain
from evenhand.pages.ui.visitor import author


@asks("change_projects")
def rule(store: Store, project: Project) -> None:
    """Show whether adjudication may keep a rejected sentence, and store a change with a button of its own."""
    if project.gold != "unanimous":
        return
    rescue = switch(
        _("Adjudication may keep sentences that not everybody accepted"),
        project.rescue,
        key=f"rescue-{project.uid}",
        explained=_("Off: only sentences that everybody accepts are kept (the rule of the journal paper)."),
    )
    if rescue == project.rescue:
        return
    names = {True: _("allowed"), False: _("not allowed")}
    name = _("Adjudication keeps sentences without full agreement")
    say_changes([(name, names[project.rescue], names[rescue])], published=True)
    if st.button(_("Save this rule"), key="save_rule", type="primary", icon=":material/gavel:"):
        change_project(store, project, author=author(store), rescue=rescue)
        st.rerun()


def at_the_desk(store: Store, project: Project) -> Annotator | None:
    """The annotator whose desk of this project is open in this visit, who sees only own items; or None."""
    if st.session_state.get("desk_project") != project.name:
        return None
    name = st.session_state.get("desk_annotator")
    reader = next((one for one in annotators(store, project, active=False) if one.name == name), None)
    if reader is not None:
        text = _("Your desk as {name} is open: only items you have labelled are listed, so that labels stay blind.")
        st.caption(plain(text.format(name=reader.name)))
    return reader


def choose_case(store: Store, project: Project, counts: dict[Queue, int], reader: Annotator | None) -> str | None:
    """The public id of the case to show; without one, show what to do and return None."""
    queue, between = _filters(store, project, counts)
    found = cases(store, project, queue, between=between, reader=reader)
    if not found:
        _nothing(queue, counts)
        return None
    asked = st.query_params.pop("item", None)
    if asked in found:
        st.session_state["case"] = found.index(asked) + 1
    place: int = min(max(1, st.session_state.get("case", 1)), len(found))
    if st.session_state.get("case", 1) != place:
        st.session_state["case"] = place
    if len(found) > 1:
        st.pagination(len(found), key="case")
    return found[place - 1]


def _filters(store: Store, project: Project, counts: dict[Queue, int]) -> tuple[Queue, str | None]:
    texts: dict[Queue, str] = {"open": _("Open cases: {n}"), "settled": _("Settled: {n}")}
    names = {queue: plain(text.format(n=f"{counts[queue]:,}")) for queue, text in texts.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        queue = choose(_("Cases"), names, "queue", address="queue", heading=False)
        if not counts[queue]:
            return queue, None
        known = {one.code: choice_name(one) for each in guidelines(store, project) for one in each.choices}
        kinds = dict(remembered(latest(store), patterns, project, queue))
        between = st.selectbox(
            _("Differing labels"),
            list(kinds),
            index=None,
            format_func=lambda kind: _pattern(kind, known, kinds[kind]),
            placeholder=_("All"),
            key="between",
        )
    return queue, between


def _pattern(kind: str, known: dict[str, str], number: int) -> str:
    codes = [known.get(code, code) for code in kind.split("/")]
    words = " / ".join(codes) if len(codes) > 1 else _("{choice}, flag differs", choice=codes[0])
    return in_brackets(words, number)


def _nothing(queue: Queue, counts: dict[Queue, int]) -> None:
    if queue == "settled":
        inform("No cases have been settled yet.", icon=":material/gavel:")
    elif counts["open"]:
        inform("No open cases match.", icon=":material/filter_alt_off:")
    elif counts["settled"]:
        inform("Every case is settled. New ones appear here as annotators finish items.", icon=":material/check:")
    else:
        inform(
            "No open cases: no fully labelled item has differing labels. Cases appear here as annotators finish items.",
            icon=":material/check:",
        )


def offer_settlements(store: Store, project: Project) -> None:
    """All settlements as CSV: ids and decisions, no text of any item."""
    if next(each_settlement_row(store, project), None) is None:
        return
    download(_("Download settled cases (CSV)"), lambda: _table(project), "settlements.csv", key="settlements-csv")


def _table(project: Project) -> bytes:
    with open_store(project) as store:
        # The reason of a decision may quote the text, so the same policy holds for it.
        rows = list(each_settlement_row(store, project))
    for row in rows:
        row["reasons"], row["seen"] = ";".join(row["reasons"]), ";".join(row["seen"])
    return csv_bytes([without_text(project, row, "why") for row in rows])
