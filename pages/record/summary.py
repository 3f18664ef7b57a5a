"""The summary on the page My record: the annotator, numbers, files."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import OPEN, allowed
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.record.entries import RecordSummary
from evenhand.annotations.record.files import record_csv, record_json
from evenhand.annotations.record.own_log import own_heads
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import duration, moment
from evenhand.pages.ui.text import paragraph, plain
from evenhand.pages.ui.visitor import page_link, visitor


def ask_annotator(store: Store, project: Project) -> Annotator | None:
    """The annotator of the record: from the address, the open desk of this visit, or a choice; or None."""
    who = visitor(store)
    found = {
        one.name: one
        for one in annotators(store, project, active=False)
        if allowed(who, "see_own_labels", project=project.uid, annotator=one.uid)
    }
    if not found:
        st.info(_("This project has no annotators yet. Add them on the Projects page."))
        return None
    if who is not OPEN:
        return next(iter(found.values()))  # the own one: there is nothing to choose
    key = f"record-{project.uid}"
    if st.session_state.get(key) not in found:
        at_desk = (
            st.session_state.get("desk_annotator") if st.session_state.get("desk_project") == project.name else None
        )
        asked = st.query_params.get("annotator") or at_desk
        if asked and asked not in found:
            st.warning(plain(_("{name} is not an annotator of this project.").format(name=asked)))
        st.session_state[key] = asked if asked in found else None
    name = st.selectbox(_("Annotator"), list(found), index=None, key=key, placeholder=_("Choose your name"))
    if name is None:
        st.query_params.pop("annotator", None)
        st.info(_("Choose your name to see what is stored about you."), icon=":material/person:")
        return None
    st.query_params["annotator"] = name
    return found[name]


def show_summary(project: Project, found: RecordSummary) -> None:
    """The numbers, and acts of the lead that concern this annotator."""
    first, second, third, fourth = st.columns(4)
    with first, st.container(border=True, height="stretch"):
        st.metric(_("Items labelled"), f"{found.states['labelled']:,}")
        if found.twice:
            text = _("of these, shown to you a second time: {twice}")
            st.caption(plain(text.format(twice=f"{found.twice:,}")))
        text = _("labels made (each change counts again): {labels}")
        st.caption(plain(text.format(labels=f"{found.labels:,}")))
    with second, st.container(border=True, height="stretch"):
        st.metric(_("On the desk"), f"{found.states['leased']:,}")
        until = (
            _("kept for you until {moment}").format(moment=moment(found.heard))
            if found.heard and found.states["leased"]
            else ""
        )
        st.caption(plain(until) or "\u00a0")
    with third, st.container(border=True, height="stretch"):
        st.metric(_("Skipped"), f"{found.states['skipped']:,}")
        text = _("went to others before you labelled them: {released}")
        st.caption(plain(text.format(released=f"{found.states['released']:,}")))
    with fourth, st.container(border=True, height="stretch"):
        st.metric(_("Time on items"), duration(found.seconds))
        st.caption(_("total of the times measured at the desk"))
    about = [_("In the project since {since}.").format(since=moment(found.since))]
    if found.told:
        text = _("You have read what changed up to version {version} of the guideline.")
        about.append(text.format(version=found.told))
    if not found.active:
        about.append(_("You no longer label in this project; your labels stay."))
    st.caption(plain(paragraph(about)))
    with st.container(horizontal=True, vertical_alignment="center"):
        where = {"project": project.name, "annotator": found.annotator.name}
        if found.active:
            page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
    if found.events:
        with st.expander(_("Actions by the lead ({number})").format(number=len(found.events))):
            for when, action, data in reversed(found.events[-200:]):
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
    """The whole record as CSV or JSON."""
    name = f"{project.name}-{person.name}".replace("/", "-")

    def as_json() -> bytes:
        with open_store(project) as store:
            return "".join(record_json(store, project, person)).encode()

    def as_csv() -> bytes:
        with open_store(project) as store:
            return "".join(record_csv(store, project, person)).encode("utf-8-sig")

    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            _("Everything as CSV"), as_csv, f"{name}.csv", "text/csv", key="record-csv", icon=":material/download:",
            on_click="ignore",
        )  # fmt: skip
        st.download_button(
            _("Everything as JSON"), as_json, f"{name}.json", "application/json", key="record-json",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
    if not text_may_leave(project):
        st.caption(
            _(
                "Texts of this project can only be exported encrypted: these files give item ids instead of texts"
                " and contain no notes."
            )
        )


def show_log(store: Store, person: Annotator) -> None:
    """Where the own log is checked, and the heads of the days with own entries."""
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    address = f"{'/' + base if base else ''}/own-log?lang={language()}&annotator={person.uid}"
    st.link_button(_("Check your log"), address, icon=":material/verified_user:")
    heads = own_heads(store, person)
    if not heads:
        return
    with st.expander(_("Daily log hashes ({number})").format(number=len(heads)), icon=":material/link:"):
        st.caption(
            _(
                "For each day (UTC) on which you worked: a hash of everything this database had stored by"
                " the end of that day. The hash reveals nothing of what was stored, but any later change"
                " to those days changes it. Keep the hashes with your file and compare them with those in"
                " a release."
            )
        )
        st.code("\n".join(f"{one.day}  {one.hash}" for one in reversed(heads)), language=None)
