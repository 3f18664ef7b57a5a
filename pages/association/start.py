"""Which models are asked about the sentences, how, and the start of the job."""

from datetime import UTC, datetime

import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from core.errors import EvenhandError
from core.runs.records import FORBIDDEN, run_file, runs_folder, runs_in
from core.runs.scoring import check_models
from core.worker.client import known_models
from pages.association.source import Chosen
from pages.ui.head import show_error
from pages.ui.language import _
from pages.ui.text import plain, series
from pages.ui.uploads import hand_over


def show_start(store: Store, chosen: Chosen) -> None:
    """Models, method, name, button."""
    models = _choose_models(chosen.found.language)
    wide, menu = st.columns([5, 1], vertical_alignment="bottom")
    proposed = free_name(store, chosen.found.language)
    name = wide.text_input(_("Name of the run"), key="name", placeholder=proposed, max_chars=80)
    with menu.popover(_("Method"), icon=":material/tune:", type="tertiary", key="professions-method"):
        options = _method(chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(_("Start"), key="start", type="primary", icon=":material/play_arrow:", disabled=not models)
        st.caption(plain(_work(chosen, models)))
    if pressed:
        try:
            _start(store, chosen, models, options, name.strip() or proposed)
        except EvenhandError as error:
            show_error(error)


def _choose_models(language: str) -> tuple[str, ...]:
    base, key = language.partition("-")[0], f"professions-models-{language}"
    entries = [entry for entry in known_models() if entry.language in (base, "mul")]
    own = f"demo-{base}"
    if key not in st.session_state:
        st.session_state[key] = [entry.name for entry in entries if entry.name == own and entry.available]
    names = [entry.name for entry in entries]
    with st.container(key="professions-models"):
        found = st.multiselect(
            _("Models"),
            names + [name for name in st.session_state[key] if name not in names],
            key=key,
            accept_new_options=True,
            placeholder=_("Choose, or type a name on the Hugging Face hub or a folder"),
        )
    return tuple(found)


def _method(chosen: Chosen) -> list[str]:
    targets = {"all": _("one mask for each piece, log-probabilities added"), "first_piece": _("the first piece alone")}
    attributes = {"word": _("one mask for each whitespace word"), "piece": _("one mask for each piece")}
    target = st.radio(
        _("Person words of several pieces"), tuple(targets), format_func=targets.__getitem__, key="target",
        help=_("The code of Bartl et al. asks the first piece alone; the thesis does not say."),
    )  # fmt: skip
    attribute = st.radio(
        _("Hidden professions"), tuple(attributes), format_func=attributes.__getitem__,
        index=tuple(attributes).index(chosen.found.attribute), key=f"attribute-{chosen.found.attribute}",
    )  # fmt: skip
    return ["--target", str(target), "--attribute", str(attribute)]


def _work(chosen: Chosen, models: tuple[str, ...]) -> str:
    if not models:
        return _("Choose at least one model.")
    text = _("{probes} questions a model: {sentences} sentences, each with the profession and with it hidden. Equal "
             "masked sentences are read once.")  # fmt: skip
    sentences = chosen.found.sentences
    return text.format(probes=f"{2 * sentences:,}", sentences=f"{sentences:,}")


def _start(store: Store, chosen: Chosen, models: tuple[str, ...], options: list[str], name: str) -> None:
    check_models(models, fetch=False)  # a name that is no model is told at once, not by a job that fails
    run_file(runs_folder(store.path, "associations"), name)
    named = [argument for model in models for argument in ("--model", model)]
    command = ["association", *chosen.arguments, *named, *options, "--run", name, "--json"]
    title = _("Professions: {set} with {models}").format(set=chosen.label, models=series(models))
    jobs.start(store, command, title)
    hand_over(*chosen.uploads)
    st.session_state.pop("name", None)
    st.rerun()


def free_name(store: Store, language: str, now: datetime | None = None) -> str:
    """A name for a run that is not taken: the set, and the day."""
    day = (now or datetime.now(UTC)).strftime("%Y-%m-%d")
    bare = "".join("-" if c in FORBIDDEN else c for c in language)
    taken = {run.name for run in runs_in(runs_folder(store.path, "associations"))}
    for one in jobs.jobs(store):
        if "--run" in one.command:
            taken.add(one.command[one.command.index("--run") + 1])
    number, name = 1, f"{bare} {day}"
    while name in taken:
        number += 1
        name = f"{bare} {day} ({number})"
    return name
