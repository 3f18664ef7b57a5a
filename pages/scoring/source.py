"""What the page Score can be given: a project, a file, mined candidates; and the first rows as they will be read."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import FORMAT_NAMES, detect_layout
from evenhand.annotations.files.project_texts import PROJECT, Reading, file_input, project_input
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.projects.steps import state
from evenhand.core.errors import EvenhandError
from evenhand.core.files.bounded import run_bounded
from evenhand.core.files.readers import open_source
from evenhand.core.language import Count
from evenhand.core.mining.runs import mining_runs
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.scoring.settings import ScoreInput
from evenhand.core.sentence_bias.find_words import language_of
from evenhand.core.sentence_bias.keyword_packs import PackWord, read_words
from evenhand.pages.ui.choose import choose, choose_project
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.own_words import ENDINGS as WORDS
from evenhand.pages.ui.own_words import choose_language, chosen_language, say_what_a_table_is, say_what_was_read
from evenhand.pages.ui.runs import own_runs
from evenhand.pages.ui.sentences import reason_name
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, inform, plain
from evenhand.pages.ui.uploads import choose_upload

ENDINGS = ["csv", "tsv", "jsonl", "json", "txt"]
SOURCES = ("project", "file", "candidates")
PLACE = "file-0"
SHOWN = 5
LOOKED_AT = 100  # sentences whose language is recognised


@dataclass(frozen=True, slots=True)
class Words:
    """How the words of sentences are found: their language, None where it is recognised; a table of one's own."""

    language: str | None = None
    table: Path | None = None


NO_WORDS = Words()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be scored: how the command is given it, what it is called, how many rows it has, the first ones.

    `language`: of most of its sentences. `upload`: it is an uploaded file, which goes with the job. `kept`: only the
    accepted sentences of a project.
    """

    argument: str
    label: str
    format: str
    rows: int
    first: tuple[ScoreItem, ...]
    language: str
    uid: str | None = None
    column: str | None = None
    words: Words = NO_WORDS
    upload: bool = False
    kept: bool = False


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
    stock, kept = counts(store, found), False
    if stock.accepted:
        names = {
            "accepted": _("Kept: {n}", n=f"{stock.accepted:,}"),
            "all": _("All: {n}", n=f"{stock.items:,}"),
        }
        kept = choose(_("Sentences"), names, "score-items") == "accepted"
    seen = _looked_at("kept" if kept else "project", found.uid, "|".join(state(store)), None)
    return Chosen(f"{PROJECT}{found.name}", found.name, *seen, uid=found.uid, kept=kept)


def _candidates(store: Store) -> Chosen | None:
    found = {run.name: run.candidates for run in own_runs(store, mining_runs(store.path))}
    if not found:
        inform("Nothing has been mined yet. Candidates from the Mine page appear here.")
        return None
    name = st.selectbox(_("Mining run"), list(found), key="candidates")
    return _of_file(found[name], name, None)


def _file() -> Chosen | None:
    help = _("The released SlguSet file, mined candidates, or any table with a column of sentences.")
    path = choose_upload(_("File"), ENDINGS, key=PLACE, help=help)
    if path is None:
        return None
    return _of_file(path, path.name, _column(path), _words(), upload=True)


def _words() -> Words:
    """The language of the sentences and a table of keywords of one's own, for files that do not place their words."""
    with st.container(horizontal=True, vertical_alignment="center"):
        place = st.container(width="content")
        with st.popover(_("Your own words"), icon=":material/library_add:", type="tertiary"):
            say_what_a_table_is()
            table = choose_upload(_("Table of words"), WORDS, key="score-words")
            own = _own_words(table, chosen_language("score-language"))
            if table is not None:
                say_what_was_read(own, table.name)
        with place:
            choose_language("score-language", own)
    return Words(chosen_language("score-language"), table)


def _own_words(table: Path | None, language: str | None) -> tuple[PackWord, ...]:
    return () if table is None else run_bounded(read_words, table, language, file=table.name)


def _column(path: Path) -> str | None:
    """The column that holds the sentences, asked only where its name does not say so."""
    source = open_source(path)
    try:
        detect_layout(source)
    except EvenhandError:
        if source.columns:
            return st.selectbox(_("Column containing the sentences"), source.columns, key="column")
    return None


def _of_file(path: Path, label: str, column: str | None, words: Words = NO_WORDS, *, upload: bool = False) -> Chosen:
    seen = path.stat()
    found = _looked_at("file", str(path), f"{seen.st_mtime_ns}-{seen.st_size}", column, words)
    return Chosen(str(path), label, *found, column=column, words=words, upload=upload)


@st.cache_data(max_entries=20, show_spinner=False)
def _looked_at(
    kind: Literal["project", "kept", "file"], named: str, version: str, column: str | None, words: Words = NO_WORDS
) -> tuple[str, int, tuple[ScoreItem, ...], str]:
    """Format, rows, first rows and language; read again when *version* changes."""
    own: tuple[PackWord, ...] = ()
    if kind != "file":
        with open_store() as store:
            found: ScoreInput = project_input(store, "", uid=named, kept=kind == "kept")
    else:
        own = _own_words(words.table, words.language)
        found = file_input(named, column=column, reading=Reading(words.language, own))
    looked_at = tuple(islice(found.items(), LOOKED_AT))
    languages = Counter(language_of(one.sentence, own) for one in looked_at)
    language = words.language or max(languages, key=languages.__getitem__, default="")
    return found.format, found.rows, looked_at[:SHOWN], language


def show_first_rows(chosen: Chosen) -> None:
    """How many sentences there are, and the first ones with the word that will be hidden."""
    rows = Count(chosen.rows)
    if chosen.format == "project":
        text = _("{rows} {rows:sentence|sentences}. The first few, with the word that is masked for the model:")
        text = text.format(rows=rows)
    else:
        text = _("{rows} {rows:row|rows}, read as {format}. The first few, with the word that is masked for the model:")
        text = text.format(rows=rows, format=_(FORMAT_NAMES[chosen.format]))
    st.caption(plain(text))
    show_html(element("ol", joined(map(_line, chosen.first)), "sentences"))


def _line(item: ScoreItem) -> Markup:
    number = span(str(item.row), "line")
    if item.start is None or item.end is None:
        why = span(f"— {reason_name(item.reason or '')}", "soft")
        return element("li", joined([number, span(joined([item.sentence, why], " "))]))
    before, word, after = item.sentence[: item.start], item.sentence[item.start : item.end], item.sentence[item.end :]
    return element("li", joined([number, span(joined([before, span(word, str(item.side)), after]))]))
