"""Comments on an item and its actions, on the page Browse."""

import uuid

import streamlit as st

from evenhand.annotations.adjudication import Comment, add_comment, every_comment
from evenhand.annotations.browse.history import ItemRecord
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, return_to_queue
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.text import in_brackets, plain
from evenhand.pages.ui.visitor import author, page_link

ALL = ""  # the discussion of everybody


def reader_here(store: Store, project: Project) -> Annotator | None:
    """The annotator whose desk of this project is open in this visit, or None; explains what that means."""
    reader = annotator_at_desk(store, project)
    if reader is not None:
        text = _(
            "Your desk as {name} is open: only items you have labelled are listed, with your own labels"
            " and your thread with the lead. Open this page in a new tab to see it as the lead."
        )
        st.caption(plain(text.format(name=reader.name)), width="stretch")
    return reader


def show_talk(store: Store, project: Project, found: ItemRecord, reader: Annotator | None) -> None:
    """The comments, by thread, and a field for the next one."""
    st.subheader(_("Comments"), anchor=False)
    uid, said = found.row.item.uid, every_comment(store, project, found.row.item.uid)
    people = {one.uid: one for one in annotators(store, project, active=False)}
    if reader is not None:
        names = {reader.uid: _("The lead and you")}
    else:
        names = {one.uid: plain(one.name) for one in people.values() if one.uid in _talkers(found, said)}
    if found.finished:
        names[ALL] = _("Everybody")
    if not names:
        st.caption(_("Write to individual annotators of this item here, or to all of them once it has all its labels."))
        return
    thread = _choose(uid, names, said)
    if thread == ALL:
        text = _("Everybody who labelled this item can read this.")
    elif reader is not None:
        text = _("Only you and the lead can read this.")
    else:
        text = _("Only {name} and the lead can read this.").format(name=people[thread].name)
    st.caption(plain(text), width="stretch")
    shown = [one for one in said if (one.thread or ALL) == thread]
    for one in shown:
        _show(one, reader)
    _write(store, project, uid, len(said), people.get(thread), reader)


def _talkers(found: ItemRecord, said: list[Comment]) -> set[str]:
    """Public ids of annotators for a private thread: they labelled or skipped the item, or have written already."""
    return {one.thread for one in said if one.thread} | set(found.talkers)


def _choose(uid: str, names: dict[str, str], said: list[Comment]) -> str:
    if len(names) == 1:
        return next(iter(names))
    numbers = {thread: sum((one.thread or ALL) == thread for one in said) for thread in names}
    labels = {thread: in_brackets(name, numbers[thread]) if numbers[thread] else name for thread, name in names.items()}
    first = next((thread for thread in names if numbers[thread]), next(iter(names)))
    chosen = st.pills(
        _("Recipient"), list(labels), default=first, format_func=labels.__getitem__, key=f"thread-{uid}",
        label_visibility="collapsed", required=True, width="stretch",
    )  # fmt: skip
    return str(chosen or ALL) if (chosen or ALL) in names else first


def _show(one: Comment, reader: Annotator | None) -> None:
    hidden = reader is not None and one.thread is None and one.annotator not in (None, reader.uid)
    author = _("an annotator") if hidden else one.author
    with st.container(border=True):
        st.caption(plain(f"{author} · {moment(one.created)}"))
        st.text(one.text)


@asks("settle")
def _write(
    store: Store, project: Project, uid: str, number: int, thread: Annotator | None, reader: Annotator | None
) -> None:
    key = f"{uid}-{thread.uid if thread else 'all'}-{number}"
    with st.form(f"talk-{key}", border=False):
        text = st.text_area(_("Comment"), key=f"talk-text-{key}", height=80, max_chars=4000)
        if not st.form_submit_button(_("Add the comment"), icon=":material/chat:"):
            return
    who = reader.name if reader else author(store, st.session_state.get("adjudicator") or "") or _("Lead")
    # One id per field, so that a double click is one comment.
    op_id = st.session_state.setdefault(f"talk-op-{key}", uuid.uuid4().hex)
    try:
        add_comment(store, project, uid, text, author=who, annotator=reader, thread=thread, op_id=op_id)
    except EvenhandError as error:
        show_error(error)
        return
    st.rerun()


def show_actions(project: Project, found: ItemRecord, reader: Annotator | None) -> None:
    """The actions on the item, and other pages that open it."""
    item, row = found.row.item, found.row
    if reader is None and row.aside:
        st.button(
            _("Hand out again"), icon=":material/replay:", key="browse-hand-out", on_click=_hand_out,
            args=(project, item.uid, item.id),
            help=_("Everybody skipped this item; it goes back to all of them."),
        )  # fmt: skip
    if row.split or row.settled:
        where = {"project": project.name, "item": item.uid}
        if row.settled:
            where["queue"] = "settled"
        page_link("adjudication/page.py", label=_("Open in Adjudicate"), icon=":material/gavel:", query_params=where)
    if project.kind == "sentences" and text_may_leave(project):
        page_link(
            "sentence_bias/page.py",
            label=_("Model scores"),
            icon=":material/balance:",
            query_params={"text": item.text},
        )


@asks_at_click("change_projects")
def _hand_out(project: Project, uid: str, item: int) -> None:
    with open_store(project) as store:
        return_to_queue(store, project, uid)
        with store.write():
            record(store, project, "handed_out", item=item)
