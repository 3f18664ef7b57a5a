"""The visitor's own account: roles, browsers that are signed in, a new password."""

import streamlit as st

from evenhand.annotations.accounts.accounts import Account, account_of_uid
from evenhand.annotations.accounts.links import reset_link
from evenhand.annotations.accounts.sign_ins import end_all, end_sign_in, sign_ins
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.own_data import own_data
from evenhand.annotations.permissions import Person
from evenhand.annotations.projects.projects import projects
from evenhand.pages.accounts.links import offer_link, show_link
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.text import clauses, in_brackets, named, plain, series
from evenhand.pages.ui.visitor import own_sign_in, visitor
from evenhand.web.forms import ROLES


def browser_name(agent: str) -> str:
    """A browser and its system, as people call them, from how it names itself: "Firefox, Windows"."""
    browsers = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
    systems = {"iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "macOS"}
    systems["Linux"] = "Linux"
    found = [next((name for sign, name in signs.items() if sign in agent), "") for signs in (browsers, systems)]
    return series(name for name in found if name) or agent[:60]


def _mine(store: Store) -> Account | None:
    uid = visitor(store).account
    return account_of_uid(store, uid) if uid else None


def _end(uid: str) -> None:
    with open_store() as store:
        if mine := _mine(store):
            end_sign_in(store, mine, uid, author=mine)


def _end_all() -> None:
    with open_store() as store:
        if mine := _mine(store):
            end_all(store, mine, author=mine)


def _everything() -> bytes:
    with open_store() as store:
        mine = _mine(store)
        return own_data(store, mine).encode() if mine else b""


def _new_password() -> None:
    with open_store() as store:
        if mine := _mine(store):
            title = _("Sets your new password; valid for one hour")
            offer_link("own", title, reset_link(store, mine, author=mine))


def show_own(store: Store, account: Account, person: Person) -> None:
    """The account, its roles, where it is signed in."""
    st.subheader(plain(account.name))
    names = {one.uid: one.name for one in projects(store)}
    roles = [_("{role} on this server").format(role=_(ROLES[person.everywhere]))] if person.everywhere else []
    roles += [named(names[uid], _(ROLES[role])) for uid, role in person.roles.items() if uid in names]
    st.write(plain(clauses(roles)) or _("No role yet: a project lead can give you one."))
    if account.annotator:
        st.caption(plain(_("You label as {name}.").format(name=account.annotator)))
    heading = _("Signed in")
    st.markdown(f"**{heading}**")
    here = own_sign_in(store)
    for one in sign_ins(store, account):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = browser_name(one.browser) or _("Unknown browser")
            st.text(in_brackets(name, _("this one")) if one.uid == here else name)
            st.caption(
                plain(_("since {since}, last seen {seen}").format(since=moment(one.created), seen=moment(one.seen)))
            )
            st.button(_("Sign out"), key=f"end-{one.uid}", type="tertiary", on_click=_end, args=(one.uid,))
    with st.container(horizontal=True):
        st.button(_("Sign out everywhere"), key="end-all", icon=":material/logout:", on_click=_end_all)
        st.button(_("Set a new password"), key="new-password", icon=":material/key:", on_click=_new_password)
        st.download_button(
            _("Everything about you (JSON)"), _everything, f"{account.name}.json".replace("/", "-"), "application/json",
            key="own-data", icon=":material/download:", on_click="ignore",
            help=_("Account, roles, sign-ins, events, and your record with all labels in each project."),
        )  # fmt: skip
    show_link("own")
