"""Data set statistics: what the kept sentences look like, of a project or of a file."""

import streamlit as st

from evenhand.core.describe.description import Description
from evenhand.pages.describe import tables
from evenhand.pages.describe.source import chosen_description
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head


def views(found: Description) -> dict[str, str]:
    """Return the views with their titles."""
    own = {"words": _("Sentences per word"), "balance": _("Balance of the two words")}
    if found.kind == "generations":
        own = {"cells": _("Texts per cell"), "writing": _("Words and repetition")}
    return own | {
        "lengths": _("Lengths and characters"), "vocabulary": _("Vocabulary of a model"),
        "repeats": _("Duplicate texts"), "origins": _("Sources, dates, endings"),
    }  # fmt: skip


def show_view(view: str, found: Description) -> None:
    """Show what a tab holds."""
    if view == "lengths":
        left, right = st.columns(2, gap="large")
        with left:
            tables.length_histogram(found)
        with right:
            tables.commonest(found)
        return
    if view == "vocabulary":
        tables.tiles(found)
    draw = {
        "words": tables.keywords, "balance": tables.balance, "cells": tables.cells, "writing": tables.writing,
        "vocabulary": tables.vocabulary_facts, "repeats": tables.repeats_table, "origins": tables.origins_and_endings,
    }  # fmt: skip
    draw[view](found)


page_head("What do the sentences look like? The numbers of the method section of a paper.")
with open_store() as store:
    found = chosen_description(store)
if found is None:
    st.stop()
tables.say_conclusion(found)
with open_view(views(found)) as view:
    show_view(view, found)
tables.show_method(found)
