"""Counterfactual texts: every word of a keyword pair swapped, what was left alone and why, and files for training."""

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.core.swap.swapping import Swapper
from evenhand.pages.swap.view import ask_text, ask_words, offer_files, show_difference, show_reasons
from evenhand.pages.ui.visitor import page_head, show_error

page_head(
    "Every word of a keyword pair is replaced by its counterpart: 他 and 她, 父亲 and 母亲, he and she. A text is"
    " refused if swapping it twice does not restore it, so a text and its counterfactual differ only in"
    " gender."
)
try:
    wish = ask_words()
    texts = ask_text(wish.language)
    words = wish.table()
    swapper = Swapper(words, reported=True)
except EvenhandError as error:
    show_error(error)
    st.stop()
found = [swapper(text) for text in texts]
if found:
    show_difference(found, words)
    show_reasons(found)
offer_files(wish)
