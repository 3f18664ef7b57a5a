"""The other views of an open project: guideline and quotas; and the head above them."""

import html

import streamlit as st

from annotations.projects import (
    add_guideline,
    counts,
    guideline,
    guidelines,
    set_quotas,
)
from annotations.store import Store
from annotations.types import Project
from core.errors import EvenhandError
from core.guidelines import in_language
from core.resources import quotas
from pages._projects_new import edit_options, edit_quotas, edit_text, preset_name, say_total
from pages._projects_parts import guideline_html, options_html, quota_bars, show, status_bar
from pages._widgets import _, language, open_store, show_error


def show_guideline(store: Store, project: Project) -> None:
    """The guideline in any version, and a new version of it."""
    versions = [one.version for one in reversed(guidelines(store, project))]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = st.selectbox(_("Version"), versions, key="version", width=120)
        editing = st.toggle(_("Write a new version"), key="edit_guideline")
        where = {"project": project.name, "part": "guideline"}
        label = _("With a draft and what is sent back")
        st.page_link("pilot.py", label=label, icon=":material/flag:", query_params=where)
    shown = guideline(store, project, version)
    if not editing:
        left, right = st.columns([3, 2], gap="large")
        with left:
            show(guideline_html(in_language(shown.text, language())))
        with right:
            show(options_html(shown.choices) + "<br>" + options_html(shown.reasons))
        return
    st.caption(_("Labels keep the version they were made under; new labels get the new one."))
    text = edit_text(shown.text, key=f"text-{project.uid}-{shown.version}")
    choices = edit_options(shown.choices, key=f"choices-{project.uid}-{shown.version}", fixed=True)
    reasons = edit_options(shown.reasons, key=f"reasons-{project.uid}-{shown.version}")
    if st.button(_("Save as a new version"), key="save_guideline", type="primary"):
        try:
            add_guideline(store, project, text, choices, reasons)
        except EvenhandError as error:
            show_error(error)
        else:
            del st.session_state["edit_guideline"], st.session_state["version"]
            st.rerun()


def _use_preset(project: Project, preset: str) -> None:
    with open_store() as store:
        set_quotas(store, project, {} if preset == "none" else quotas("table1" if preset == "table1" else "released"))


def show_quotas(store: Store, project: Project) -> None:
    """Accepted sentences per keyword pair and side against what is wanted, and other wishes."""
    cells = counts(store, project).cells
    if cells:
        show(quota_bars(cells))
    else:
        st.caption(_("Neither quotas nor sentences yet."))
    with st.expander(_("Change the quotas"), expanded=not cells):
        with st.container(horizontal=True):
            for preset in ("none", "table1", "released"):
                st.button(preset_name(preset), key=f"preset-{preset}", on_click=_use_preset, args=(project, preset))
        stored = {(cell.pair, str(cell.side)): cell.quota for cell in cells if cell.quota is not None and cell.side}
        # The key holds what is stored: a preset must replace what was typed before.
        changed = edit_quotas(stored, key=f"quotas-{project.uid}-{hash(frozenset(stored.items()))}")
        say_total(changed, "table1")
        if st.button(_("Save quotas"), key="save_quotas", type="primary", disabled=changed == stored):
            set_quotas(store, project, changed)
            st.rerun()


def show_summary(store: Store, project: Project) -> None:
    """The head of an open project: how far its sentences are."""
    found = counts(store, project)
    if found.items:
        numbers = " · ".join(f"{labels}:\u00a0{items:,}" for labels, items in sorted(found.by_labels.items()))
        if project.kind == "generations":
            by_labels = _("Texts by number of labels: {numbers}").format(numbers=numbers)
        else:
            by_labels = _("Sentences by number of labels: {numbers}").format(numbers=numbers)
        show(status_bar(found, project.kind) + f'<div class="legend">{html.escape(by_labels)}</div>')
