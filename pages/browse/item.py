"""One item on the page Browse: text, reason of the status, history, source, comments, actions."""

import json
import uuid
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication.decisions import Comment, add_comment, every_comment
from evenhand.annotations.agreement.disagreements import record_item_reveals
from evenhand.annotations.browse.history import Entry, ItemRecord, record_of
from evenhand.annotations.browse.search import neighbours, search_ids, uid_of
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import annotators, return_to_queue
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Kind, Project
from evenhand.core.errors import NotFound
from evenhand.core.statistics.estimate import Note
from evenhand.core.types import TableRow
from evenhand.pages.browse import filters
from evenhand.pages.browse.cell import of_cell
from evenhand.pages.ui.charts import downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.results import show_try_link
from evenhand.pages.ui.sentences import choice_sign, names_of
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, inform, named, paragraph, plain, series, warn
from evenhand.pages.ui.visitor import asks, asks_at_click, author, errors_shown, open_store, page_link, show_error

CHOSEN = ("label", "again", "settlement", "known", "gold")  # entries that hold a choice


def _held(state: str) -> str:
    if state == "sent_back":
        return _("Awaiting relabelling by {name}.")
    return _("This item is on {name}'s desk now.")


def _unfinished(item_record: ItemRecord, entries: list[Entry]) -> list[Entry]:
    telling = [entry for entry in entries if entry.tells]
    if not telling:
        return entries
    warn(
        "This item is still awaiting labels. If you label in this project, do not look at the labels of others.",
        icon=":material/visibility_off:",
    )
    key = f"unfinished-{item_record.row.item.uid}"
    text = _("Show the labels so far ({n})", n=len(telling))
    if not st.toggle(text, key=key):
        return [entry for entry in entries if not entry.tells]
    return entries


def _line(entry: Entry, item_record: ItemRecord, names: dict[str, str], threads: dict[str, str]) -> Markup:
    chosen = str(entry.data.get("choice")) if entry.kind in CHOSEN else ""
    sign, tone = choice_sign(chosen)
    kind: Kind = "generations" if item_record.row.item.word is None else "sentences"
    replaced = entry.kind == "label" and not entry.data["stands"]
    notes = (element("div", note, "soft verbatim") for note in _notes(entry, item_record, names))
    what = element(
        "div", joined([entry_text(entry, names, threads, kind), *notes]), "what soft" if replaced else "what"
    )
    when = element("time", moment(entry.when), "small nowrap")
    return element("div", joined([span(sign, f"strong {tone or 'soft'}"), what, when]), "entry")


def entry_text(entry: Entry, names: dict[str, str], threads: dict[str, str], kind: Kind) -> str:
    """Return an entry as one sentence."""
    data = entry.data
    who = entry.who or _("unknown person")
    choice = names.get(str(data.get("choice")), str(data.get("choice")))
    if entry.kind == "label":
        return _label(data, who, choice)
    if entry.kind == "again":
        text = _("{who}, retest: {choice}") if data["choice"] else _("{who} undid the retest label")
        return text.format(who=who, choice=choice)
    if entry.kind == "gold":
        if not data["holds"]:
            return _("Gold label of {file} removed by undoing the import", file=data["package"])
        if data["choice"] is None:
            return _("No gold label in {file}", file=data["package"])
        return _("Gold label from {file}, without its single labels: {choice}", file=data["package"], choice=choice)
    if entry.kind == "settlement":
        texts = {
            "decide": _("{who} decided: {choice}"),
            "leave": _("{who} confirmed the labels"),
            "reopen": _("{who} reopened the case"),
        }
        return texts[data["action"]].format(who=who, choice=choice)
    if entry.kind == "comment":
        if data["thread"]:
            return _("{who}, in the thread with {name}:", who=who, name=threads.get(data["thread"], "?"))
        return _("{who}, to all:", who=who)
    return _other(entry, who, choice, kind)


def _label(data: dict[str, Any], who: str, choice: str) -> str:
    if data["choice"] is None:
        return _("{who} undid the label", who=who)
    text = _("{who}: {choice}", who=who, choice=choice)
    if data["superseded"]:
        text += " · " + _("a label from another window was first")
    elif not data["stands"]:
        text += " · " + _("replaced later")
    if data["after_reveal"]:
        text += " · " + _("after seeing others' opinions")
    return text


def _other(entry: Entry, who: str, choice: str, kind: Kind) -> str:
    data = entry.data
    if entry.kind == "imported":
        return _("Imported from {file}", file=data["file"])
    if entry.kind == "guideline":
        return _("Guideline v{version}", version=data["version"])
    if entry.kind == "skip":
        return _("{who} skipped the item", who=who)
    if entry.kind == "revealed":
        return _("{who} saw an opinion of others or of a model", who=who)
    if entry.kind == "known":
        if data["choice"] is None:
            return _("{who} removed the known answer", who=who)
        return _("{who} set a known answer: {choice}", who=who, choice=choice)
    if entry.kind == "released":
        return _(
            "In release {version}: {status}", version=data["version"], status=filters.status_name(data["status"], kind)
        )
    return f"{action_name(data['action'])} · {who}"


def action_name(action: str) -> str:
    """Return an act of the lead in words."""
    names = {
        "sent_back": _("Labels sent back for relabelling"),
        "handed_out": _("Handed out again"),
        "hidden_gold": _("Known answers set"),
        "replaced": _("Annotator replaced"),
        "deactivated": _("Annotator left"),
        "renamed": _("Annotator renamed"),
        "given_back": _("Items returned"),
        "labels_withdrawn": _("Labels withdrawn by their annotator"),
        "study_made": _("Study created"),
        "study_consent": _("Consent form of a study changed"),
        "study_closed": _("Study closed"),
        "study_reopened": _("Study reopened"),
        "mined": _("Mined candidates imported"),
        "import_undone": _("Import undone"),
        "labels_undone": _("Imported labels removed by undoing an import"),
        "new_version": _("New version of the guideline"),
        "read_changes": _("Guideline changes read"),
        "pilot_started": _("Pilot started"),
        "sample_started": _("Sample drawn"),
        "sample_closed": _("Sample closed"),
        "pilot_closed": _("Pilot closed"),
        "plan": _("Labelling plan changed"),
        "settings": _("Settings changed"),
        "settling": _("Items are being recounted"),
        "settled": _("Items have been recounted"),
        "gold_corrected": _("Gold labels corrected"),
        "preregistered": _("Pre-registration added"),
        "follow_up_drawn": _("Follow-up sample drawn"),
        "lead_labels": _("Lead chose whether to label"),
        "release": _("Release created"),
        "exported": _("File exported"),
    }
    return names.get(action, action.replace("_", " "))


def _notes(entry: Entry, item_record: ItemRecord, names: dict[str, str]) -> list[str]:
    """Return the line under the sentence: reasons, marks, notes, how it was labelled."""
    data = entry.data
    if entry.kind in ("label", "again"):
        return _label_notes(data, item_record, names)
    if entry.kind == "settlement":
        return [note for note in (series(names.get(code, code) for code in data["reasons"]), data["why"]) if note]
    if entry.kind == "event":
        return [series(named(name, value) for name, value in data["data"].items())] if data["data"] else []
    keys = {"comment": "text", "known": "why", "guideline": "changes"}
    return [note] if (note := data.get(keys.get(entry.kind, ""), "")) else []


def _label_notes(data: dict[str, Any], item_record: ItemRecord, names: dict[str, str]) -> list[str]:
    if data["choice"] is None:
        return []
    kinds = {"pronoun": _("wrong pronoun"), "extraneous": _("gendered word")}
    lines = [series(names.get(code, code) for code in data["reasons"])]
    lines.append(
        series(
            named(names.get(kind) or kinds.get(kind, kind), item_record.row.item.text[a:b])
            for a, b, kind in data["spans"]
        )
    )
    lines.append(_("extraneous gendered language") if data["extraneous"] else "")
    lines.append(_("tags: {tags}", tags=series(data["tags"])) if data["tags"] else "")
    lines.append(data["note"])
    how = [f"v{data['guideline']}", *([filters.form_name(data["form"])] if data["form"] else [])]
    if data["seconds"] is not None:
        how.append(_("{seconds} s", seconds=f"{data['seconds']:.1f}"))
    if data["file"]:
        how.append(_("from {file}", file=data["file"]))
    return [line for line in (*lines, " · ".join(how)) if line]


def _row(entry: Entry, project: Project, names: dict[str, str], threads: dict[str, str]) -> TableRow:
    data = entry.data
    quotes = text_may_leave(project)  # notes and comments may quote the text
    note = str(data.get("note") or data.get("why") or data.get("text") or data.get("changes") or "")
    return {
        "when": entry.when,
        "kind": entry.kind,
        "who": entry.who,
        "what": entry_text(entry, names, threads, project.kind),
        "choice": data.get("choice") or "",
        "reasons": ";".join(data.get("reasons", ())),
        "note": note if quotes else "",
        "guideline": data.get("guideline", ""),
        "form": data.get("form", ""),
        "seconds": data.get("seconds"),
    }


ALL = ""  # the discussion of everybody


def close() -> None:
    """Return to the list: remove the item from the address."""
    st.query_params.pop("item", None)


def open_item(uid: str) -> None:
    """Open an item."""
    st.query_params["item"] = uid


@asks("see_all_labels")
def show_item(store: Store, project: Project, uid: str, reader: Annotator | None) -> None:
    """Show the item with that public id, as far as *reader* (None: the lead) may see it."""
    try:
        item_record = record_of(store, project, uid, reader=reader)
    except NotFound as error:
        show_error(error)
        st.button(_("Back to the list"), icon=":material/arrow_back:", on_click=close)
        return
    _steps(store, project, item_record, reader)
    if reader is not None and not any(entry.kind == "label" for entry in item_record.history):
        inform("You have not labelled this item, so nothing is shown.", icon=":material/visibility_off:")
        return
    if reader is not None and item_record.finished:
        record_item_reveals(store, reader, [uid])  # public comments may reveal choices of others
    names = names_of(store, project)
    item = item_record.row.item
    context = element("div", filters.found_in(item.context, ()), "context") if item.context else ""
    text = joined([context, element("div", filters.marked(item, ()), "completion")])
    shown = element("div", text, "veiled", tabindex="0") if filters.veiled(project, item) else text
    show_html(
        element("article", joined([shown, _state(project, item_record, reader, names)]), "card", data_item=item.uid)
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header(_("History"), anchor=False)
        entries = list(item_record.history)
        if reader is None and not item_record.finished:
            entries = _unfinished(item_record, entries)
        for name, state in item_record.held:
            st.caption(plain(_held(state).format(name=name)), width="stretch")
        threads = {annotator.uid: annotator.name for annotator in annotators(store, project, active=False)}
        show_html(joined(_line(entry, item_record, names, threads) for entry in entries))
        rows = [_row(entry, project, names, threads) for entry in entries]
        downloads(rows, key=f"history-{item_record.row.item.uid[:8]}")
        _source(item_record)
    with right:
        show_talk(store, project, item_record, reader)
        show_actions(project, item_record, reader)


def _steps(store: Store, project: Project, item_record: ItemRecord, reader: Annotator | None) -> None:
    """Show the buttons to the list and to the previous and the next item."""
    ids = search_ids(store, project, of_cell(store, project, filters.from_address(project, reader)))
    before, after, place = neighbours(ids, item_record.row.item.id)
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


def _state(project: Project, item_record: ItemRecord, reader: Annotator | None, names: dict[str, str]) -> Markup:
    row = item_record.row
    facts = [row.item.pair] if row.item.pair else []
    facts.append(f"{row.item.file} · {row.item.line:,}")
    if reader is not None:
        return below(" · ".join(facts))
    facts.insert(1, _("labels: {labels} of {wanted}", labels=row.labels, wanted=row.wanted))
    tone = {"accepted": "good", "rejected": "bad"}.get(row.item.status, "soft")
    state = span(filters.state_name(row, project), f"strong {tone}")
    why = paragraph(_sentence(note, names) for note in item_record.because)
    tags = joined(span(mark, "tag") for mark in filters.marks(row, project))
    return joined([below(" · ".join(facts)), element("div", joined([state, why], " "), "part"), element("div", tags)])


def _sentence(note: Note, names: dict[str, str]) -> str:
    shown = {name: names.get(str(value), value) if name == "choice" else value for name, value in note.values.items()}
    return _(note.message).format(**shown)


def _source(item_record: ItemRecord) -> None:
    """Show the source of the item: file, line, id and imported columns."""
    item = item_record.row.item
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
    """Return the annotator whose desk of this project is open in this visit, or None; explains what that means."""
    reader = annotator_at_desk(store, project)
    if reader is not None:
        text = _(
            "Your desk as {name} is open: only items you have labelled are listed, with your own labels"
            " and your thread with the lead. Open this page in a new tab to see it as the lead."
        )
        st.caption(plain(text.format(name=reader.name)), width="stretch")
    return reader


def show_talk(store: Store, project: Project, item_record: ItemRecord, reader: Annotator | None) -> None:
    """Show the comments, by thread, and a field for the next one."""
    st.header(_("Comments"), anchor=False)
    uid, comments = item_record.row.item.uid, every_comment(store, project, item_record.row.item.uid)
    people = {annotator.uid: annotator for annotator in annotators(store, project, active=False)}
    if reader is not None:
        names = {reader.uid: _("The lead and you")}
    else:
        names = {
            person.uid: plain(person.name)
            for person in people.values()
            if person.uid in _talkers(item_record, comments)
        }
    if item_record.finished:
        names[ALL] = _("Everybody")
    if not names:
        caption("Write to one annotator of this item, or to all of them once it has all its labels.")
        return
    thread = _choose(uid, names, comments)
    if thread == ALL:
        text = _("All annotators of this item can read this.")
    elif reader is not None:
        text = _("Only you and the lead can read this.")
    else:
        text = _("Only {name} and the lead can read this.", name=people[thread].name)
    st.caption(plain(text), width="stretch")
    shown = [comment for comment in comments if (comment.thread or ALL) == thread]
    for comment in shown:
        hidden = reader is not None and comment.thread is None and comment.annotator not in (None, reader.uid)
        writer = _("an annotator") if hidden else comment.author
        with st.container(border=True):
            st.caption(plain(f"{writer} · {moment(comment.created)}"))
            st.text(comment.text)
    _write(store, project, uid, len(comments), people.get(thread), reader)


def _talkers(item_record: ItemRecord, comments: list[Comment]) -> set[str]:
    """Return the public ids of annotators with a private thread.

    They have labelled or skipped the item, or have already written.
    """
    return {comment.thread for comment in comments if comment.thread} | set(item_record.talkers)


def _choose(uid: str, names: dict[str, str], comments: list[Comment]) -> str:
    if len(names) == 1:
        return next(iter(names))
    numbers = {thread: sum((comment.thread or ALL) == thread for comment in comments) for thread in names}
    labels = {thread: in_brackets(name, numbers[thread]) if numbers[thread] else name for thread, name in names.items()}
    first = next((thread for thread in names if numbers[thread]), next(iter(names)))
    chosen = st.pills(
        _("Recipient"), list(labels), default=first, format_func=labels.__getitem__, key=f"thread-{uid}",
        label_visibility="collapsed", required=True, width="stretch",
    )  # fmt: skip
    return str(chosen or ALL) if (chosen or ALL) in names else first


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


def show_actions(project: Project, item_record: ItemRecord, reader: Annotator | None) -> None:
    """Show the actions on the item, and other pages that open it."""
    item, row = item_record.row.item, item_record.row
    if reader is None and row.aside:
        st.button(
            _("Hand out again"), icon=":material/replay:", key="browse-hand-out", on_click=_hand_out,
            args=(project, item.uid, item.id),
            help=_("All annotators skipped this item; it goes back to all of them."),
        )  # fmt: skip
    if row.split or row.settled:
        where = {"project": project.name, "item": item.uid}
        if row.settled:
            where["queue"] = "settled"
        page_link("adjudication/page.py", label=_("Open in Adjudicate"), icon=":material/gavel:", query_params=where)
    show_try_link(project, item.text)


@asks_at_click("change_projects")
def _hand_out(project: Project, uid: str, item: int) -> None:
    with open_store(project) as store:
        return_to_queue(store, project, uid)
        with store.write():
            record(store, project, "handed_out", item=item)
