"""Tags on the page Pilot: their counts, their items, and the criterion that each tag becomes."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.drafts import (
    Draft,
    Tag,
    assign_tags,
    check_criterion,
    check_key,
    items_with_tags,
    read_draft,
    reopen_tags,
    save_draft,
    tag_codes,
    tags,
)
from evenhand.annotations.guideline.versions import free_keys
from evenhand.annotations.pilot.figures import letters
from evenhand.annotations.pilot.pilots import open_pilot, pilots
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Choice, Kind, Project
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.head import errors_shown, open_store
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.sentences import choice_name, judgement, names_of
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import _, caption, in_brackets, inform, plain, spoken

PAGE = 12
LISTED = 30  # items of a tag
UNDECIDED, NEW, OUT = "?", "+", "-"  # no code is one of these: a code is checked before it is kept


def show_tags(store: Store, project: Project) -> None:
    """Every tag with its counts; each can be opened, and given a criterion."""
    if not pilots(store, project):
        inform("Tags are written in a pilot. Start one first.", icon=":material/label:")
        return
    with foot():
        caption("Choose the criterion for each tag. Choices are saved immediately and used in the next version.")
        together = st.toggle(_("Group similar spellings"), True, key="tags_together")
    found = tags(store, project, together=together)
    if not found:
        inform("Nobody has written a tag yet.", icon=":material/label:")
        return
    kept, codes = read_draft(store, project), tag_codes(store, project)
    decided = sum(one.text in codes for one in found)
    left = _("{decided} of {all} decided", decided=decided, all=len(found))
    st.progress(decided / len(found), left)
    page = min(st.session_state.get("tags-page", 1), -(-len(found) // PAGE))
    for number, one in enumerate(found[PAGE * (page - 1) : PAGE * page]):
        _show_tag(store, project, one, number, kept, codes)
    with foot():
        if len(found) > PAGE:
            st.pagination(-(-len(found) // PAGE), width=300, key="tags-page")
        if text_may_leave(project):  # a free tag may quote the text
            downloads([_row(one, codes) for one in found], key="tags")
    st.button(
        _("Continue to the next version"), type="primary", icon=":material/arrow_forward:", on_click=_go_on, key="go_on"
    )


def _go_on() -> None:
    st.session_state["pilot_part"] = st.query_params["part"] = "guideline"


def _row(one: Tag, codes: dict[str, str | None]) -> dict[str, object]:
    state = "undecided" if one.text not in codes else "criterion" if codes[one.text] else "left out"
    return {
        "tag": one.text, "spellings": " | ".join(one.spellings), "items": one.items, "labels": one.labels,
        "annotators": one.annotators, "state": state, "code": codes.get(one.text) or "",
    }  # fmt: skip


def _show_tag(store: Store, project: Project, one: Tag, number: int, kept: Draft, codes: dict[str, str | None]) -> None:
    place = f"tag-{number}-{one.text}"
    with st.container(border=True, key=f"tag-box-{number}"):
        left, right = st.columns([3, 2], vertical_alignment="center")
        with left:
            st.markdown(" · ".join(f"**{plain(text)}**" for text in one.spellings))
            text = _("{items} items, {labels} labels, {annotators} annotators")
            st.caption(plain(text.format(items=one.items, labels=one.labels, annotators=one.annotators)))
        with right:
            _choose(project, one, kept, codes, place)
        if st.session_state.get(place) == NEW:
            _new_criterion(project, one, kept, place)
        if st.toggle(_("Show its items"), key=f"open-{place}"):
            _items(store, project, one, kept)


def _choose(project: Project, one: Tag, kept: Draft, codes: dict[str, str | None], place: str) -> None:
    names = {UNDECIDED: _("not decided yet"), OUT: _("left out: no criterion"), NEW: _("a new criterion …")}
    known = {each.code: in_brackets(choice_name(each), each.code) for each in kept.reasons}
    stands = UNDECIDED if one.text not in codes else codes[one.text] or OUT
    if stands not in known and stands not in names:
        stands = UNDECIDED  # its criterion was taken out of the draft again
    if st.session_state.get(place) != NEW:
        st.session_state[place] = stands
    st.selectbox(
        spoken(_("Criterion for {tag}", tag=one.text)),
        [UNDECIDED, *known, NEW, OUT],
        key=place,
        format_func=lambda code: {**names, **known}[code],
        on_change=_keep,
        args=(project, one.spellings, place),
        label_visibility="collapsed",
    )


@asks_at_click("change_projects")
def _keep(project: Project, spellings: Sequence[str], place: str) -> None:
    chosen = st.session_state[place]
    if chosen == NEW:
        return
    with open_store(project) as store:
        if chosen == UNDECIDED:
            reopen_tags(store, project, spellings)
        else:
            assign_tags(store, project, spellings, None if chosen == OUT else chosen)


def _new_criterion(project: Project, one: Tag, kept: Draft, place: str) -> None:
    name = _plain_name(one.text)
    chinese = any("CJK" in unicodedata.name(character, "") for character in name)
    with st.form(f"new-{place}", border=False):
        caption("Not saved yet: add the criterion to save it.")
        with st.container(horizontal=True):
            code = st.text_input(_("Code"), _free_code(name, kept), key=f"code-{place}", max_chars=60, width=180)
            key = st.text_input(_("Key"), _free_key(project.kind, kept), key=f"key-{place}", max_chars=1, width=80)
            zh = st.text_input("中文", name if chinese else "", key=f"zh-{place}", width=260)
            en = st.text_input("English", "" if chinese else name, key=f"en-{place}", width=260)
        if st.form_submit_button(_("Add criterion"), key=f"add-{place}", icon=":material/add:"):
            made = Choice(code.strip(), key.strip(), zh.strip(), en.strip())
            with errors_shown():
                _add(project, one.spellings, made)
                del st.session_state[place]
                st.rerun()


@asks("change_projects")
def _add(project: Project, spellings: Sequence[str], made: Choice) -> None:
    with open_store(project) as store:
        kept = read_draft(store, project)
        check_criterion(made, kept.reasons)
        check_key(project.kind, made.key)
        save_draft(store, project, replace(kept, reasons=(*kept.reasons, made)))
        assign_tags(store, project, spellings, made.code)


def _plain_name(text: str) -> str:
    """A tag without the punctuation at its ends, as the proposed name of a criterion."""
    inside = [place for place, character in enumerate(text) if unicodedata.category(character)[0] != "P"]
    return text[inside[0] : inside[-1] + 1].strip() if inside else text


def _free_code(text: str, kept: Draft) -> str:
    bare = "_".join(text.lower().split())
    if bare.isascii() and bare.replace("_", "").isalnum() and bare not in {one.code for one in kept.reasons}:
        return bare
    return f"criterion_{len(kept.reasons) + 1}"


def _free_key(kind: Kind, kept: Draft) -> str:
    return next(iter(free_keys(kind, kept.reasons)), "")


def _people(store: Store, project: Project) -> dict[int, str]:
    return {one.id: one.name for one in annotators(store, project, active=False)}


def _items(store: Store, project: Project, one: Tag, kept: Draft) -> None:
    """The items with a tag and their labels; in a pilot letters stand for names."""
    going = open_pilot(store, project)
    people = letters(store, project, going) if going else _people(store, project)
    names = names_of(store, project, kept.reasons)
    found = items_with_tags(store, project, one.spellings)
    for item, said in found[:LISTED]:
        context = f"{item.context}\n" if item.context else ""
        body = element("div", context + item.whole_text, "verbatim")
        people_said = [
            judgement(
                people.get(each.annotator, "?"), each.choice, names,
                [*(names.get(code, code) for code in each.reasons), *(f"#{tag}" for tag in each.tags)], each.note,
            )
            for each in said
        ]  # fmt: skip
        show_html(joined([body, *people_said]))
    if len(found) > LISTED:
        caption("The first {shown} of {all} items; see the rest on the Browse page.", shown=LISTED, all=len(found))
