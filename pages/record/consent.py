"""On the page My record: whether one's own labels may be published one by one, and one's own groups."""

import streamlit as st

from annotations.database.store import Store
from annotations.projects.consent import TEXTS, answer_consent, consent_of
from annotations.projects.groups import OwnGroup, own_groups, set_group
from annotations.types import Annotator, Project
from core.errors import EvenhandError
from core.statistics.group_differences import FEWEST_PEOPLE
from pages.ui.head import show_error
from pages.ui.language import _, language
from pages.ui.numbers import moment
from pages.ui.parts import asks
from pages.ui.text import plain, spoken


@asks("see_own_labels")
def ask_consent(store: Store, project: Project, annotator: Annotator) -> None:
    """What is agreed to, the answer so far, and buttons to give, refuse or withdraw it."""
    st.subheader(_("Publication of your labels"))
    agreed = TEXTS["disaggregated"]
    st.markdown(plain(_(agreed)))
    standing = consent_of(store, project, annotator)
    if standing.given is None:
        st.caption(_("You have not answered. Without your consent, your labels are not published one by one."))
    else:
        text = (_("You gave your consent: {moment}.") if standing.given else _("You do not consent: {moment}.")).format(
            moment=moment(standing.created)
        )
        st.caption(plain(text))
    with st.container(horizontal=True):
        if not standing.given and st.button(_("I consent"), key="consent-give", icon=":material/check:"):
            store_consent(store, project, annotator, given=True)
        no = _("Withdraw consent") if standing.given else _("I do not consent")
        if standing.given is not False and st.button(no, key="consent-refuse", icon=":material/block:"):
            store_consent(store, project, annotator, given=False)


@asks("see_own_labels")
def store_consent(store: Store, project: Project, annotator: Annotator, *, given: bool) -> None:
    """Store an answer in the words of the page."""
    try:
        answer_consent(store, project, annotator, given=given, language=language())
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
