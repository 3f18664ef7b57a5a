"""On the page My record: what may be done with one's own labels, and one's own groups."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.consent import NAMES, TEXTS, USES, Consent, Use, answer_consent, consent_of
from evenhand.annotations.projects.groups import OwnGroup, own_groups, set_group
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import LANGUAGES, translate
from evenhand.core.statistics.group_differences import FEWEST_PEOPLE
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.text import plain, spoken


@asks("see_own_labels")
def ask_consent(store: Store, project: Project, annotator: Annotator) -> None:
    """What each use is, the answer so far, and buttons to give, refuse or withdraw consent to it."""
    st.subheader(_("Use of your labels"))
    text = _(
        "You answer for each use, and change your answer at any time. Without your consent, your labels are used only"
        " in counts, agreement and gold labels, never one by one. They are stored as long as the project. Ask the"
        " project lead if anything is unclear."
    )
    st.caption(text)
    for use in USES:
        _ask_use(store, project, annotator, use)


def _ask_use(store: Store, project: Project, annotator: Annotator, use: Use) -> None:
    standing, name = consent_of(store, project, annotator, use), NAMES[use]
    st.markdown(f"**{plain(_(name))}**")
    st.markdown(plain(_words(standing, use)))
    if standing.given is None:
        st.caption(_("You have not answered."))
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
    try:
        answer_consent(store, project, annotator, use, given=given, language=language())
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()


@asks("see_own_labels")
def ask_groups(store: Store, project: Project, annotator: Annotator) -> None:
    """Where this annotator belongs, by every grouping of the project; an answer can be removed."""
    known = own_groups(store, project, annotator)
    if not known:
        return
    st.subheader(_("Your groups"))
    text = _(
        "Used only to compare groups of at least {fewest} people in this project. Groups are in no published file."
        " You may leave this empty, change it or remove it at any time."
    )
    st.caption(plain(text.format(fewest=FEWEST_PEOPLE)))
    for one in known:
        _ask_group(store, project, annotator, one)


def _ask_group(store: Store, project: Project, annotator: Annotator, own: OwnGroup) -> None:
    options = list(own.grouping.options)
    value = st.selectbox(
        spoken(own.grouping.name), options, index=None if own.value is None else options.index(own.value),
        placeholder=_("No answer"), key=f"group-{own.grouping.id}-{annotator.uid}", width=320,
    )  # fmt: skip
    if own.recorded_by == "lead":
        st.caption(_("Set by the lead. What you choose yourself counts instead."))
    if value != own.value:
        store_group(store, project, annotator, own, value)


@asks("see_own_labels")
def store_group(store: Store, project: Project, annotator: Annotator, own: OwnGroup, value: str | None) -> None:
    """Store where this annotator belongs."""
    try:
        set_group(store, project, own.grouping, annotator, value, "annotator")
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()
