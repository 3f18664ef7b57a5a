"""Concordance: a word in its contexts, and which words are near it more often than elsewhere."""

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.pages.concordance.view import ask, look_up, show_lines, show_made_how, show_numbers
from evenhand.pages.ui.visitor import open_store, page_head, show_error

page_head(
    "Why does a model lean towards one word? See what the texts themselves say near 护士 or 总经理:"
    " evidence that does not come from the model."
)
with open_store() as store:
    try:
        wish = ask(store)
        if wish is None:
            st.stop()
        found = look_up(store, wish)
    except EvenhandError as error:
        show_error(error)
        st.stop()
    show_numbers(found)
    show_lines(wish, found)
    show_made_how(wish, found)
