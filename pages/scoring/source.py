"""What the page Score can be given: a project, a file, mined candidates; and the first rows as they will be read."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import streamlit as st
from markupsafe import Markup

from annotations.database.store import Store
from annotations.files.detect import detect_layout
from annotations.files.project_texts import PROJECT, file_input, project_input
from annotations.projects.pipeline_counts import state
from core.errors import EvenhandError
from core.files.readers import open_source
from core.runs.mining import mining_runs
from core.scoring.input import ScoreInput
from core.scoring.rows import ScoreItem
from pages.ui.choose import choose_project
from pages.ui.head import open_store, show_error
from pages.ui.language import _
from pages.ui.runs import own_runs
from pages.ui.sentences import reason_name
from pages.ui.tables import element, joined, show_html, span
from pages.ui.text import plain
from pages.ui.uploads import choose_upload

ENDINGS = ["csv", "tsv", "jsonl", "json", "txt"]
SOURCES = ("project", "file", "candidates")
PLACE = "file-0"
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be scored: how the command is given it, what it is called, how many rows it has, the first ones.

    `upload`: it is an uploaded file, which goes with the job.
    """

    argument: str
    label: str
    format: str
    rows: int
    first: tuple[ScoreItem, ...]
    uid: str | None = None
    column: str | None = None
    upload: bool = False


def choose_source(store: Store) -> Chosen | None:
    """The choice of what to score; None while there is none, and then what to do is said."""
    names: dict[str, str] = {
        "project": _("A project"),
        "file": _("A file"),
        "candidates": _("Mined candidates"),
    }
    kind = st.segmented_control(
        _("What to score"), SOURCES, format_func=names.__getitem__, key="source", default="project", required=True
    )
    try:
        if kind == "file":
            return _file()
        return _candidates(store) if kind == "candidates" else _project(store)
    except EvenhandError as error:
        show_error(error)
        return None


def _project(store: Store) -> Chosen | None:
    found = choose_project(store)
    if found is None:
        return None
    kind, rows, first = _looked_at("project", found.uid, "|".join(state(store)), None)
    return Chosen(f"{PROJECT}{found.name}", found.name, kind, rows, first, uid=found.uid)


def _candidates(store: Store) -> Chosen | None:
    found = {run.name: run.candidates for run in own_runs(store, mining_runs(store.path))}
    if not found:
        st.info(_("Nothing has been mined yet. Candidates that the page Mine finds appear here."))
        return None
    name = st.selectbox(_("Run of mining"), list(found), key="candidates")
    return _of_file(found[name], _("candidates of {run}").format(run=name), None)


def _file() -> Chosen | None:
    help = _("The released SlguSet file, mined candidates, or any table with a column of sentences.")
    path = choose_upload(_("File"), ENDINGS, key=PLACE, help=help)
    return None if path is None else _of_file(path, path.name, _column(path), upload=True)


def _column(path: Path) -> str | None:
    """The column that holds the sentences, asked only where its name does not say so."""
    source = open_source(path)
    try:
        detect_layout(source)
    except EvenhandError:
        if source.columns:
            return st.selectbox(_("Column with the sentences"), source.columns, key="column")
    return None


def _of_file(path: Path, label: str, column: str | None, *, upload: bool = False) -> Chosen:
    seen = path.stat()
    kind, rows, first = _looked_at("file", str(path), f"{seen.st_mtime_ns}-{seen.st_size}", column)
    return Chosen(str(path), label, kind, rows, first, column=column, upload=upload)


@st.cache_data(max_entries=20, show_spinner=False)
def _looked_at(
    kind: Literal["project", "file"], named: str, version: str, column: str | None
) -> tuple[str, int, tuple[ScoreItem, ...]]:
    """Format, rows and first rows; read again when *version* changes."""
    if kind == "project":
        with open_store() as store:
            found: ScoreInput = project_input(store, "", uid=named)
    else:
        found = file_input(named, column=column)
    return found.format, found.rows, tuple(islice(found.items(), SHOWN))


def format_name(name: str) -> str:
    """What was recognised, in words."""
    return {
        "slguset": _("Released SlguSet columns"),
        "candidates": _("Mined candidates"),
        "sentences": _("Sentences"),
    }.get(name, name)


def show_first_rows(chosen: Chosen) -> None:
    """How many sentences there are, and the first ones with the word that will be hidden."""
    text = _("{rows} sentences. The first ones, with the word that is hidden from the model:")
    if chosen.format != "project":
        text = _("{rows} rows, read as: {format}. The first ones, with the word that is hidden from the model:")
    st.caption(plain(text.format(rows=f"{chosen.rows:,}", format=format_name(chosen.format))))
    show_html(element("ol", joined(map(_line, chosen.first)), "sentences"))


def _line(item: ScoreItem) -> Markup:
    number = span(str(item.row), "line")
    if item.start is None or item.end is None:
        why = span(f"— {reason_name(item.reason or '')}", "soft")
        return element("li", joined([number, span(joined([item.sentence, why], " "))]))
    before, word, after = item.sentence[: item.start], item.sentence[item.start : item.end], item.sentence[item.end :]
    return element("li", joined([number, span(joined([before, span(word, str(item.side)), after]))]))
