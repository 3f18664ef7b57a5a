"""One item on the page Browse: text, reason of the status, source, comments, actions."""

import json
import uuid
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication.decisions import Comment, add_comment, every_comment
from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.browse.history import ItemRecord, record_of
from evenhand.annotations.browse.search import neighbours, search_ids, uid_of
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, return_to_queue
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import NotFound
from evenhand.pages.browse.filters import from_address
from evenhand.pages.browse.history import show_history
from evenhand.pages.browse.text import found_in, marked, marks, state_name, veiled
from evenhand.pages.ui.charts import foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import errors_shown, open_store, show_error
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.sentences import names_of
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, inform, paragraph, plain
from evenhand.pages.ui.visitor import author, page_link

ALL = ""  # the discussion of everybody


def opened() -> str | None:
    """The public id of the item that is open, if any; the address holds it."""
    return st.query_params.get("item") or None


def open_item(uid: str) -> None:
    """Open an item."""
    st.query_params["item"] = uid


def close() -> None:
    """Back to the list."""
    st.query_params.pop("item", None)


@asks("see_all_labels")
def show_item(store: Store, project: Project, uid: str, reader: Annotator | None) -> None:
    """The item with that public id, as far as *reader* (None: the lead) may see it."""
    try:
        found = record_of(store, project, uid, reader=reader)
    except NotFound as error:
        show_error(error)
        st.button(_("Back to the list"), icon=":material/arrow_back:", on_click=close)
        return
    _steps(store, project, found, reader)
    if reader is not None and not any(one.kind == "label" for one in found.history):
        inform("You have not labelled this item, so nothing is shown.", icon=":material/visibility_off:")
        return
    if reader is not None and found.finished:
        record_item_reveals(store, reader, [uid])  # public comments may reveal choices of others
    names = names_of(store, project)
    _card(project, found, reader, names)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_history(store, project, found, reader, names)
        _source(found)
    with right:
        show_talk(store, project, found, reader)
        show_actions(project, found, reader)


def _steps(store: Store, project: Project, found: ItemRecord, reader: Annotator | None) -> None:
    """Back to the list, and to the items before and after it."""
    ids = search_ids(store, project, from_address(project, reader))
    before, after, place = neighbours(ids, found.row.item.id)
    with foot():
        st.button(_("Back to the list"), icon=":material/arrow_back:", key="browse-back", on_click=close)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            if place:
                st.caption(plain(_("{place} of {all}", place=f"{place:,}", all=f"{len(ids):,}")), width="content")
            for key, icon, item, name in (
                ("browse-before", ":material/chevron_left:", before, _("Previous item")),
                ("browse-after", ":material/chevron_right:", after, _("Next item")),
            ):
                if item is None:
                    st.button("", icon=icon, key=key, disabled=True, help=name)
                else:
                    st.button("", icon=icon, key=key, help=name, on_click=open_item, args=(uid_of(store, item),))


def _card(project: Project, found: ItemRecord, reader: Annotator | None, names: dict[str, str]) -> None:
    item = found.row.item
    context = element("div", found_in(item.context, ()), "context") if item.context else ""
    text = joined([context, element("div", marked(item, ()), "completion")])
    shown = element("div", text, "veiled", tabindex="0") if veiled(project, item) else text
    show_html(element("article", joined([shown, _state(project, found, reader, names)]), "card", data_item=item.uid))


def _state(project: Project, found: ItemRecord, reader: Annotator | None, names: dict[str, str]) -> Markup:
    row = found.row
    facts = [row.item.pair] if row.item.pair else []
    facts.append(f"{row.item.file} · {row.item.line:,}")
    if reader is not None:
        return below(" · ".join(facts))
    facts.insert(1, _("labels: {labels} of {wanted}", labels=row.labels, wanted=row.wanted))
    tone = {"accepted": "good", "rejected": "bad"}.get(row.item.status, "soft")
    state = span(state_name(row, project), f"strong {tone}")
    why = paragraph(_sentence(note.message, dict(note.values), names) for note in found.because)
    tags = joined(span(one, "tag") for one in marks(row, project))
    return joined([below(" · ".join(facts)), element("div", joined([state, why], " "), "part"), element("div", tags)])


def _sentence(message: str, values: dict[str, Any], names: dict[str, str]) -> str:
    shown = {name: names.get(value, value) if name == "choice" else value for name, value in values.items()}
    return _(message).format(**shown)


def _source(found: ItemRecord) -> None:
    """The source of the item: file, line, id and imported columns."""
    item = found.row.item
    with st.expander(_("Origin")):
        rows = [(_("Id"), item.uid), (_("File"), item.file), (_("Line"), f"{item.line:,}")]
        if item.keyword:
            rows += [(_("Keyword"), item.keyword), (_("Counterpart"), item.counterpart or DASH)]
        for name, value in item.extra.items():
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows.append((name, DASH if value in (None, [], {}) else written))
        body = joined(joined([element("dt", name, "small"), element("dd", value, "verbatim")]) for name, value in rows)
        show_html(element("dl", body, "columns"))


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
        caption("Write to individual annotators of this item here, or to all of them once it has all its labels.")
        return
    thread = _choose(uid, names, said)
    if thread == ALL:
        text = _("Everybody who labelled this item can read this.")
    elif reader is not None:
        text = _("Only you and the lead can read this.")
    else:
        text = _("Only {name} and the lead can read this.", name=people[thread].name)
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
    who = reader.name if reader else author(store) or _("Lead")
    # One id per field, so that a double click is one comment.
    op_id = st.session_state.setdefault(f"talk-op-{key}", uuid.uuid4().hex)
    with errors_shown():
        add_comment(store, project, uid, text, author=who, annotator=reader, thread=thread, op_id=op_id)
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
