"""Where text comes from: files that a visitor brings, or a folder on the server under EVENHAND_CORPUS."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.core.mining import sources
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.text import _, caption, inform, series, warn
from evenhand.pages.ui.uploads import choose_uploads

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
    """A kind of source in words."""
    return {"files": _("My files"), "folder": _("Folder on the server"), "project": _("A project")}[kind]


def files_source(key: str) -> Source | None:
    """Files that the visitor brings; kept where a job can read them."""
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
    found = sources.survey(Path(place))
    return found.files, found.bytes, found.endings


def folder_source(key: str) -> Source | None:
    """A folder or file below EVENHAND_CORPUS; what lies elsewhere is refused."""
    root = sources.root()
    if root is None:
        inform(
            "No server folder is open to this page. Start the app with EVENHAND_CORPUS set to the"
            " folder that holds your texts; its files can then be chosen here."
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
    with st.expander(_("The files"), icon=":material/list:"):
        rows = [{_("File"): name, _("Size"): size(length)} for name, length in _files(place)]
        st.dataframe(rows, hide_index=True, height=min(38 * (len(rows) + 1), 300))
        if number > len(rows):
            caption("The first {shown} of {all}.", shown=f"{len(rows):,}", all=f"{number:,}")


def ask_source(key: str, kinds: tuple[str, ...] = ("files", "folder")) -> tuple[str, Source | None]:
    """The kind of source that is chosen, and the source if it is there (None for a project)."""
    start = "folder" if sources.root() is not None else "files"
    names = {kind: source_name(kind) for kind in kinds}
    kind = choose(_("Source"), names, f"{key}-source", first=start, heading=False)
    if kind == "folder":
        return kind, folder_source(key)
    return kind, files_source(key) if kind == "files" else None
