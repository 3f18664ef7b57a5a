"""Pilots on the page Pilot, open and closed, their tags, and the criterion that each tag becomes."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline import drafts
from evenhand.annotations.guideline.drafts import Tag, items_with_tags, tags
from evenhand.annotations.guideline.versions import free_keys
from evenhand.annotations.pilot.pilots import Pilot, close_pilot, open_pilot, pilots, start_pilot
from evenhand.annotations.pilot.progress import PilotProgress, differing_items, letters, pilot_progress
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.quantities.pilots import PilotNumbers, pilot_estimates, pilot_numbers
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Choice, Kind, Project
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.numbers import moment, with_interval
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, names_of, with_keyword
from evenhand.pages.ui.tables import element, joined, page_of, show_html, show_pages, show_tiles
from evenhand.pages.ui.text import _, caption, in_brackets, inform, plain, show_signature, spoken, write
from evenhand.pages.ui.visitor import asks, asks_at_click, confirmed, errors_shown, open_store, page_link

USUAL = 100
LISTED = 24  # items on which people differed


@asks("change_projects")
def show_pilots(store: Store, project: Project) -> None:
    """Show the open pilot or a form that starts one, then the earlier ones."""
    going = open_pilot(store, project)
    over = [pilot for pilot in pilots(store, project) if pilot.closed is not None]
    if going is not None:
        _show_open(project, pilot_progress(store, project, going))
    elif over:  # a second pilot is the exception
        st.button(
            _("Continue to the tags"),
            key="pilot_tags",
            icon=":material/arrow_forward:",
            on_click=_go_on,
            args=("tags",),
            type="primary",
        )
    numbers = pilot_numbers(store, project) if over else {}
    if over:
        st.header(_("Earlier pilots"), anchor=False)
    for pilot in reversed(over):
        _show_closed(numbers[str(pilot.number)])
        if annotator_at_desk(store, project) is None:
            _show_differing(store, project, pilot, opened=pilot is over[-1])
    if going is None:
        if over:
            st.header(_("Another pilot"), anchor=False)
        _show_start(store, project, first=not over)


def _go_on(part: str) -> None:
    """Show the tags, or the guideline."""
    st.session_state["pilot_part"] = st.query_params["part"] = part


@asks("change_projects")
def _show_start(store: Store, project: Project, *, first: bool) -> None:
    by_link, project_counts = participants(store, project), counts(store, project)
    people = [annotator for annotator in annotators(store, project) if annotator.id not in by_link]
    if not people:
        inform("This project has no annotators yet. Add them on the Projects page, then start a pilot.")
        page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return
    free = project_counts.by_labels.get(0, 0)
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
            " closed, and the method section will report it."
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


def _show_open(project: Project, figures: PilotProgress) -> None:
    pilot = figures.pilot
    with st.container(border=True):
        st.header(_("Pilot {number} is open", number=pilot.number), anchor=False)
        text = _("{items} items, drawn with seed {seed}, started {when}. Desks hand out only these.")
        st.caption(plain(text.format(items=figures.items, seed=pilot.seed, when=moment(pilot.begun))))
        for person in figures.people:
            where = {"project": project.name, "annotator": person.annotator.name}
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{plain(person.annotator.name)}**", width=180)
                done = _("{labelled} of {total}", labelled=person.labelled, total=figures.items)
                st.progress(min(1.0, person.labelled / figures.items) if figures.items else 0.0, done, width=260)
                page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
        if figures.complete:
            st.success(_("All annotators have finished the pilot."), icon=":material/check:")
            st.button(
                _("Close the pilot"), type="primary", key="pilot_close", on_click=_close, args=(project,),
            )  # fmt: skip
            return
        with st.popover(_("Close pilot early"), icon=":material/stop_circle:"):
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


def _show_closed(numbers: PilotNumbers) -> None:
    figures, pilot = numbers.figures, numbers.figures.pilot
    with st.container(border=True, key=f"pilot-{pilot.number}"):
        title = _("Pilot {number}: {items} items", number=pilot.number, items=figures.items)
        st.markdown(f"**{plain(title)}**")
        text = _("started {begun}, closed {closed}; {labelled} of {drawn} drawn items have a label")
        facts = {"begun": moment(pilot.begun), "closed": moment(pilot.closed)}
        st.caption(plain(text.format(**facts, labelled=figures.labelled, drawn=pilot.items)))
        left, right = st.columns([1, 2], gap="large")
        with left:
            id_ = "pilot.full_agreement"
            share = pilot_estimates(numbers)[id_]
            show_tiles([quantity_tile(id_, share, _alike(share, figures.compared))], 1)
        with right:
            rows = [
                {
                    _("Annotator"): person.annotator.name,
                    _("Labelled"): person.labelled,
                    _("Accepted, 95% interval"): with_interval(person.accepted, ".1%"),
                }
                for person in figures.people
            ]
            st.dataframe(rows, hide_index=True, key=f"people-{pilot.number}")
        with foot():
            show_signature(figures.signature)
            downloads([_row(figures, person) for person in figures.people], key=f"pilot-{pilot.number}-people")


def _show_differing(store: Store, project: Project, pilot: Pilot, *, opened: bool) -> None:
    """Show what to talk about after a pilot: the items on which annotators differed, with the answer of each."""
    items = differing_items(store, project, pilot)
    if not items:
        return
    names = names_of(store, project)
    label = _("Items on which annotators differed in pilot {pilot}: {number}")
    with st.expander(label.format(pilot=pilot.number, number=f"{len(items):,}"), expanded=opened):
        cards = [
            item_card(differing_item.uid, with_keyword(differing_item.text, differing_item.word, differing_item.side), [
                judgement(letter, choice, names, [names.get(code, code) for code in reasons])
                for letter, choice, reasons in differing_item.said
            ])
            for differing_item in items[:LISTED]
        ]  # fmt: skip
        show_html(element("div", joined(cards), "cards"))
        if len(items) > LISTED:
            caption("The first {shown} of {all}.", shown=LISTED, all=f"{len(items):,}")


def _alike(share: Estimate, compared: int) -> str:
    """Return on how many items all labels agree."""
    text = _("All annotators chose the same on {k} of {n} items with at least two blind labels.")
    return text.format(k=round((share.value or 0) * compared), n=compared)


def _row(figures: PilotProgress, one: Any) -> TableRow:
    return {
        "pilot": figures.pilot.number, "annotator": one.annotator.name, "labelled": one.labelled,
        "accepted": one.accepted.value, "low": one.accepted.low, "high": one.accepted.high,
        "all_agree": figures.unanimous.value, "all_agree_low": figures.unanimous.low,
        "all_agree_high": figures.unanimous.high, "compared": figures.compared, "signature": figures.signature,
    }  # fmt: skip


PAGE = 12
TAGGED = 30  # items of a tag
UNDECIDED, NEW, OUT = "?", "+", "-"  # no code is one of these: a code is checked before it is kept


def show_tags(store: Store, project: Project) -> None:
    """Show every tag with its counts; each can be opened, and given a criterion."""
    if not pilots(store, project):
        inform("Tags are written in a pilot. Start one first.", icon=":material/label:")
        return
    with foot():
        caption("Choose the criterion for each tag. Choices are saved immediately and used in the next version.")
        together = st.toggle(_("Group similar spellings"), True, key="tags_together")
    found = tags(store, project, together=together)
    if not found:
        inform("No tags have been written yet.", icon=":material/label:")
        return
    draft, codes = drafts.read_draft(store, project), drafts.tag_codes(store, project)
    decided = sum(tag.text in codes for tag in found)
    left = _("{decided} of {all} decided", decided=decided, all=len(found))
    st.progress(decided / len(found), left)
    for number, tag in enumerate(page_of(found, "tags-page", PAGE)):
        _show_tag(store, project, tag, number, draft, codes)
    with foot():
        show_pages(len(found), "tags-page", PAGE)
        if text_may_leave(project):  # a free tag may quote the text
            downloads([_tag_row(tag, codes) for tag in found], key="tags")
    st.button(
        _("Continue to the next version"),
        type="primary",
        icon=":material/arrow_forward:",
        on_click=_go_on,
        args=("guideline",),
        key="go_on",
    )


def _tag_row(tag: Tag, codes: dict[str, str | None]) -> dict[str, object]:
    state = "undecided" if tag.text not in codes else "criterion" if codes[tag.text] else "left out"
    return {
        "tag": tag.text, "spellings": " | ".join(tag.spellings), "items": tag.items, "labels": tag.labels,
        "annotators": tag.annotators, "state": state, "code": codes.get(tag.text) or "",
    }  # fmt: skip


def _show_tag(
    store: Store, project: Project, tag: Tag, number: int, draft: drafts.Draft, codes: dict[str, str | None]
) -> None:
    place = f"tag-{number}-{tag.text}"
    with st.container(border=True, key=f"tag-box-{number}"):
        left, right = st.columns([3, 2], vertical_alignment="center")
        with left:
            st.markdown(" · ".join(f"**{plain(text)}**" for text in tag.spellings))
            text = _("{items} items, {labels} labels, {annotators} annotators")
            st.caption(plain(text.format(items=tag.items, labels=tag.labels, annotators=tag.annotators)))
        with right:
            _choose(project, tag, draft, codes, place)
        if st.session_state.get(place) == NEW:
            _new_criterion(project, tag, draft, place)
        if st.toggle(_("Show its items"), key=f"open-{place}"):
            _items(store, project, tag, draft)


def _choose(project: Project, tag: Tag, draft: drafts.Draft, codes: dict[str, str | None], place: str) -> None:
    names = {UNDECIDED: _("not decided yet"), OUT: _("left out: no criterion"), NEW: _("a new criterion …")}
    known = {reason.code: in_brackets(choice_name(reason), reason.code) for reason in draft.reasons}
    stands = UNDECIDED if tag.text not in codes else codes[tag.text] or OUT
    if stands not in known and stands not in names:
        stands = UNDECIDED  # its criterion was taken out of the draft again
    if st.session_state.get(place) != NEW:
        st.session_state[place] = stands
    st.selectbox(
        spoken(_("Criterion for {tag}", tag=tag.text)),
        [UNDECIDED, *known, NEW, OUT],
        key=place,
        format_func=lambda code: {**names, **known}[code],
        on_change=_keep,
        args=(project, tag.spellings, place),
        label_visibility="collapsed",
    )


@asks_at_click("change_projects")
def _keep(project: Project, spellings: Sequence[str], place: str) -> None:
    chosen = st.session_state[place]
    if chosen == NEW:
        return
    with open_store(project) as store:
        if chosen == UNDECIDED:
            drafts.reopen_tags(store, project, spellings)
        else:
            drafts.assign_tags(store, project, spellings, None if chosen == OUT else chosen)


def _new_criterion(project: Project, tag: Tag, draft: drafts.Draft, place: str) -> None:
    name = _plain_name(tag.text)
    chinese = any("CJK" in unicodedata.name(character, "") for character in name)
    with st.form(f"new-{place}", border=False):
        caption("Not saved yet: add the criterion to save it.")
        with st.container(horizontal=True):
            code = st.text_input(_("Code"), _free_code(name, draft), key=f"code-{place}", max_chars=60, width=180)
            key = st.text_input(_("Key"), _free_key(project.kind, draft), key=f"key-{place}", max_chars=1, width=80)
            zh = st.text_input("中文", name if chinese else "", key=f"zh-{place}", width=260)
            en = st.text_input("English", "" if chinese else name, key=f"en-{place}", width=260)
        if st.form_submit_button(_("Add criterion"), key=f"add-{place}", icon=":material/add:"):
            made = Choice(code.strip(), key.strip(), zh.strip(), en.strip())
            with errors_shown():
                _add(project, tag.spellings, made)
                del st.session_state[place]
                st.rerun()


@asks("change_projects")
def _add(project: Project, spellings: Sequence[str], made: Choice) -> None:
    with open_store(project) as store:
        draft = drafts.read_draft(store, project)
        drafts.check_criterion(made, draft.reasons)
        drafts.check_key(project.kind, made.key)
        drafts.save_draft(store, project, replace(draft, reasons=(*draft.reasons, made)))
        drafts.assign_tags(store, project, spellings, made.code)


def _plain_name(text: str) -> str:
    """Return a tag without the punctuation at its ends, as the proposed name of a criterion."""
    inside = [place for place, character in enumerate(text) if unicodedata.category(character)[0] != "P"]
    return text[inside[0] : inside[-1] + 1].strip() if inside else text


def _free_code(text: str, draft: drafts.Draft) -> str:
    bare = "_".join(text.lower().split())
    if bare.isascii() and bare.replace("_", "").isalnum() and bare not in {reason.code for reason in draft.reasons}:
        return bare
    return f"criterion_{len(draft.reasons) + 1}"


def _free_key(kind: Kind, draft: drafts.Draft) -> str:
    return next(iter(free_keys(kind, draft.reasons)), "")


def _people(store: Store, project: Project) -> dict[int, str]:
    return {annotator.id: annotator.name for annotator in annotators(store, project, active=False)}


def _items(store: Store, project: Project, one: Tag, draft: drafts.Draft) -> None:
    """Show the items with a tag and their labels; a pilot shows letters instead of names."""
    going = open_pilot(store, project)
    people = letters(store, project, going) if going else _people(store, project)
    names = names_of(store, project, draft.reasons)
    items = items_with_tags(store, project, one.spellings)
    for item, tagged_labels in items[:TAGGED]:
        context = f"{item.context}\n" if item.context else ""
        body = element("div", context + item.whole_text, "verbatim")
        people_said = [
            judgement(
                people.get(tagged_label.annotator, "?"), tagged_label.choice, names,
                [*(names.get(code, code) for code in tagged_label.reasons), *(f"#{tag}" for tag in tagged_label.tags)],
                tagged_label.note,
            )
            for tagged_label in tagged_labels
        ]  # fmt: skip
        show_html(joined([body, *people_said]))
    if len(items) > TAGGED:
        caption("The first {shown} of {all} items; see the rest on the Browse page.", shown=TAGGED, all=len(items))
