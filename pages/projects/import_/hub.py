"""A data set of the Hugging Face hub as a file for the import: fetched into the place of uploads."""

import tempfile
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.client import endpoint_name
from evenhand.annotations.hub.pull import Wanted, pull
from evenhand.annotations.jobs import jobs
from evenhand.annotations.types import Project
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.text import _, plain

MOST_BYTES = 200_000_000  # fetched while the visitor waits; the command takes ten times as much
PLACE = "hub_file"  # in the session: (public id of the project, where the fetched file lies)


def fetched(project: Project) -> Path | None:
    """The file that was fetched for this project and not imported yet."""
    found = st.session_state.get(PLACE)
    return found[1] if found and found[0] == project.uid and found[1].is_file() else None


def forget_fetched() -> None:
    """The fetched file was imported or is not wanted."""
    st.session_state.pop(PLACE, None)


@asks("import_files")
def show_fetch(store: Store, project: Project) -> None:
    """Name, revision, part and split of a data set; the button fetches it."""
    with (
        st.expander(_("Import from the Hugging Face Hub"), icon=":material/cloud_download:"),
        st.form("hub", border=False),
    ):
        text = _("A data set at {endpoint}, or a project that Argilla uploaded there, whose responses become labels.")
        st.caption(plain(text.format(endpoint=endpoint_name())))
        repo = st.text_input(_("Data set on the Hub"), key="hub_repo", placeholder="OWNER/NAME", max_chars=200)
        with st.container(horizontal=True):
            revision = st.text_input(_("Revision"), key="hub_revision", placeholder="main", width=160)
            part = st.text_input(_("Configuration"), key="hub_part", placeholder="default", width=160)
            split = st.text_input(_("Split"), key="hub_split", placeholder="train", width=160)
            file = st.text_input(_("Or a single file"), key="hub_file_name", placeholder="data/*.csv", width=200)
        if st.form_submit_button(_("Download files"), icon=":material/download:"):
            chosen = (text.strip() or None for text in (revision, part, split, file))
            with errors_shown():
                _fetch(store, project, Wanted(repo, *chosen))
                st.rerun()


@asks("import_files")
def _fetch(store: Store, project: Project, wanted: Wanted) -> None:
    with st.spinner(_("Downloading …")), tempfile.TemporaryDirectory(prefix="evenhand-hub-") as folder:
        got = pull(wanted, Path(folder), most_bytes=MOST_BYTES)
        kept = jobs.keep_upload(store, got.path.name, got.path.read_bytes())
    st.session_state[PLACE] = (project.uid, kept)
