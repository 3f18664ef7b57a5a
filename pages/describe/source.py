"""The page Data set statistics: which project or file it describes, which items, and with which vocabulary."""

from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.file_description import describe_file
from evenhand.annotations.describe.project_description import (
    Items,
    describe_items,
    usual_items,
    usual_vocabulary,
)
from evenhand.annotations.files.detect import detect_layout
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.core.describe.description import Description
from evenhand.core.describe.vocabulary import vocabulary
from evenhand.core.errors import EvenhandError
from evenhand.core.files.readers import open_source
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.models.catalogue import known_models
from evenhand.pages.ui.choose import choose, choose_project, may_load_models, models_offered, models_to_use
from evenhand.pages.ui.notices import say_unsettled
from evenhand.pages.ui.text import _, caption, inform, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import may, remembered

ENDINGS = ["csv", "tsv", "jsonl", "json", "txt", "xlsx"]
State = tuple[str, ...]
MANY = 30_000  # texts; more take longer than a page may
LARGEST = 16 * 2**20  # bytes: about 130,000 sentences, ten seconds
NO_WORDS = ""  # no vocabulary


def chosen_description(store: Store) -> Description | None:
    """Ask for the set and describe it; None while there is none, and then what to do is said. Raises EvenhandError."""
    with st.container():
        if not may(store, "import_files"):
            return _of_project(store)
        source = choose(_("Data to describe"), {"project": _("A project"), "file": _("A file")}, "described")
        return _of_project(store) if source == "project" else _of_file()


def _of_project(store: Store) -> Description | None:
    project = choose_project(store)
    if project is None:
        return None
    say_unsettled(store, project)
    stock = counts(store, project)
    if not stock.items:
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
        return None
    first, second = st.columns(2)
    if project.kind == "generations":
        first, second = second, first  # there is nothing to choose on the left
    with first:
        items = _items(store, project, stock.accepted)
    with second:
        model = _model(usual_vocabulary(project.language))
    moment = _moment(project, stock.accepted if items == "accepted" else stock.items, (*state(store), project.name))
    if moment is None:
        return None
    with st.spinner(_("Counting …"), show_time=False):
        return remembered(moment, _described, project, items, model)


def _moment(project: Project, texts: int, now: State) -> State | None:
    """Return the state of the database that the numbers describe.

    It is the current state. More than MANY texts take seconds to count: then it is the state when the visitor last
    asked for a count; None before that.
    """
    if texts <= MANY:
        return now
    key = f"counted-{project.uid}"
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(_("Count now"), key=f"count-{project.uid}", icon=":material/calculate:"):
            st.session_state[key] = now
        then: State | None = st.session_state.get(key)
        if then is None:
            text = _("Counting {texts} texts takes a few seconds. Press the button to start.")
            st.caption(plain(text.format(texts=f"{texts:,}")))
        elif then != now:
            caption("The data have changed since this was counted.")
    return then


def _items(store: Store, project: Project, accepted: int) -> Items:
    names: dict[Items, str] = {"accepted": _("Accepted items"), "all": _("All")}
    if project.kind == "generations":
        return "all"
    if not may(store, "see_all_labels", project):
        return "accepted"
    if not accepted:
        caption("No sentences of this project are accepted yet, so these numbers cover all items.")
        return "all"
    return choose(_("Which items"), names, f"items-{project.uid}", first=usual_items(store, project))


def _model(first: str) -> str:
    """Return the model whose vocabulary is used; the built-in model of the language until the visitor chooses."""
    entries = [entry for entry in known_models(None) if entry.available or entry.task == "masked"]
    entries.sort(key=lambda entry: not entry.available)
    names = models_offered(list(dict.fromkeys([first, *(entry.name for entry in entries)])))
    st.session_state.setdefault(f"vocabulary-{first}", first)
    chosen = st.selectbox(
        _("Vocabulary"),
        names,
        index=None,  # it can be cleared again
        key=f"vocabulary-{first}",
        accept_new_options=may_load_models(),
        placeholder=_("None; choose one, or type a Hugging Face Hub name or a folder"),
        help=_("Only the vocabulary is read, from the model's folder or from earlier downloads."),
    )
    return next(iter(models_to_use([str(chosen or NO_WORDS)])), NO_WORDS)


def _described(store: Store, project: Project, items: Items, model: str) -> Description:
    words = vocabulary(model, files=False) if model else None
    return describe_items(store, project, items=items, words=words)


def _of_file() -> Description | None:
    left, right = st.columns(2)
    with left:
        help = _("The released SlguSet file, mined candidates, or any table with a column of sentences.")
        path = choose_upload(_("File"), ENDINGS, key="described-file", help=help)
    if path is None:
        right.caption(_("Every row of the file counts, including rows whose keyword cannot be determined."))
        return None
    if (size := path.stat().st_size) > LARGEST:
        text = _("This file is {size} MB; above {limit} MB use the command: python cli.py describe --file.")
        st.error(plain(text.format(size=round(size / 2**20), limit=LARGEST // 2**20)))
        return None
    with right:
        model = _model("demo-zh")
        columns = _columns_to_choose(path)
        column = (
            st.selectbox(_("Column containing the sentences"), columns, key="described-column") if columns else None
        )
    with st.spinner(_("Counting …"), show_time=False):
        return _file_described(path, column, model)


@st.cache_data(max_entries=4, show_spinner=False)
def _columns_to_choose(path: Path) -> tuple[str, ...]:
    source = open_source(path)
    try:
        detect_layout(source)
    except EvenhandError:
        return source.columns
    return ()


@st.cache_data(max_entries=4, show_spinner=False)
def _file_described(path: Path, column: str | None, model: str) -> Description:
    return run_bounded(describe_file, path, column=column, model=model, file=path.name)
