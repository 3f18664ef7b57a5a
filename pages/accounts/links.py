"""A link that was made just now: shown once, because the server does not keep it."""

import streamlit as st

from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.text import plain
from evenhand.pages.ui.visitor import address_on_this_server

OWN_PLACES = ("first", "own")  # links for the visitor, who sends them to nobody


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
        text = _("Send the link through a channel that only the two of you can read. It is shown here only once.")
        if place in OWN_PLACES:
            text = _("The link is shown only once. Keep it safe.")
        st.caption(text)
