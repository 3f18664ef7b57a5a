"""Data set statistics: what the kept sentences look like, of a project or of a file."""

import streamlit as st

from evenhand.pages.describe.source import chosen_description
from evenhand.pages.describe.tables import (
    balance,
    cells,
    commonest,
    keywords,
    length_histogram,
    origins_and_endings,
    repeats_table,
    show_method,
    tiles,
    vocabulary_facts,
    writing,
)
from evenhand.pages.ui.head import open_store, page_head
from evenhand.pages.ui.text import _

page_head(
    "What do the sentences look like? Counts, lengths, characters and balance, as reported in the"
    " method section of a paper."
)
with open_store() as store:
    found = chosen_description(store)
if found is None:
    st.stop()
tiles(found)
if found.kind == "generations":
    writing(found)
    cells(found)
else:
    st.subheader(_("Sentences per word, before and after"), anchor=False)
    keywords(found)
    st.subheader(_("Balance of the two words"), anchor=False)
    balance(found)
left, right = st.columns(2, gap="large")
with left:
    st.subheader(_("Lengths"), anchor=False)
    length_histogram(found)
with right:
    st.subheader(_("Most common characters"), anchor=False)
    commonest(found)
st.subheader(_("Vocabulary of a model"), anchor=False)
vocabulary_facts(found)
st.subheader(_("Duplicate texts"), anchor=False)
repeats_table(found)
st.subheader(_("Sources, dates, endings"), anchor=False)
origins_and_endings(found)
show_method(found)
