"""Conflicts between two files, or a file and a desk, side by side for the lead to decide."""

from collections.abc import Mapping

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.conflicts import Conflict, conflicts, exported_row, keep_first, take_second
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.parts import asks_at_click
from evenhand.pages.ui.text import _, caption, language, literal, plain

LISTED = 20


def kind_name(kind: str) -> str:
    """The kind of a conflict in words."""
    return {
        "label": _("two labels by one annotator"),
        "answer": _("two known answers"),
        "word": _("the same text with another keyword"),
        "text": _("the same id with another text"),
    }[kind]


def show_conflicts(store: Store, project: Project) -> None:
    """The list, with a decision beside each."""
    st.subheader(_("Conflicts between files"), anchor=False)
    found = conflicts(store, project)
    if not found:
        caption("No conflicts: no file contradicts the project.")
        return
    caption("The first label counts. Keep it, or use the other one; both stay stored.")
    if (error := st.session_state.pop("conflict_error", None)) is not None:
        show_error(error)
    downloads([exported_row(project, one) for one in found], key="conflicts")
    names = _names(store, project)
    for one in found[:LISTED]:
        _show(project, one, names)
    if len(found) > LISTED:
        caption("The first {shown} of {all}; the file contains all of them.", shown=LISTED, all=f"{len(found):,}")


def _names(store: Store, project: Project) -> dict[str, str]:
    """Names of the codes of every version of the guideline, in the visitor's language."""
    options = [option for one in guidelines(store, project) for option in one.options]
    return {option.code: option.zh if language() == "zh" else option.en for option in options}


def _in_words(said: str, names: Mapping[str, str]) -> str:
    return " · ".join(names.get(code, code) for code in said.split(" · "))


def _show(project: Project, one: Conflict, names: Mapping[str, str]) -> None:
    with st.container(border=True):
        about = kind_name(one.kind) + (f" · {one.annotator}" if one.annotator else "")
        st.caption(plain(about))
        literal(one.text)
        for place, (said, file) in zip(
            st.columns(2), ((one.first, one.first_file), (one.second, one.second_file)), strict=True
        ):
            with place:
                if said is None:
                    caption("What the other file says is not in this database: a package with codes leaves it out.")
                    continue
                if not said:
                    caption("removed with its file: no valid label")
                    continue
                literal(_in_words(said, names) if one.kind in ("label", "answer") else said)
                if one.kind in ("label", "answer") or file:
                    st.caption(plain(file or _("at the desk")))
        with st.container(horizontal=True):
            st.button(
                _("Keep the first"), key=f"keep-{one.key}", icon=":material/check:", on_click=_decide,
                args=(project, one.key, False),
            )  # fmt: skip
            if one.kind in ("label", "answer"):
                st.button(
                    _("Use the other"), key=f"take-{one.key}", icon=":material/swap_horiz:", on_click=_decide,
                    args=(project, one.key, True),
                )  # fmt: skip


@asks_at_click("import_files")
def _decide(project: Project, key: str, other: bool) -> None:
    with open_store(project) as store:
        try:
            (take_second if other else keep_first)(store, project, key)
        except EvenhandError as error:
            st.session_state["conflict_error"] = error
