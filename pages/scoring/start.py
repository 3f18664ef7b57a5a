"""Which models the page Score asks, how, what that will take, and the start of the job."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.project_texts import SCORING
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.core.errors import N_, Notice
from evenhand.core.language import Count
from evenhand.core.scoring.settings import Settings
from evenhand.core.worker.client import known_models
from evenhand.pages.scoring.source import PLACE, Chosen
from evenhand.pages.ui.choose import begin_with, choose_models, first_models, say_what_does_not_fit
from evenhand.pages.ui.numbers import duration
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.text import _, language, paragraph

SCORES = RunPage("scores", "score")
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


def choose_how(chosen: Chosen | None) -> How:
    """The choice of models, which begins with those of the language of what is chosen, and a small menu of how."""
    written = chosen.language if chosen else language()
    begin_with("score-models", written)
    wide, narrow = st.columns([5, 1], vertical_alignment="bottom")
    with wide:
        names = [entry.name for entry in known_models()]
        models = choose_models(names, "score-models", first=first_models(written))
    with narrow.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        how = How(models, *_settings())
    if chosen:
        say_what_does_not_fit(models, written, "score-models")
    return how


def _settings() -> tuple[str, str, str]:
    joints = {
        "independent": _("all characters at once (product)"),
        "sequential": _("from left to right (product)"),
        "geometric_mean": _("all characters at once (geometric mean)"),
    }
    methods = {
        "auto": _("default for the model type"),
        "masked": _("the masked word only (masked models)"),
        "pair-sum": _("the sentence from the first difference onwards (causal models)"),
        "pll": _("pseudo-log-likelihood, for comparison (slow)"),
    }
    precisions = {
        "fp32": _("exact (fp32)"),
        "bf16": _("rounded (bf16): faster on GPUs, slower on most CPUs; Bias_c changes by a few hundredths"),
    }
    joint = st.radio(_("Two-character words"), JOINTS, format_func=joints.__getitem__, key="score-joint")
    method = st.radio(_("Scoring method"), METHODS, format_func=methods.__getitem__, key="score-method")
    precision = st.radio(_("Precision"), PRECISIONS, format_func=precisions.__getitem__, key="score-precision")
    return joint, method, precision


def show_start(store: Store, chosen: Chosen | None, how: How) -> None:
    """The name of the run, what it will take, and the button."""
    if chosen is None:
        return
    label = Path(chosen.label).stem if chosen.upload else chosen.label
    work = forecast(store, chosen.rows, how)
    show_start_form(store, SCORES, label, _request(store, chosen, how) if how.models else None, work=work)


def _request(store: Store, chosen: Chosen, how: How) -> RunRequest[Settings]:
    words = chosen.words
    settings = Settings(
        chosen.argument, how.models, language=words.language, words=words.table, column=chosen.column,
        precision=how.precision, joint=how.joint, method=how.method, items="accepted" if chosen.kept else "all",
        uid=chosen.uid,
    )  # fmt: skip
    wording = (
        N_("Score the kept sentences of {source} with {models}") if chosen.kept else N_("Score {source} with {models}")
    )
    title = Notice(wording, {"source": chosen.label, "models": list(how.models)})
    project = project_by_uid(store, chosen.uid) if chosen.uid else None
    uploads = [words.table] if words.table else []
    place = PLACE if chosen.upload else ""
    return RunRequest(title, SCORING, settings, models=how.models, uploads=uploads, place=place, project=project)


def forecast(store: Store, rows: int, how: How) -> str:
    """How much work that is, and how long it took before with these models; nothing is promised without a measure."""
    if not how.models:
        return _("Choose at least one model.")
    text = (
        _("{rows} {rows:sentence|sentences} for one model.")
        if len(how.models) == 1
        else _("{rows} {rows:sentence|sentences} for {models} models.")
    )
    text = text.format(rows=Count(rows), models=len(how.models))
    rates = _rates(store, how)
    if all(model in rates for model in how.models):
        seconds = sum(loading + rows / rate for rate, loading in (rates[model] for model in how.models))
        more = _("At the speed of earlier runs, about {time}; less where scores are cached.")
        return paragraph((text, more.format(time=duration(seconds))))
    return paragraph((text, _("The duration is known a few seconds after the start.")))


def _rates(store: Store, how: How) -> dict[str, tuple[float, float]]:
    """Sentences a second and seconds of loading by model, from the newest run that was made in the same way."""
    rates: dict[str, tuple[float, float]] = {}
    for run in SCORES.finished(store):
        settings = run.facts("settings")
        if [settings.get("method"), settings.get("precision")] != [how.method, how.precision]:
            continue
        for one in run.answered:
            if isinstance(one.get("rate"), int | float) and one["rate"] > 0:
                rates.setdefault(str(one["model"]), (float(one["rate"]), float(one.get("loading_seconds") or 0)))
    return rates
