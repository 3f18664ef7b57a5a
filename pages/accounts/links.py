"""A link that was made just now: shown once, because the server does not keep it."""

from urllib.parse import urlsplit

import streamlit as st

from pages.ui.language import _, language
from pages.ui.text import plain


def address_of(secret: str) -> str:
    """The address of a link on this server, as the visitor reaches it; the secret behind the sign #."""
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    here = urlsplit(st.context.url or "")
    server = f"{here.scheme}://{here.netloc}" if here.netloc else ""
    return f"{server}{'/' + base if base else ''}/account/link?lang={language()}#{secret}"


def show_link() -> None:
    """The link of the last click, to copy; it is gone with the next one."""
    found = st.session_state.pop("link", None)
    if found is None:
        return
    with st.container(border=True):
        st.markdown(f"**{plain(found[0])}**")
        st.code(address_of(found[1]), language=None, wrap_lines=True)
        st.caption(_("Send it to the person by a way that only the two of you read. It is shown here once."))
