"""The visitor's own account: roles, browsers that are signed in, a new password; links that were made just now."""

import streamlit as st

from evenhand.annotations.accounts.accounts import Account, account_of_uid
from evenhand.annotations.accounts.links import reset_link
from evenhand.annotations.accounts.sign_ins import end_all, end_sign_in, sign_ins
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.erasure import own_data
from evenhand.annotations.permissions import Person
from evenhand.annotations.projects.projects import projects
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.text import _, caption, clauses, in_brackets, language, named, plain, series
from evenhand.pages.ui.visitor import address_on_this_server, own_sign_in, visitor
from evenhand.web.forms import ROLES

OWN_PLACES = ("first", "own")  # links for the visitor, who sends them to nobody


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
            offer_link("own", _("Sets your new password; valid for one hour"), reset_link(store, mine, author=mine))


def roles_text(store: Store, person: Person) -> str:
    """Return the roles of a person on this server and in each open project; "" for none."""
    names = {one.uid: one.name for one in projects(store)}
    roles = [_("{role} on this server", role=_(ROLES[person.everywhere]))] if person.everywhere else []
    return clauses([*roles, *(named(names[uid], _(ROLES[role])) for uid, role in person.roles.items() if uid in names)])


def show_own(store: Store, account: Account, person: Person) -> None:
    """The account, its roles, where it is signed in."""
    st.subheader(plain(account.name))
    st.write(plain(roles_text(store, person)) or _("No role yet: a project lead can give you one."))
    if account.annotator:
        caption("You label as {name}.", name=account.annotator)
    st.markdown(f"**{_('Signed in')}**")
    here = own_sign_in(store)
    for one in sign_ins(store, account):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = browser_name(one.browser) or _("Unknown browser")
            st.text(in_brackets(name, _("this one")) if one.uid == here else name)
            caption("since {since}, last seen {seen}", since=moment(one.created), seen=moment(one.seen))
            st.button(_("Sign out"), key=f"end-{one.uid}", type="tertiary", on_click=_end, args=(one.uid,))
    with st.container(horizontal=True):
        st.button(_("Sign out everywhere"), key="end-all", icon=":material/logout:", on_click=_end_all)
        st.button(_("Set a new password"), key="new-password", icon=":material/key:", on_click=_new_password)
        text = _("Account, roles, sign-ins, events, and your record with all labels in each project.")
        name = f"{account.name}.json".replace("/", "-")
        download(_("Everything about you (JSON)"), _everything, name, key="own-data", type="secondary", help=text)
    show_link("own")


def address_of(secret: str) -> str:
    """The address of a link on this server, as the visitor reaches it; the secret behind the sign #."""
    return address_on_this_server(f"/account/link?lang={language()}#{secret}")


def offer_link(place: str, title: str, secret: str) -> None:
    """Have a link shown at *place* when the page runs next."""
    st.session_state["link"] = (place, title, secret)


def show_link(place: str) -> None:
    """The link of the last click where it was made at *place*, to copy; it is gone with the next click."""
    if st.session_state.get("link", ("",))[0] != place:
        return
    _place, title, secret = st.session_state.pop("link")
    with st.container(border=True):
        st.markdown(f"**{plain(title)}**")
        st.code(address_of(secret), language=None, wrap_lines=True)
        text = _("Send the link through a private channel. It is shown only once; keep it safe.")
        if place in OWN_PLACES:
            text = _("The link is shown only once. Keep it safe.")
        st.caption(text)
