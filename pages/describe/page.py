"""Data set statistics: what the kept sentences look like, of a project or of a file."""

import streamlit as st

from evenhand.pages.describe import tables
from evenhand.pages.describe.source import chosen_description
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "What do the sentences look like? Counts, lengths, characters and balance, as reported in the"
    " method section of a paper."
)
with open_store() as store:
    found = chosen_description(store)
if found is None:
    st.stop()
tables.tiles(found)
if found.kind == "generations":
    tables.writing(found)
    tables.cells(found)
else:
    st.header(_("Sentences per word, before and after"), anchor=False)
    tables.keywords(found)
    st.header(_("Balance of the two words"), anchor=False)
    tables.balance(found)
left, right = st.columns(2, gap="large")
with left:
    st.header(_("Lengths"), anchor=False)
    tables.length_histogram(found)
with right:
    st.header(_("Most common characters"), anchor=False)
    tables.commonest(found)
st.header(_("Vocabulary of a model"), anchor=False)
tables.vocabulary_facts(found)
st.header(_("Duplicate texts"), anchor=False)
tables.repeats_table(found)
st.header(_("Sources, dates, endings"), anchor=False)
tables.origins_and_endings(found)
tables.show_method(found)
