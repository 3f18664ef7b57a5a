"""Erasure of a person, for the owner of the server: identity goes, labels stay; then the texts of this person."""

import streamlit as st

from evenhand.annotations.accounts.accounts import Account, account_of_uid
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.erasure import OwnText, erasable_names, erase, erased_codes, scrub_texts, texts_of
from evenhand.annotations.permissions import FORBIDDEN
from evenhand.core.errors import EvenhandError, NotAllowed
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.parts import confirmed
from evenhand.pages.ui.text import plain
from evenhand.pages.ui.visitor import visitor

SHOWN = 50  # texts at once


def _owner(store: Store) -> Account:
    """The account of the owner who asks; NotAllowed for anybody else."""
    who = visitor(store)
    if who.everywhere != "owner" or who.account is None:
        raise NotAllowed(FORBIDDEN)
    return account_of_uid(store, who.account)


def _erase() -> None:
    name = st.session_state["erase-who"]  # at the click, not as the page was drawn
    if not name or st.session_state["erase-typed"] != name:
        return
    try:
        with open_store() as store:
            done = erase(store, name, author=_owner(store))
            st.session_state["erased"] = done.code
    except EvenhandError as error:
        st.session_state["erasure-error"] = error


def _scrub(texts: list[OwnText]) -> None:
    try:
        with open_store() as store:
            scrub_texts(store, texts, author=_owner(store))
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()


def show_erasure(store: Store, account: Account) -> None:
    """A person to erase, with the name typed once more; the texts of those who are erased."""
    st.subheader(_("Erase a person"))
    if error := st.session_state.pop("erasure-error", None):
        show_error(error)
    st.caption(
        _(
            "The account, its sign-ins and the name are erased permanently, and a code replaces the name."
            " The labels stay, and the log remains valid. Exported files and backups are not affected."
        )
    )
    names = [name for name in erasable_names(store) if name not in (account.name, account.annotator)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(_("Person"), names, index=None, key="erase-who", width=240)
        typed = st.text_input(_("Type the name to confirm"), key="erase-typed", width=240)
        st.button(
            _("Erase permanently"), key="erase", icon=":material/person_remove:", disabled=not name or typed != name,
            on_click=_erase,
        )  # fmt: skip
    if code := st.session_state.pop("erased", None):
        st.success(plain(_("{code} now replaces the name.").format(code=code)))
    for each in erased_codes(store):
        _show_texts(store, each)


def _show_texts(store: Store, code: str) -> None:
    texts = texts_of(store, code)
    if not texts:
        return
    with st.expander(plain(_("Texts by {code}: {number}").format(number=f"{len(texts):,}", code=code))):
        st.caption(
            _("Notes, tags, comments and reasons may name somebody. Read them first; scrubbed text cannot be restored.")
        )
        lost = _("The text is removed and cannot be restored; the log keeps only its hash.")
        for one in texts[:SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(one.text)
                key = f"scrub-{one.kind}-{one.row}-{one.part}"
                if confirmed(_("Scrub"), lost, _("Scrub this text"), key=key):
                    _scrub([one])
        label = _("Scrub {n} texts").format(n=f"{len(texts):,}")
        if confirmed(_("Scrub all"), lost, label, key=f"scrub-{code}"):
            _scrub(texts)
