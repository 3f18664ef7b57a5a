"""Sentences of the page Models: each with its value, its probabilities and its keyword marked. All text is escaped."""

from typing import TYPE_CHECKING

import streamlit as st
from markupsafe import Markup

from evenhand.core.report.sentences import list_html
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.language import _
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import plain

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 10
FILE_COLUMNS = (
    *("row", "sentence", "pair", "keyword", "side", "model", "p_male", "p_female", "pair_mass", "bias_log10"),
    *("bias_ln", "corrected_log10", "status", "signature"),
)


def show_sentences(rows: "pd.DataFrame", *, key: str, says: str) -> None:
    """The rows a few at a time, in the order in which they come, and all of them as a file."""
    pages = -(-len(rows) // SHOWN)
    if st.session_state.get(f"{key}-page", 1) > pages:
        st.session_state[f"{key}-page"] = 1
    start = SHOWN * (st.session_state.get(f"{key}-page", 1) - 1)
    sentence_list(rows.iloc[start : start + SHOWN])
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(says))
        if pages > 1:
            st.pagination(pages, key=f"{key}-page")
        downloads(for_file(rows), key=key)


def for_file(rows: "pd.DataFrame") -> "pd.DataFrame":
    """The rows with the columns of a file; each number with its signature."""
    return rows[[name for name in FILE_COLUMNS if name in rows.columns]]


def sentence_list(rows: "pd.DataFrame", *, value: str = "bias_log10") -> None:
    """The sentences, one below the other."""
    written = list_html(rows.to_dict("records"), say=_, value=value)
    show_html(Markup(written))  # noqa: S704  # core.report escapes every text
