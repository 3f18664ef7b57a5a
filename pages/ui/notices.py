"""What the pages Progress and Agreement say while labels that were sent back are not made anew."""

import streamlit as st

from annotations.database.store import Store
from annotations.guideline.relabelling import waiting
from annotations.progress.dashboard import Dashboard
from annotations.types import Project
from pages.ui.head import _, paragraph, plain


def say_how_they_count(store: Store, project: Project, found: Dashboard) -> None:
    """Of the share kept and what is needed: items whose labels were sent back count by what was last said of them."""
    labels = sum(waiting(store, project).values())
    items = sum(cell.counted.returned for cell in found.cells)
    if not labels and not items:
        return
    parts = [_("{labels} labels were sent back and are not made anew yet.").format(labels=f"{labels:,}")]
    if items:
        text = _(
            "{items} items had been decided before. In the share kept they count by what each annotator last said of"
            " them, and what is needed includes them, because all of them are labelled again."
        )
        parts.append(text.format(items=f"{items:,}"))
    text = _(
        "The table of annotators is of the labels that stand: where rejects were sent back, they seem to accept too"
        " much and to differ too little."
    )
    parts.append(text)
    st.info(plain(paragraph(parts)), icon=":material/undo:")


def say_what_is_missing(store: Store, project: Project) -> None:
    """Of agreement and accept rates: labels that were sent back are in none of them."""
    labels = sum(waiting(store, project).values())
    if not labels:
        return
    text = _(
        "{labels} labels were sent back and are not made anew yet; they are in none of these numbers. What stands was"
        " chosen by what it says: where rejects were sent back, accept rates are too high, also by the form shown, and"
        " agreement is not that of all labelled items."
    )
    st.warning(plain(text.format(labels=f"{labels:,}")), icon=":material/undo:")
