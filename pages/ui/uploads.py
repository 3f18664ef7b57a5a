"""Files that a visitor uploads, and the text to read: such files or a folder on the server under EVENHAND_CORPUS.

An uploaded file is stored once where a job can read it, even if the page runs many times meanwhile.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from evenhand.annotations.jobs import jobs
from evenhand.core.errors import N_, BadFile, EvenhandError
from evenhand.core.files.archives import read_first_elsewhere
from evenhand.core.mining import sources
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.text import _, caption, inform, series, warn
from evenhand.pages.ui.visitor import open_store, show_error

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
    """Show a field for one file and return its path, which ends with the name of the file; None without a file.

    Each uploaded file has its own path, even if two have the same name. *heading*: False hides *label*. *megabytes*:
    the limit that the page states, if it is lower than that of the server.
    Raises BadFile if the name or the content of the file cannot be used.
    """
    _say_in_words(_("Choose a file"), endings, key, megabytes)
    uploaded = st.file_uploader(
        label, type=endings, key=_current(key), help=help, label_visibility=_visibility(heading)
    )
    return None if uploaded is None else _keep(uploaded)


def choose_uploads(label: str, endings: Sequence[str], *, key: str, heading: bool = True) -> list[Path]:
    """Show a field for any number of files and return their paths; otherwise like `choose_upload`."""
    _say_in_words(_("Choose files"), endings, key)
    uploaded = st.file_uploader(
        label, type=endings, accept_multiple_files=True, key=_current(key), label_visibility=_visibility(heading)
    )
    return [_keep(file) for file in uploaded]


def read_upload(label: str, endings: Sequence[str], *, key: str, help: str | None = None) -> tuple[str, bytes] | None:
    """Show a field for one small file and return its name and content, which are not stored; None without a file.

    Raises BadFile if the file is larger than `MOST_READ`.
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
    """Forget uploaded files that a job now owns and deletes at its end; the next job gets a new copy."""
    kept: dict[str, Path] = st.session_state.get(KEPT, {})
    for uploaded, path in list(kept.items()):
        if path in paths:
            del kept[uploaded]


def empty_place(key: str) -> None:
    """Empty an upload field, from the next run of the page on."""
    emptied: dict[str, int] = st.session_state.setdefault(EMPTIED, {})
    emptied[key] = emptied.get(key, 0) + 1


def _current(key: str) -> str:
    """Return the current key of an upload field: file, file-1, file-2 or file-0, file-1, file-2.

    The key changes because Streamlit empties a field only under a new key.
    """
    number = st.session_state.get(EMPTIED, {}).get(key, 0)
    return f"{re.sub(r'-0$', '', key)}-{number}" if number else key


def _say_in_words(button: str, endings: Sequence[str], key: str, most: int | None = None) -> None:
    """Put the text of the button and the limit of an upload field into the page, for style.css.

    Streamlit itself writes "Upload" and a limit in whole GB, in English only. *most*: the largest file in MB; None: the
    limit of the server.
    """
    limit = _("up to {most} MB per file: {endings}").format(
        most=most or st.get_option("server.maxUploadSize"), endings=series(ending.upper() for ending in endings)
    )
    values = {"button": button, "limit": limit}
    words = ";".join(f"--upload-{part}:{json.dumps(text, ensure_ascii=False)}" for part, text in values.items())
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


LISTED = 500  # files of a folder
ENDINGS = ["txt", "md", "html", "htm", "jsonl", "csv", "tsv", "gz", "zip"]


@dataclass(frozen=True, slots=True)
class Source:
    """Files or folders to read, what a person calls them, and how much there is."""

    paths: tuple[str, ...]
    name: str
    files: int
    bytes: int

    @property
    def key(self) -> tuple[Any, ...]:
        """Changes when what is read may have changed."""
        return (*self.paths, self.files, self.bytes, *(Path(path).stat().st_mtime for path in self.paths))


def source_name(kind: str) -> str:
    """Return a kind of source in words."""
    return {"files": _("My files"), "folder": _("Folder on the server"), "project": _("A project")}[kind]


def files_source(key: str) -> Source | None:
    """Ask for files of the visitor and return them as a source that a job can read; None without a file."""
    paths = choose_uploads(_("Text files"), ENDINGS, key=f"{key}-files", heading=False)
    caption(
        "Plain text, Markdown, HTML, JSON Lines or CSV, also packed as .gz or .zip; UTF-8, GB18030 or"
        " Big5. Up to 512 MB per file; for more, use a folder on the server."
    )
    if not paths:
        return None
    name = paths[0].name if len(paths) == 1 else _("{number} files", number=len(paths))
    return Source(tuple(map(str, paths)), name, len(paths), sum(path.stat().st_size for path in paths))


@st.cache_data(max_entries=8, ttl=30, show_spinner=False)
def _folders(root: str) -> list[str]:
    return sources.folders(Path(root))


@st.cache_data(max_entries=16, ttl=30, show_spinner=False)
def _survey(place: str) -> tuple[int, int, dict[str, int]]:
    survey = sources.survey(Path(place))
    return survey.files, survey.bytes, survey.endings


def folder_source(key: str) -> Source | None:
    """Return a folder or file below EVENHAND_CORPUS; what lies elsewhere is refused."""
    root = sources.root()
    if root is None:
        inform(
            "No server folder is available. Start the app with EVENHAND_CORPUS set to the folder"
            " that contains your texts; its files can then be chosen here."
        )
        return None
    known = _folders(str(root))
    everything = _("everything in {root}", root=root.name)
    typed = st.selectbox(
        _("Folder or file"),
        known,
        key=f"{key}-folder",
        format_func=lambda name: name or everything,
        accept_new_options=True,
        help=_("Inside the server's corpus folder. Type the path of a file or folder that is not listed."),
    )
    try:
        place = sources.inside(root, typed or "")
    except EvenhandError as error:
        show_error(error)
        return None
    files, total, endings = _survey(str(place))
    if not files:
        warn("There are no readable files here.")
        return None
    listed = series(f"{ending} {number:,}" for ending, number in endings.items())
    caption("Files: {files}, {size} ({listed})", files=f"{files:,}", size=size(total), listed=listed)
    _list_files(str(place), files)
    return Source((str(place),), typed or root.name, files, total)


@st.cache_data(max_entries=16, ttl=30, show_spinner=False)
def _files(place: str) -> list[tuple[str, int]]:
    return sources.files(Path(place), LISTED)


def _list_files(place: str, number: int) -> None:
    with st.expander(_("Files"), icon=":material/list:"):
        rows = [{_("File"): name, _("Size"): size(length)} for name, length in _files(place)]
        st.dataframe(rows, hide_index=True, height=min(38 * (len(rows) + 1), 300))
        if number > len(rows):
            caption("The first {shown} of {all}.", shown=f"{len(rows):,}", all=f"{number:,}")


def ask_source(key: str, kinds: tuple[str, ...] = ("files", "folder")) -> tuple[str, Source | None]:
    """Ask for the kind of source that is chosen, and the source if it is there (None for a project)."""
    start = "folder" if sources.root() is not None else "files"
    names = {kind: source_name(kind) for kind in kinds}
    kind = choose(_("Source"), names, f"{key}-source", first=start, heading=False)
    if kind == "folder":
        return kind, folder_source(key)
    return kind, files_source(key) if kind == "files" else None
