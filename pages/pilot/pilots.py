"""Pilots on the page Pilot: the one that is open, how to start one, and those that are over."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.pilot.figures import PilotFigures, differing_items, pilot_figures
from evenhand.annotations.pilot.pilots import Pilot, close_pilot, open_pilot, pilots, start_pilot
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import errors_shown, open_store
from evenhand.pages.ui.numbers import interval, moment, note_text, percent, with_interval
from evenhand.pages.ui.parts import asks, asks_at_click, confirmed
from evenhand.pages.ui.sentences import item_card, judgement, names_of, with_keyword
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain, show_signature, write
from evenhand.pages.ui.visitor import page_link

USUAL = 100
LISTED = 24  # items on which people differed


@asks("change_projects")
def show_pilots(store: Store, project: Project) -> None:
    """The open pilot or a form that starts one, then the earlier ones."""
    going = open_pilot(store, project)
    over = [one for one in pilots(store, project) if one.closed is not None]
    if going is not None:
        _show_open(store, project, pilot_figures(store, project, going))
    elif over:  # a second pilot is the exception
        st.button(
            _("Continue to the tags"),
            key="pilot_tags",
            icon=":material/arrow_forward:",
            on_click=_go_on,
            type="primary",
        )
    if over:
        st.subheader(_("Earlier pilots"), anchor=False)
    for one in reversed(over):
        _show_closed(pilot_figures(store, project, one))
        if annotator_at_desk(store, project) is None:
            _show_differing(store, project, one, opened=one is over[-1])
    if going is None:
        if over:
            st.subheader(_("Another pilot"), anchor=False)
        _show_start(store, project, first=not over)


def _go_on() -> None:
    st.session_state["pilot_part"] = st.query_params["part"] = "tags"


@asks("change_projects")
def _show_start(store: Store, project: Project, *, first: bool) -> None:
    by_link, found = participants(store, project), counts(store, project)
    people = [one for one in annotators(store, project) if one.id not in by_link]
    if not people:
        inform("This project has no annotators yet. Add them on the Projects page, then start a pilot.")
        page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return
    free = found.by_labels.get(0, 0)
    if not free and not first:
        caption("Every item has been in a pilot or has a label: none is left to draw.")
        return
    if not free:
        text = _("No unlabelled items are left to draw from. Import a file on the Projects page.")
        st.info(text, icon=":material/upload_file:")
        return
    text = _(
        "A pilot draws items at random from {free} unlabelled ones. All {people} annotators label each"
        " item and may add free tags. Until the pilot is closed, desks hand out nothing else. A pilot is"
        " optional: without one, annotators start at once."
    )
    st.write(plain(text.format(free=f"{free:,}", people=len(people))))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        items = st.number_input(_("Items"), 1, free, min(USUAL, free), key="pilot_items", width=160)
        seed = st.number_input(
            _("Random seed"), 0, None, project.seed, key="pilot_seed", width=160,
            help=_("The same seed draws the same items from the same texts."),
        )  # fmt: skip
        text = _(
            "A pilot of {items} items begins for {people} annotators. Their desks hand out nothing else until it is"
            " closed, and the pilot stays in the method section."
        )
        if confirmed(
            _("Start the pilot") if first else _("Start another pilot"),
            text.format(items=f"{items:,}", people=len(people)),
            _("Start with {items} items").format(items=f"{items:,}"),
            key="pilot_start", icon=":material/play_arrow:", primary=first,
        ):  # fmt: skip
            with errors_shown():
                start_pilot(store, project, int(items), seed=int(seed))
                st.rerun()


def _show_open(store: Store, project: Project, found: PilotFigures) -> None:
    pilot = found.pilot
    with st.container(border=True):
        st.subheader(_("Pilot {number} is open", number=pilot.number), anchor=False)
        text = _("{items} items, drawn with seed {seed}, started {when}. Desks hand out only these.")
        st.caption(plain(text.format(items=found.items, seed=pilot.seed, when=moment(pilot.begun))))
        for one in found.people:
            where = {"project": project.name, "annotator": one.annotator.name}
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{plain(one.annotator.name)}**", width=180)
                done = _("{labelled} of {total}", labelled=one.labelled, total=found.items)
                st.progress(min(1.0, one.labelled / found.items) if found.items else 0.0, done, width=260)
                page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
        if found.complete:
            st.success(_("Everybody has finished the pilot."), icon=":material/check:")
            st.button(
                _("Close the pilot"), type="primary", key="pilot_close", on_click=_close, args=(project,),
            )  # fmt: skip
            return
        with st.popover(_("Close it early"), icon=":material/stop_circle:"):
            write(
                "The labels stay and count. Items without a label leave the pilot; the others are"
                " completed in regular labelling."
            )
            st.button(_("Close the pilot"), key="pilot_close", on_click=_close, args=(project,))
    caption("Differences between the labels are shown once the pilot is closed; tags can be read now.")


@asks_at_click("change_projects")
def _close(project: Project) -> None:
    with open_store(project) as store, errors_shown():
        close_pilot(store, project)


def _show_closed(found: PilotFigures) -> None:
    pilot = found.pilot
    with st.container(border=True, key=f"pilot-{pilot.number}"):
        title = _("Pilot {number}: {items} items", number=pilot.number, items=found.items)
        st.markdown(f"**{plain(title)}**")
        text = _("started {begun}, closed {closed}; {labelled} of {drawn} drawn items have a label")
        facts = {"begun": moment(pilot.begun), "closed": moment(pilot.closed)}
        st.caption(plain(text.format(**facts, labelled=found.labelled, drawn=pilot.items)))
        left, right = st.columns([1, 2], gap="large")
        with left:
            reason = note_text(found.unanimous.reason) if found.unanimous.value is None else ""
            st.metric(_("Full agreement"), percent(found.unanimous.value), help=reason or None)
            if found.unanimous.value is not None:
                st.caption(plain(_alike(found.unanimous, found.compared)))
        with right:
            rows = [
                {
                    _("Annotator"): one.annotator.name,
                    _("Labelled"): one.labelled,
                    _("Accepted, 95% interval"): with_interval(one.accepted, ".1%"),
                }
                for one in found.people
            ]
            st.dataframe(rows, hide_index=True, key=f"people-{pilot.number}")
        with foot():
            show_signature(found.signature)
            downloads([_row(found, one) for one in found.people], key=f"pilot-{pilot.number}-people")


def _show_differing(store: Store, project: Project, pilot: Pilot, *, opened: bool) -> None:
    """What to talk about after a pilot: the items on which people differed, with what each said."""
    found = differing_items(store, project, pilot)
    if not found:
        return
    names = names_of(store, project)
    label = _("Items on which annotators differed in pilot {pilot}: {number}")
    with st.expander(label.format(pilot=pilot.number, number=f"{len(found):,}"), expanded=opened):
        cards = [
            item_card(one.uid, with_keyword(one.text, one.word, one.side), [
                judgement(letter, choice, names, [names.get(code, code) for code in reasons])
                for letter, choice, reasons in one.said
            ])
            for one in found[:LISTED]
        ]  # fmt: skip
        show_html(element("div", joined(cards), "cards"))
        if len(found) > LISTED:
            caption("The first {shown} of {all}.", shown=LISTED, all=f"{len(found):,}")


def _alike(share: Estimate, compared: int) -> str:
    """The interval of that share of items, or why there is none, and of how many items it is."""
    ends = interval(share, ".1%")
    text = _("On {k} of {n} items with at least two blind labels, everybody chose the same.")
    same = text.format(k=round((share.value or 0) * compared), n=compared)
    return paragraph((_("95% interval: {interval}.", interval=ends) if ends else note_text(share.note), same))


def _row(found: PilotFigures, one: Any) -> dict[str, Any]:
    return {
        "pilot": found.pilot.number, "annotator": one.annotator.name, "labelled": one.labelled,
        "accepted": one.accepted.value, "low": one.accepted.low, "high": one.accepted.high,
        "all_agree": found.unanimous.value, "all_agree_low": found.unanimous.low,
        "all_agree_high": found.unanimous.high, "compared": found.compared, "signature": found.signature,
    }  # fmt: skip
