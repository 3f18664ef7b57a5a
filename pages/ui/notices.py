"""Notices above numbers: a running recount, relabelling, models for trying only."""

from collections.abc import Iterable

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.relabelling import remaining_to_relabel
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.progress.dashboard import Dashboard
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.text import _, paragraph, plain, series, warn
from evenhand.pages.ui.visitor import asks_at_click, errors_shown, may, open_store


def say_unsettled(store: Store, project: Project) -> None:
    """Show a notice during a recount, with a button to continue an abandoned one."""
    if open_recount(store, project) is None:
        return
    warn(
        "A setting has changed, and the items are being recounted. Until this is done, some numbers on"
        " this page are out of date. Labels are stored as usual.",
        icon=":material/hourglass_top:",
    )
    if not may(store, "change_projects", project):
        return
    st.button(
        _("Finish recounting now"), key="finish_settling", on_click=_finish, args=(project,),
        icon=":material/done_all:",
        help=_("Continues where the recount stopped; if it is already running, waits for it."),
    )  # fmt: skip


@asks_at_click("change_projects")
def _finish(project: Project) -> None:
    with open_store(project) as store, errors_shown():
        finish_recount(store, project)


def say_how_they_count(store: Store, project: Project, dashboard: Dashboard) -> None:
    """Show a notice on the share kept and the candidates needed: items in relabelling count by their former labels."""
    labels = sum(remaining_to_relabel(store, project).values())
    items = sum(cell.counted.returned for cell in dashboard.cells)
    if not labels and not items:
        return
    parts = [_("{labels} labels are awaiting relabelling.", labels=f"{labels:,}")]
    if items:
        text = _(
            "{items} of these items were already decided. The acceptance rate uses their former labels, and the number"
            " needed includes them."
        )
        parts.append(text.format(items=f"{items:,}"))
    text = _(
        "The annotator table uses valid labels only: when rejects have been sent back for relabelling, accept rates are"
        " too high and differences too low."
    )
    parts.append(text)
    st.info(plain(paragraph(parts)), icon=":material/undo:")


def say_what_is_missing(store: Store, project: Project) -> None:
    """Show a notice on agreement and accept rates: labels sent for relabelling are not in them."""
    labels = sum(remaining_to_relabel(store, project).values())
    if not labels:
        return
    text = _(
        "{labels} labels are awaiting relabelling and are excluded here. The remaining labels are not a"
        " random sample: if rejects were sent back, accept rates are too high, and agreement does not"
        " represent all labelled items."
    )
    st.warning(plain(text.format(labels=f"{labels:,}")), icon=":material/undo:")


def say_blind(reader: Annotator) -> None:
    """Say that only texts that this annotator has labelled are listed, because the desk is open in this visit."""
    text = _("Your desk as {name} is open: only texts you have labelled are listed, so that labels stay blind.")
    st.caption(plain(text.format(name=reader.name)))


def trial_banner(models: Iterable[str]) -> None:
    """Show the note above every number of models that ship with the app; nothing where none of *models* does."""
    if notice := trial_notice(models):
        st.caption(":material/info: " + plain(notice))


def trial_notice(models: Iterable[str]) -> str:
    """Return the sentence that goes with numbers of models that ship with the app; "" where none of *models* does."""
    from evenhand.core.models.catalogue import BUILTIN

    built_in = [model for model in models if model in BUILTIN]
    text = _("Built-in models ({models}) are for trying out the app, not for findings.")
    return text.format(models=series(built_in)) if built_in else ""
