"""Files that a visitor uploads: each is kept once where a job can read it, however often the page runs meanwhile."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import streamlit as st

from evenhand.annotations.jobs import jobs
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.archives import read_first_elsewhere
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.text import _, series

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

MOST_READ = 1 << 20  # bytes of a file that is read in memory by the page
KEPT = "kept_uploads"  # in the session: Streamlit's id of an uploaded file -> its path
REFUSED = "refused_uploads"  # in the session: Streamlit's id of an uploaded file -> why it was not kept
EMPTIED = "emptied_places"  # in the session: key of a place for a file -> how often it was emptied


def choose_upload(
    label: str,
    endings: Sequence[str],
    *,
    key: str,
    heading: bool = True,
    help: str | None = None,
    megabytes: int | None = None,
) -> Path | None:
    """A place for one file. Returns where the file lies, under its own name, or None while there is none.

    Another file, also one of the same name, gets another path. *heading*: False hides *label*. *megabytes*: what the
    page says it takes, where that is less than the server does.
    Raises BadFile where the name cannot be used.
    """
    _say_in_words(_("Choose a file"), endings, key, megabytes)
    uploaded = st.file_uploader(
        label, type=endings, key=_current(key), help=help, label_visibility=_visibility(heading)
    )
    return None if uploaded is None else _keep(uploaded)


def choose_uploads(label: str, endings: Sequence[str], *, key: str, heading: bool = True) -> list[Path]:
    """A place for any number of files, otherwise as `choose_upload`."""
    _say_in_words(_("Choose files"), endings, key)
    uploaded = st.file_uploader(
        label, type=endings, accept_multiple_files=True, key=_current(key), label_visibility=_visibility(heading)
    )
    return [_keep(file) for file in uploaded]


def read_upload(label: str, endings: Sequence[str], *, key: str, help: str | None = None) -> tuple[str, bytes] | None:
    """A place for one small file that only this page reads: its name and content, kept nowhere; None for none.

    Raises BadFile where it is larger than `MOST_READ`.
    """
    _say_in_words(_("Choose a file"), endings, key, MOST_READ >> 20)
    uploaded = st.file_uploader(label, type=endings, key=_current(key), help=help)
    if uploaded is None:
        return None
    if uploaded.size > MOST_READ:
        message = N_("{file} is too large: {size} kB, at most {most} kB.")
        raise BadFile(message, file=uploaded.name, size=uploaded.size // 1024, most=MOST_READ // 1024)
    return uploaded.name, uploaded.getvalue()


def hand_over(*paths: Path) -> None:
    """These files go with a job, which deletes them in the end: the next job gets a copy of its own."""
    kept: dict[str, Path] = st.session_state.get(KEPT, {})
    for uploaded, path in list(kept.items()):
        if path in paths:
            del kept[uploaded]


def empty_place(key: str) -> None:
    """The file of that place is used: from the next run of the page the place is empty."""
    emptied: dict[str, int] = st.session_state.setdefault(EMPTIED, {})
    emptied[key] = emptied.get(key, 0) + 1


def _current(key: str) -> str:
    """Streamlit empties a place only under a new key: file, file-1, file-2 or file-0, file-1, file-2."""
    number = st.session_state.get(EMPTIED, {}).get(key, 0)
    return f"{re.sub(r'-0$', '', key)}-{number}" if number else key


def _say_in_words(button: str, endings: Sequence[str], key: str, most: int | None = None) -> None:
    """Streamlit writes "Upload" and a limit in whole GB, in English only: what this place says instead.

    *most*: the largest file in MB; None: what the server takes. The looks are those of style.css.
    """
    limit = _("up to {most} MB per file: {endings}").format(
        most=most or st.get_option("server.maxUploadSize"), endings=series(one.upper() for one in endings)
    )
    said = {"button": button, "limit": limit}
    words = ";".join(f"--upload-{part}:{json.dumps(text, ensure_ascii=False)}" for part, text in said.items())
    place = re.sub("[^a-zA-Z0-9_-]", "-", _current(key))  # as Streamlit makes a class of a key
    st.html(f"<style>.st-key-{place}{{{words}}}</style>")


def _visibility(heading: bool) -> Literal["visible", "collapsed"]:
    return "visible" if heading else "collapsed"


def _keep(uploaded: "UploadedFile") -> Path:
    kept: dict[str, Path] = st.session_state.setdefault(KEPT, {})
    path = kept.get(uploaded.file_id)
    if path is None or not path.is_file():  # not kept yet, or deleted since by a job or after a day
        refused: dict[str, BadFile] = st.session_state.setdefault(REFUSED, {})
        if uploaded.file_id in refused:  # a page runs often, and reading it took minutes
            raise refused[uploaded.file_id]
        with open_store() as store:
            path = jobs.keep_upload(store, uploaded.name, uploaded.getvalue())
        try:
            read_first_elsewhere(path, path.name)
        except BadFile as error:
            with open_store() as store:
                jobs.drop_upload(store, path)
            refused[uploaded.file_id] = error
            raise
        kept[uploaded.file_id] = path
    return path
