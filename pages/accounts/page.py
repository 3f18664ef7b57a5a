"""Accounts: the own sign-ins, who has which role, links that let people in."""

import streamlit as st

from evenhand.annotations.accounts.accounts import account_of_uid
from evenhand.annotations.accounts.links import first_link
from evenhand.annotations.permissions import OPEN
from evenhand.pages.accounts import people
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import errors_shown, open_store, page_head, visitor


def make_first() -> None:
    with errors_shown(), open_store() as store:
        if visitor(store) is OPEN:
            people.offer_link("first", _("The first account"), first_link(store))


page_head(
    "Three people who label blind and independently need three accounts. Each sees only what their role requires."
)
with open_store() as store:
    person = visitor(store)
    if person is OPEN:
        inform(
            "This server has no accounts. Anyone using this machine can do everything, and other machines cannot reach"
            " the server. Once the first account exists, all users sign in, and other machines can be allowed."
        )
        st.button(_("Create the first account"), key="first", icon=":material/person_add:", on_click=make_first)
        people.show_link("first")
        st.stop()
    if person.account is None:
        inform("Sign in to see your account.")
        st.stop()
    account = account_of_uid(store, person.account)
    people.show_own(store, account, person)
    st.header(_("Project members"))
    project = choose_project(store)
    if project is not None:
        people.show_project_roles(store, project, account, person)
    if person.everywhere == "owner":
        people.show_everybody(store, account)
        people.show_erasure(store, account)
