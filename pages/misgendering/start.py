"""Start a run: a set, models, how many generations; one job that asks both ways. What runs, and finished runs."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from core.errors import EvenhandError
from core.runs.records import FORBIDDEN, run_file, runs_folder, runs_in
from core.worker.client import known_models
from pages.misgendering.results_list import show_finished
from pages.ui.choose import choose
from pages.ui.head import open_store, show_error
from pages.ui.jobs import follow, is_active, jobs_of
from pages.ui.language import _
from pages.ui.text import series
from pages.ui.uploads import choose_upload, hand_over

FIRST_MODEL = "demo-en-causal"
FIRST = ["--each", "5", "--setting", "pre", "--passes", "1", "--limit", "80", "--new-tokens", "30"]
PRONOUNS = ("he", "she", "they", "xe")
COMMAND = "misgendering"


def start_first() -> None:
    """The button of the empty page, and what it started."""
    with open_store() as store:
        going = is_active(store, COMMAND)
        pressed = st.button(
            _("Start with the built-in set and model"),
            key="start-first",
            type="primary",
            icon=":material/play_arrow:",
            disabled=going,
        )
        if pressed:
            _start(store, "built-in", (FIRST_MODEL,), FIRST, free_name(store, _("First run")))
    follow(COMMAND)


def show_new() -> None:
    """The form, what runs, and the finished runs."""
    with open_store() as store, st.container(border=True):
        source, upload = _choose_set()
        models = _choose_models()
        options = _choose_how()
        proposed = free_name(store, FIRST_MODEL if not models else models[0])
        name = st.text_input(_("Name of the run"), key="name", placeholder=proposed, max_chars=80)
        pressed = st.button(
            _("Start"),
            key="start",
            type="primary",
            icon=":material/play_arrow:",
            disabled=source is None or not models,
        )
        if pressed and source is not None:
            _start(store, source, tuple(models), options, name.strip() or proposed, upload)
    follow(COMMAND)
    with open_store() as store:
        show_finished(store)


def _choose_set() -> tuple[str | None, Path | None]:
    kinds = {"built-in": _("Built-in set"), "file": _("A table of templates"), "folder": _("A folder here")}
    kind = choose(_("Set"), kinds, "set")
    if kind == "built-in":
        st.caption(_("40 templates and 60 names of our own, five cases, pronouns declared in every text."))
        return "built-in", None
    if kind == "folder":
        text = st.text_input(
            _("Folder"),
            key="set-folder",
            help=_("A folder on the machine where this app runs, such as the one of MISGENDERED."),
        )
        return text.strip() or None, None
    help = _("Columns case and text with one slot [MASK], and {name}; or the published table of RUFF.")
    path = choose_upload(_("Table of templates"), ["csv", "tsv"], key="set-file", help=help)
    return None if path is None else str(path), path


def _choose_models() -> list[str]:
    entries = known_models("causal")
    here = [entry.name for entry in entries if entry.builtin and entry.available]
    st.session_state.setdefault("misgender-models", here[:1])
    names = [entry.name for entry in entries]
    chosen: list[str] = st.multiselect(
        _("Models"),
        names + [name for name in st.session_state["misgender-models"] if name not in names],
        key="misgender-models",
        accept_new_options=True,
        placeholder=_("Choose, or type a name on the Hugging Face hub or a folder"),
        help=_("Causal models, which write from left to right: they can be asked both ways."),
    )
    return chosen


def _choose_how() -> list[str]:
    settings = {"pre": _("before the slot"), "post": _("after the slot")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        each = st.number_input(
            _("Generations each"), 0, 100, 5, key="each", width=150, help=_("0: only the probability-based way.")
        )
        setting = choose(_("Context ends"), settings, "setting")
        passes = st.number_input(_("Names per template"), 1, 500, 2, key="passes", width=170)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        only = st.pills(_("Pronouns"), PRONOUNS, selection_mode="multi", default=list(PRONOUNS), key="only")
        limit = st.number_input(
            _("At most instances"),
            1,
            None,
            None,
            key="limit",
            width=170,
            placeholder=_("all"),
            help=_("A seeded sample."),
        )
        tokens = st.number_input(_("New tokens"), 1, 1000, 50, key="tokens", width=130)
    trim = st.checkbox(
        _("Contexts without the space at their end"),
        key="trim",
        help=_("As published the space stays. Many tokenizers put it before a word, and a lone one is rare to them."),
    )
    options: list[Any] = ["--each", each, "--setting", setting or "pre", "--passes", passes, "--new-tokens", tokens]
    options += ["--trim"] if trim else []
    options += [part for name in (only if len(only) < len(PRONOUNS) else ()) for part in ("--pronouns", name)]
    return [str(one) for one in [*options, *(["--limit", limit] if limit else [])]]


def _start(
    store: Store, source: str, models: tuple[str, ...], options: list[str], name: str, upload: Path | None = None
) -> None:
    try:
        run_file(runs_folder(store.path, "misgendering"), name)
    except EvenhandError as error:
        show_error(error)
        return
    named = [part for model in models for part in ("--model", model)]
    title = _("Misgendering: {models}").format(models=series(models))
    jobs.start(store, ["misgendering", "run", *named, *options, "--run", name, "--json", "--", source], title)
    if upload is not None:
        hand_over(upload)
    st.session_state.pop("name", None)
    st.rerun()


def free_name(store: Store, label: str, now: datetime | None = None) -> str:
    """A name for a run that is not taken: a label, and the day."""
    day = (now or datetime.now(UTC)).strftime("%Y-%m-%d")
    bare = "".join("-" if c in FORBIDDEN else c for c in label).strip(". ")[:40] or "run"
    taken = {run.name for run in runs_in(runs_folder(store.path, "misgendering"))}
    taken |= {one.command[one.command.index("--run") + 1] for one in jobs_of(store, COMMAND) if "--run" in one.command}
    number, name = 1, f"{bare} {day}"
    while name in taken:
        number += 1
        name = f"{bare} {day} ({number})"
    return name
