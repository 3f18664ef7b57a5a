"""On the page My record: whether one's own labels may be published one by one."""

import streamlit as st

from annotations.database.store import Store
from annotations.projects.consent import TEXTS, answer_consent, consent_of
from annotations.types import Annotator, Project
from core.errors import EvenhandError
from pages.ui.head import show_error
from pages.ui.language import _, language
from pages.ui.numbers import moment
from pages.ui.parts import asks
from pages.ui.text import plain


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
