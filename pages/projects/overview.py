"""Guideline and quotas of an open project, and the head above them."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import counts, guidelines, set_quotas
from evenhand.annotations.types import Choice, Project
from evenhand.core.guidelines import in_language
from evenhand.core.resources import quotas
from evenhand.pages.projects.new import preset_name
from evenhand.pages.ui.editors import edit_quotas, say_total
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import day
from evenhand.pages.ui.parts import asks, asks_at_click
from evenhand.pages.ui.sentences import asked_as, guideline_html, options_html, quota_bars, status_bar
from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import literal, plain
from evenhand.pages.ui.visitor import page_link


def show_guideline(store: Store, project: Project) -> None:
    """The guideline in any version with its changes; new versions are written on the page Pilot."""
    found = {one.version: one for one in reversed(guidelines(store, project))}
    if st.session_state.get("version") not in found:
        st.session_state["version"] = max(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        version = st.selectbox(_("Version"), list(found), key="version", width=120)
        where = {"project": project.name, "part": "guideline"}
        page_link("pilot/page.py", label=_("Write a new version"), icon=":material/edit_note:", query_params=where)
    shown = found[version]
    st.caption(plain(_("Written on {day}.").format(day=day(shown.created))))
    if shown.changes:
        heading = _("What changed")
        st.markdown(f"**{heading}**")
        literal(shown.changes)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_html(guideline_html(in_language(shown.text, language())))
    with right:
        about = dict(shown.scheme.about) if shown.scheme else {}
        parts: list[Sequence[Choice]] = [shown.choices, shown.reasons]
        if shown.scheme is not None:
            parts += [shown.scheme.spans, [asked_as(one) for one in shown.scheme.questions]]
        show_html(Markup("<br>").join(options_html(part, about) for part in parts if part))


@asks_at_click("change_projects")
def _use_preset(project: Project, preset: str) -> None:
    with open_store(project) as store:
        set_quotas(store, project, {} if preset == "none" else quotas("table1" if preset == "table1" else "released"))


@asks("change_projects")
def show_quotas(store: Store, project: Project) -> None:
    """Accepted sentences per keyword pair and side against what is wanted, and other wishes."""
    cells = counts(store, project).cells
    if cells:
        show_html(quota_bars(cells))
    else:
        st.caption(_("No quotas and no sentences yet."))
    with st.expander(_("Change the quotas"), expanded=not cells):
        with st.container(horizontal=True):
            for preset in ("none", "table1", "released"):
                st.button(preset_name(preset), key=f"preset-{preset}", on_click=_use_preset, args=(project, preset))
        stored = {(cell.pair, str(cell.side)): cell.quota for cell in cells if cell.quota is not None and cell.side}
        # The widget key holds the stored value, so that a preset replaces typed numbers.
        changed = edit_quotas(stored, key=f"quotas-{project.uid}-{hash(frozenset(stored.items()))}")
        say_total(changed, "table1")
        if st.button(_("Save quotas"), key="save_quotas", type="primary", disabled=changed == stored):
            set_quotas(store, project, changed)
            st.rerun()


def show_summary(store: Store, project: Project) -> None:
    """The head of an open project: progress of its sentences."""
    found = counts(store, project)
    if found.items:
        if project.kind == "generations":
            text, none, some = _("Texts by number of labels: {numbers}"), _("none: {texts}"), _("{labels}: {texts}")
        else:
            text, none = _("Sentences by number of labels: {numbers}"), _("none: {sentences}")
            some = _("{labels}: {sentences}")
        each = [
            (some if labels else none).format(labels=labels, sentences=f"{items:,}", texts=f"{items:,}")
            for labels, items in sorted(found.by_labels.items())
        ]
        parts = " · ".join(one.replace(" ", "\u00a0") for one in each)  # no line ends within one
        by_labels = text.format(numbers=parts)
        show_html(joined([status_bar(found, project.kind), element("div", by_labels, "legend")]))
