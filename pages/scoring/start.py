"""Which models the page Score asks, how, what that will take, and the start of the job."""

from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from core.errors import EvenhandError
from core.runs.records import FORBIDDEN, run_file, runs_folder, runs_in
from core.runs.scoring import check_models
from core.worker.client import known_models
from pages.scoring.source import ENDINGS, PLACE, Chosen
from pages.ui.head import show_error
from pages.ui.language import _
from pages.ui.numbers import duration
from pages.ui.text import paragraph, plain, series
from pages.ui.uploads import empty_place

FIRST_MODELS = ("demo-zh", "random-zh")  # the second is the reference for the first
JOINTS = ("independent", "sequential", "geometric_mean")
METHODS = ("auto", "masked", "pair-sum", "pll")
PRECISIONS = ("fp32", "bf16")


@dataclass(frozen=True, slots=True)
class How:
    """Which models, and how their numbers are made."""

    models: tuple[str, ...]
    joint: str
    method: str
    precision: str

    @property
    def options(self) -> list[str]:
        """As the command takes them."""
        named = [argument for model in self.models for argument in ("--model", model)]
        return [*named, "--joint", self.joint, "--method", self.method, "--precision", self.precision]


def choose_models() -> How:
    """The choice of models, and a small menu of how."""
    entries = known_models()
    names = [entry.name for entry in entries]
    here = {entry.name for entry in entries if entry.builtin and entry.available}
    st.session_state.setdefault("score-models", [name for name in FIRST_MODELS if name in here])
    wide, narrow = st.columns([5, 1], vertical_alignment="bottom")
    models = wide.multiselect(
        _("Models"),
        names + [name for name in st.session_state["score-models"] if name not in names],
        key="score-models",
        accept_new_options=True,
        placeholder=_("Choose, or type a name on the Hugging Face hub or a folder"),
    )
    with narrow.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        return How(tuple(models), *_settings())


def _settings() -> tuple[str, str, str]:
    joints = {
        "independent": _("all characters at once (product)"),
        "sequential": _("from left to right (product)"),
        "geometric_mean": _("all at once (geometric mean)"),
    }
    methods = {
        "auto": _("what fits the model"),
        "masked": _("the hidden word alone (masked models)"),
        "pair-sum": _("the sentence from the first difference on (causal models)"),
        "pll": _("pseudo-log-likelihood, for comparison (slow)"),
    }
    precisions = {
        "fp32": _("exact (fp32)"),
        "bf16": _("rounded (bf16): faster on graphics cards, slower on most processors; Bias_c moves by hundredths"),
    }
    joint = st.radio(_("Words of two characters"), JOINTS, format_func=joints.__getitem__, key="score-joint")
    method = st.radio(_("What is asked"), METHODS, format_func=methods.__getitem__, key="score-method")
    precision = st.radio(_("Precision"), PRECISIONS, format_func=precisions.__getitem__, key="score-precision")
    return joint, method, precision


def show_start(store: Store, chosen: Chosen | None, how: How) -> None:
    """The name of the run, what it will take, and the button."""
    if chosen is None:
        return
    proposed = free_name(store, chosen.label)
    name = st.text_input(_("Name of the run"), key="name", placeholder=proposed, max_chars=80)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            _("Start"), key="start", type="primary", icon=":material/play_arrow:", disabled=not how.models
        )
        st.caption(plain(forecast(store, chosen.rows, how)))
    if pressed:
        try:
            _start(store, chosen, how, name.strip() or proposed)
        except EvenhandError as error:
            show_error(error)


def _start(store: Store, chosen: Chosen, how: How, name: str) -> None:
    check_models(how.models, fetch=False)  # a name that is no model is told at once, not by a job that fails
    run_file(runs_folder(store.path, "scores"), name)
    command = ["score", *how.options, "--run", name, "--json"]
    if chosen.uid:
        command += ["--project-uid", chosen.uid]
    if chosen.column:
        command += ["--column", chosen.column]
    title = _("Score {source} with {models}").format(source=chosen.label, models=series(how.models))
    jobs.start(store, [*command, "--", chosen.argument], title)
    if chosen.upload:
        empty_place(PLACE)
    st.session_state.pop("name", None)
    st.rerun()


def free_name(store: Store, label: str, now: datetime | None = None) -> str:
    """A name for a run that is not taken: what is scored, and the day."""
    day = (now or datetime.now(UTC)).strftime("%Y-%m-%d")
    bare = "".join("-" if c in FORBIDDEN else c for c in label)
    for ending in ENDINGS:
        bare = bare.removesuffix(f".{ending}")
    bare = bare.strip(". ")[:40] or "run"
    taken = {run.name for run in runs_in(runs_folder(store.path, "scores"))}
    for one in jobs.jobs(store):
        if "--run" in one.command:
            taken.add(one.command[one.command.index("--run") + 1])
    number, name = 1, f"{bare} {day}"
    while name in taken:
        number += 1
        name = f"{bare} {day} ({number})"
    return name


def forecast(store: Store, rows: int, how: How) -> str:
    """How much work that is, and how long it took before with these models; nothing is promised without a measure."""
    if not how.models:
        return _("Choose at least one model.")
    text = _("{rows} sentences for one model.") if len(how.models) == 1 else _("{rows} sentences for {models} models.")
    text = text.format(rows=f"{rows:,}", models=len(how.models))
    rates = _rates(store, how)
    if all(model in rates for model in how.models):
        seconds = sum(loading + rows / rate for rate, loading in (rates[model] for model in how.models))
        more = _("At the rate of earlier runs about {time}; less where sentences were scored before.")
        return paragraph((text, more.format(time=duration(seconds))))
    return paragraph((text, _("How long it takes is known a few seconds after the start.")))


def _rates(store: Store, how: How) -> dict[str, tuple[float, float]]:
    """Sentences a second and seconds of loading by model, from the newest run that was made in the same way."""
    rates: dict[str, tuple[float, float]] = {}
    for run in runs_in(runs_folder(store.path, "scores")):
        settings = run.record.get("settings", {})
        if [settings.get("method"), settings.get("precision")] != [how.method, how.precision]:
            continue
        for one in run.record.get("models", []):
            if isinstance(one.get("rate"), int | float) and one["rate"] > 0:
                rates.setdefault(str(one["model"]), (float(one["rate"]), float(one.get("loading_seconds") or 0)))
    return rates
