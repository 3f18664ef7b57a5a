"""The imports of a project and their undo; below, the conflicts."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.undo import (
    UNDO,
    Import,
    Settings,
    UndoEffect,
    find_import,
    imports,
    undo,
    undo_effect,
)
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.language import Count
from evenhand.pages.projects.import_.conflicts import show_conflicts
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.text import _, named, plain
from evenhand.pages.ui.visitor import page_link

AS_A_JOB = 20_000  # from so many rows on, the undo is a job
DONE = "import_taken_back"


@asks("import_files")
def show_imports(store: Store, project: Project) -> None:
    """Every import with its date and rows; the effect of an undo is shown before the button."""
    found = imports(store, project)
    st.caption(_("All imports, each of which can be undone. Annotators' work is never deleted."))
    if (done := st.session_state.pop(DONE, None)) is not None:
        st.success(plain(done), icon=":material/undo:")
    if not found:
        st.info(_("No file has been imported yet. Import one under Files."))
        return
    _show_list(project, found)
    open_ones = {one.key: one for one in reversed(found) if one.undone is None or one.unfinished}
    if open_ones:
        key = st.selectbox(
            _("Undo import"),
            list(open_ones),
            key=f"undo-{project.uid}-{len(open_ones)}",
            format_func=lambda one: f"{open_ones[one].file} · {moment(open_ones[one].created)} · {one}",
        )
        if key in open_ones:
            _offer(store, project, open_ones[key])
    st.divider()
    show_conflicts(store, project)


def _show_list(project: Project, found: list[Import]) -> None:
    st.dataframe(_rows(project, found, moment), hide_index=True, key="imports")
    downloads(_rows(project, found, lambda when: when or DASH), key="imports-list")


def _rows(project: Project, found: list[Import], write: Callable[[str | None], str]) -> list[dict[str, Any]]:
    """The imports, the newest first, with moments as *write* has them."""
    return [
        {
            _("File"): one.file,
            _("Contents"): _contents(one, project),
            _("Rows"): one.rows,
            _("Imported on"): write(one.created),
            _("Undone on"): write(one.undone),
            _("Name"): one.key,
        }
        for one in reversed(found)
    ]


def _contents(found: Import, project: Project) -> str:
    if found.gold:
        return _("gold labels")
    return _("annotators' labels") if found.kind == "labels" else _kind(project)


def _kind(project: Project) -> str:
    return _("texts") if project.kind == "generations" else _("sentences")


def undo_text(found: Import, done: UndoEffect) -> str:
    """What taking back does, or did, in one sentence."""
    if found.gold:
        text = _(
            "{labels} gold {labels:label is|labels are} removed; the labels and decisions in the project decide again."
        )
        return text.format(labels=Count(done.labels))
    if found.kind == "labels":
        text = _("{labels} valid labels are removed; {kept} that are no longer valid stay as they are.")
        told = text.format(labels=f"{done.labels:,}", kept=f"{done.kept:,}")
        if not done.chosen:
            return told
        stay = _("{chosen} labels that you chose in conflicts still count, because you chose them.")
        return f"{told} {stay.format(chosen=f'{done.chosen:,}')}"
    text = _(
        "{deleted} untouched items are deleted; {hidden} are hidden with their {labels} labels. Importing"
        " the same text again restores them."
    )
    return text.format(deleted=f"{done.deleted:,}", hidden=f"{done.hidden:,}", labels=f"{done.labels:,}")


@asks("import_files")
def _offer(store: Store, project: Project, found: Import) -> None:
    expected = undo_text(found, undo_effect(store, project, found))
    st.write(plain(expected))
    if found.unfinished:
        st.caption(_("Undoing this import was interrupted. Continue to undo the rest."))
    act = _("Undo import of {file}").format(file=found.file)
    if not confirmed(_("Undo import"), expected, act, key="undo", icon=":material/undo:"):
        return
    if found.rows > AS_A_JOB:
        settings = Settings(project.name, found.key, yes=True, uid=project.uid)
        start_job(store, UNDO, settings, Notice(N_("Undo import of {file}"), {"file": found.file}), project=project)
        st.success(_("This runs as a background job."))
        page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
        return
    try:
        done = undo(store, project, found.key)
    except EvenhandError as error:
        show_error(error)
        return
    st.session_state[DONE] = named(found.file, undo_text(find_import(store, project, found.key), done))
    st.rerun()
