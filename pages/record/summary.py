"""The record of one annotator on the page My record: numbers, files, consent, and the items."""

from typing import get_args

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.adjudication.decisions import add_comment
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN, allowed
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import (
    NAMES,
    TEXTS,
    USES,
    Consent,
    OwnGroup,
    Use,
    answer_consent,
    consent_of,
    own_groups,
    set_group,
)
from evenhand.annotations.record.entries import Act, Entry, RecordQuery, RecordSummary, State, entries
from evenhand.annotations.record.files import own_heads, record_csv, record_json
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Project
from evenhand.core.language import LANGUAGES, translate
from evenhand.core.statistics.intervals import FEWEST_PEOPLE
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import annotator_at_desk, choose
from evenhand.pages.ui.numbers import duration, moment
from evenhand.pages.ui.sentences import choice_sign, marked, names_of, with_cover
from evenhand.pages.ui.tables import Tile, element, joined, show_html, show_tiles, span
from evenhand.pages.ui.text import _, caption, inform, language, paragraph, plain, series, spoken, warn
from evenhand.pages.ui.visitor import asks, base_path, errors_shown, open_store, page_link, visitor


def ask_annotator(store: Store, project: Project) -> Annotator | None:
    """Ask for the annotator of the record: from the address, the open desk of this visit, or a choice; or None."""
    who = visitor(store)
    result = {
        annotator.name: annotator
        for annotator in annotators(store, project, active=False)
        if allowed(who, "see_own_labels", project=project.uid, annotator=annotator.uid)
    }
    if not result:
        inform("This project has no annotators yet. Add them on the Projects page.")
        return None
    if who is not OPEN:
        return next(iter(result.values()))  # the own one: there is nothing to choose
    key = f"record-{project.uid}"
    if st.session_state.get(key) not in result:
        at_desk = annotator_at_desk(store, project)
        asked = st.query_params.get("annotator") or (at_desk.name if at_desk else None)
        if asked and asked not in result:
            warn("{name} is not an annotator of this project.", name=asked)
        st.session_state[key] = asked if asked in result else None
    name = st.selectbox(_("Annotator"), list(result), index=None, key=key, placeholder=_("Choose your name"))
    if name is None:
        st.query_params.pop("annotator", None)
        inform("Choose your name to see what is stored about you.", icon=":material/person:")
        return None
    st.query_params["annotator"] = name
    return result[name]


def show_summary(project: Project, record_summary: RecordSummary) -> None:
    """Show the numbers, and acts of the lead that concern this annotator."""
    states, until = record_summary.states, ""
    if record_summary.heard and states["leased"]:
        until = _("reserved for you until {moment}", moment=moment(record_summary.heard))
    twice = (
        _("of these, shown to you a second time: {twice}", twice=f"{record_summary.twice:,}")
        if record_summary.twice
        else ""
    )
    labels = _("labels made (each change counts again): {labels}", labels=f"{record_summary.labels:,}")
    others = _("went to others before you labelled them: {released}", released=f"{states['released']:,}")
    show_tiles(
        [
            Tile(_("Items labelled"), f"{states['labelled']:,}", (twice, labels)),
            Tile(_("On the desk"), f"{states['leased']:,}", (until,)),
            Tile(_("Skipped"), f"{states['skipped']:,}", (others,)),
            Tile(_("Time on items"), duration(record_summary.seconds), (_("total of the times measured at the desk"),)),
        ],
        4,
    )
    about = [_("In the project since {since}.", since=moment(record_summary.since))]
    if record_summary.told:
        about.append(
            _("You have read what changed up to version {version} of the guideline.", version=record_summary.told)
        )
    if not record_summary.active:
        about.append(_("You no longer label in this project; your labels stay."))
    st.caption(plain(paragraph(about)))
    if record_summary.active:
        where = {"project": project.name, "annotator": record_summary.annotator.name}
        page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
    if record_summary.events:
        with st.expander(_("Actions by the lead ({number})").format(number=len(record_summary.events))):
            for when, action, data in reversed(record_summary.events[-200:]):
                st.caption(plain(f"{moment(when)} · {_event(action, data)}"))


def _event(action: str, data: dict[str, object]) -> str:
    texts = {
        "joined": _("added you to this project"),
        "reactivated": _("reactivated you"),
        "deactivated": _("deactivated you here; the items on your desk went to others"),
        "renamed": _("changed your name from {old} to {new}"),
        "replaced": _("replaced you with {new}"),
        "given_back": _("gave {items} items on your desk to others"),
    }
    text = texts.get(action, action)
    try:
        return text.format(**data)
    except (KeyError, IndexError):
        return text


def files(project: Project, person: Annotator) -> None:
    """Offer the whole record as CSV or JSON."""
    name = f"{project.name}-{person.name}".replace("/", "-")

    def as_json() -> bytes:
        with open_store(project) as store:
            return "".join(record_json(store, project, person)).encode()

    def as_csv() -> bytes:
        with open_store(project) as store:
            return "".join(record_csv(store, project, person)).encode("utf-8-sig")

    with st.container(horizontal=True, vertical_alignment="center"):
        download(_("Everything as CSV"), as_csv, f"{name}.csv", key="record-csv", type="secondary")
        download(_("Everything as JSON"), as_json, f"{name}.json", key="record-json", type="secondary")
    if not text_may_leave(project):
        caption(
            "Texts of this project can only be exported encrypted: these files give item ids instead of texts"
            " and contain no notes."
        )


def show_log(store: Store, person: Annotator) -> None:
    """Show where annotators check their own log, and the heads of the days with entries of their own."""
    address = f"{base_path()}/own-log?lang={language()}&annotator={person.uid}"
    st.link_button(_("Check your log"), address, icon=":material/verified_user:")
    heads = own_heads(store, person)
    if not heads:
        return
    with st.expander(_("Daily log hashes ({number})").format(number=len(heads)), icon=":material/link:"):
        caption(
            "For each day (UTC) on which you worked: a hash of everything stored in this database by the end of that"
            " day. The hash reveals nothing about the content, but any later change to those days changes it. Keep the"
            " hashes with your file and compare them with those in a release."
        )
        st.code("\n".join(f"{head.day}  {head.hash}" for head in reversed(heads)), language=None)


@asks("see_own_labels")
def ask_consent(store: Store, project: Project, annotator: Annotator) -> None:
    """Show each use of labels with the answer so far, and buttons to give, refuse or withdraw consent to it."""
    st.header(_("Use of your labels"))
    caption(
        "You answer for each use and can change your answer at any time. Without your consent, your labels are used"
        " only in counts, agreement and gold labels, never one by one. They are stored as long as the project. Ask the"
        " project lead if anything is unclear."
    )
    for use in USES:
        _ask_use(store, project, annotator, use)


def _ask_use(store: Store, project: Project, annotator: Annotator, use: Use) -> None:
    standing, name = consent_of(store, project, annotator, use), NAMES[use]
    st.markdown(f"**{plain(_(name))}**")
    st.markdown(plain(_words(standing, use)))
    if standing.given is None:
        caption("You have not answered.")
    else:
        text = (_("You gave your consent: {moment}.") if standing.given else _("You do not consent: {moment}.")).format(
            moment=moment(standing.created)
        )
        st.caption(plain(text))
    with st.container(horizontal=True):
        if not standing.given and st.button(_("I consent"), key=f"consent-give-{use}", icon=":material/check:"):
            store_consent(store, project, annotator, use, given=True)
        no = _("Withdraw consent") if standing.given else _("I do not consent")
        if standing.given is not False and st.button(no, key=f"consent-refuse-{use}", icon=":material/block:"):
            store_consent(store, project, annotator, use, given=False)


def _words(standing: Consent, use: Use) -> str:
    """Return the words that were agreed to, which may be older than those of today, else those of today.

    What the lead stored was read in writing, not on a page, so its words of today are in the language of this page.
    """
    newest = TEXTS[use]
    of_today = {translate(newest, spoken_in) for spoken_in in LANGUAGES}
    if not standing.given or not standing.text or (standing.recorded_by == "lead" and standing.text in of_today):
        return _(newest)
    return standing.text


@asks("see_own_labels")
def store_consent(store: Store, project: Project, annotator: Annotator, use: Use, *, given: bool) -> None:
    """Store an answer in the words of the page."""
    with errors_shown():
        answer_consent(store, project, annotator, use, given=given, language=language())
        st.rerun()


@asks("see_own_labels")
def ask_groups(store: Store, project: Project, annotator: Annotator) -> None:
    """Ask to which group of every grouping of the project this annotator belongs; an answer can be removed."""
    known = own_groups(store, project, annotator)
    if not known:
        return
    st.header(_("Your groups"))
    caption(
        "Used only to compare groups of at least {fewest} people in this project. Groups are never published. You may"
        " leave this empty, change it or remove it at any time.",
        fewest=FEWEST_PEOPLE,
    )
    for own_group in known:
        options = list(own_group.grouping.options)
        value = st.selectbox(
            spoken(own_group.grouping.name), options,
            index=None if own_group.value is None else options.index(own_group.value),
            placeholder=_("No answer"), key=f"group-{own_group.grouping.id}-{annotator.uid}", width=320,
        )  # fmt: skip
        if own_group.recorded_by == "lead":
            caption("Set by the lead. Your own choice takes precedence.")
        if value != own_group.value:
            store_group(store, project, annotator, own_group, value)


@asks("see_own_labels")
def store_group(store: Store, project: Project, annotator: Annotator, own: OwnGroup, value: str | None) -> None:
    """Store where this annotator belongs."""
    with errors_shown():
        set_group(store, project, own.grouping, annotator, value, "annotator")
        st.rerun()


def listed(store: Store, project: Project, person: Annotator) -> None:
    """Show a page of items, with a search and a choice of states."""
    names = {
        "labelled": _("Labelled"), "skipped": _("Skipped"), "leased": _("On the desk"), "released": _("Went to others"),
        "any": _("All"),
    }  # fmt: skip
    search = st.text_input(_("Search texts and notes"), key="record-search", icon=":material/search:", width=320)
    # Not next to it in a row: on a telephone the choices would run out of it instead of into the next line.
    chosen = choose(_("State"), names, "record-state", heading=False, address="state")
    state: State | None = next((arg for arg in get_args(State) if arg == chosen), None)
    asked, before = (person.uid, search, chosen), st.session_state.get("record-asked")
    st.session_state["record-asked"] = asked
    page = st.session_state.get("record-page", 1) if asked == before else 1  # a new search begins at its first page
    record_page = entries(store, project, person, RecordQuery(search, state, page))
    if not record_page.total:
        text = _("Nothing is stored yet. Your record begins with your first label.")
        if search or state not in (None, "labelled"):
            text = _("Nothing was found.")
        st.info(text, icon=":material/search_off:")
        return
    if record_page.number != st.session_state.get("record-page", 1):
        st.session_state["record-page"] = record_page.number
    caption("{total} items, most recent first", total=f"{record_page.total:,}")
    words = names_of(store, project)
    for entry in record_page.entries:
        with st.container(border=True, key=f"entry-{entry.uid}"):
            show_html(_item(entry, words))
            _talk(store, project, person, entry)
    if record_page.pages > 1:
        st.pagination(record_page.pages, key="record-page")


def _item(entry: Entry, words: dict[str, str]) -> Markup:
    """Return the text with its word marked, then each act with its time."""
    item = entry.item
    if item is None:
        why = _("It was on your desk but you did not label it; its text is not shown.")
        if entry.state == "leased":
            why = _("It is waiting at your desk; read it there.")
        text = span(why, "soft")
    else:
        text = with_cover(item) if entry.covered else marked(item.whole_text, item.word, item.side)
    context = element("div", item.context, "soft verbatim") if item is not None and item.context else ""
    lines = [_act(act, words) for act in entry.acts]
    if entry.revealed:
        lines.append(element("li", f"{moment(entry.revealed)} · " + _("others' opinions were shown to you")))
    if entry.sent_back:
        lines.append(element("li", _("awaiting your relabelling")))
    elif entry.state == "released":
        lines.append(element("li", _("went to others")))
    return joined([context, element("div", text, "own-text"), element("ul", joined(lines), "acts")])


def _act(act: Act, words: dict[str, str]) -> Markup:
    """Return one line: when, what, why, how long, under which version."""
    if act.kind == "skip":
        what = _("skipped")
    elif act.kind == "undone":
        what = _("label undone")
    else:
        sign, tone = choice_sign(act.choice or "")
        what = f"{sign if tone else ''} {words.get(act.choice or '', act.choice or '')}".strip()
    parts = [words.get(code, code) for code in act.reasons]
    parts += [_("tags: {tags}", tags=series(act.tags))] if act.tags else []
    parts += [_("extraneous gendered language")] if act.extraneous else []
    parts += [_("{number} marks", number=len(act.marks))] if act.marks else []
    parts += [_("{seconds} s", seconds=f"{act.seconds:,.1f}")] if act.seconds is not None else []
    parts += [_("guideline version {version}", version=act.guideline)] if act.guideline else []
    parts += [_("keyword hidden")] if act.form_shown == "masked" else []
    parts += [_("after others' opinions were shown")] if act.after_reveal else []
    parts += [_("arrived late: a label from another window was first")] if act.superseded else []
    pieces: list[str | Markup] = [moment(act.created), span(what, "strong" if act.stands else "")]
    pieces += [span(" · ".join(parts), "soft")] if parts else []
    pieces += [element("b", _("valid"))] if act.stands else []
    note = element("div", act.note, "soft verbatim") if act.note else ""
    return element("li", joined([joined(pieces, " · "), note]))


@asks("see_own_labels")
def _talk(store: Store, project: Project, person: Annotator, one: Entry) -> None:
    """Show the private thread of this annotator and the lead, with a field to write."""
    if one.item is None or one.item.uid != one.uid:
        return  # waiting items and retests have no thread
    number = len(one.comments)
    label = _("Comments ({number})", number=number) if number else _("Ask the lead")
    with st.expander(label, icon=":material/forum:", expanded=False):
        for comment in one.comments:
            private = _("private") if comment.thread else _("to all")
            st.caption(plain(f"{moment(comment.created)} · {comment.author} · {private}"))
            st.text(comment.text)
        with st.form(f"talk-{one.uid}", border=False, clear_on_submit=True):
            text = st.text_area(_("To the lead only"), key=f"talk-text-{one.uid}", height=80, max_chars=4_000)
            if st.form_submit_button(_("Send"), icon=":material/send:", key=f"talk-send-{one.uid}"):
                with errors_shown():
                    add_comment(store, project, one.uid, text, author=person.name, annotator=person, thread=person)
                    st.rerun()
