"""Try a sentence: which word of a pair would a model rather write at the slot?"""

import streamlit as st

from evenhand.pages.sentence_bias.inputs import ask
from evenhand.pages.sentence_bias.one_sentence import show_gallery, show_sentence_view, show_words_view
from evenhand.pages.sentence_bias.presenter import show_presenter
from evenhand.pages.ui.visitor import is_presented, page_head


def show_page() -> None:
    page_head(
        "Which word does a model prefer at the slot? First check how much probability the two words share;"
        " if little, the ratio means little."
    )
    top = st.container()
    view, models, question = ask()
    if view == "gallery":
        show_gallery()
    elif view == "words":
        show_words_view(models, question)
    else:
        show_sentence_view(top, models, question)


if is_presented():
    show_presenter()
else:
    show_page()
