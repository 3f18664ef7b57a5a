"""What the page Models shows: a run or an uploaded file, its models, how means are made; its numbers, remembered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.files.scoring_input import SCORING
from evenhand.annotations.jobs import jobs
from evenhand.core import model_bias
from evenhand.core.charts.bias_distribution import bins, sorted_curve
from evenhand.core.errors import N_, Notice
from evenhand.core.report.html_tables import list_html
from evenhand.core.resources import table
from evenhand.core.runs.records import Run
from evenhand.core.scoring.settings import Settings as ScoreSettings
from evenhand.core.sentence_bias.bias import Denominator, SideMeans, side_means
from evenhand.core.statistics.equivalence import Margins
from evenhand.pages.ui.address import asked_for, keep
from evenhand.pages.ui.charts import csv_bytes, download, downloads, foot
from evenhand.pages.ui.equivalence import margin_box
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import note_text
from evenhand.pages.ui.runs import ResultBar, ScoreFile, score_file, score_frame, score_runs
from evenhand.pages.ui.tables import page_of, show_html
from evenhand.pages.ui.text import _, caption, plain, series, warn, write
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import asks, errors_shown, open_store, page_link

FIRST_MODELS, MOST_MODELS = 12, 40  # chosen at the start; at most
MASSES: tuple[float | None, ...] = (None, 0.0001, 0.001, 0.01, 0.1)
DEMO_MODELS = ("demo-zh", "random-zh")
BUSY = ("waiting", "running")


@dataclass(frozen=True, slots=True)
class Settings:
    """How means are made; part of the key of every remembered number."""

    denominator: Denominator = "side"
    least_mass: float | None = None


def choose_source(bar: ResultBar) -> ScoreFile | None:
    """Return a run of the list, or a file from this computer; None where there is neither yet.

    The choice is in the menu of *bar*, which also holds the file.
    """
    known = {run.name: run for run in score_runs()}
    with bar.change:
        run = _choose_known(known) if known else None
        path = choose_upload(_("Open a file instead"), ["csv"], key="scores-file", help=_(FILES))
    if path is not None:
        return score_file(path, path.name, sent=True)
    if run is None:
        return None
    with bar.more:
        download(_("Table (CSV)"), run.table.read_bytes, run.table.name, key="scores-csv")
    return score_file(run.table, run.name)


FILES = N_("A file written by the command `score`, or one of your own with the same columns.")


def _choose_known(known: dict[str, Run]) -> Run:
    asked = st.query_params.get("run")
    if asked is not None and asked not in known:
        warn("The run {name} no longer exists.", name=asked)
    if asked_for("run", "run") in known or st.session_state.get("run") not in known:
        st.session_state["run"] = asked if asked in known else next(iter(known))
    name = st.selectbox(_("Scores"), list(known), key="run", format_func=lambda run: _run_name(known[run]))
    keep("run", "run", name)
    return known[name]


def _run_name(run: Run) -> str:
    text = _("{name} · {sentences} sentences · {models}")
    return text.format(name=run.name, sentences=f"{run.sentences:,}", models=series(run.models))


def choose_models(models: list[str]) -> tuple[list[str], Settings]:
    """Ask which models to compare and return them with the settings.

    The order of choosing is the order everywhere. It begins with the order of the file.
    """
    if st.session_state.get("models-of") != models:
        names = [name for name in st.query_params.get_all("models") if name in models]
        st.session_state["models-of"] = models
        st.session_state["models"] = list(dict.fromkeys(names)) or models[:FIRST_MODELS]
    chosen = st.multiselect(
        _("Models, in your order"),
        models,
        key="models",
        max_selections=MOST_MODELS,
        placeholder=_("Choose at least one model"),
        help=_(
            "Models appear in the order in which you choose them. They are not sorted by bias: a smaller bias"
            " is not necessarily better."
        ),
    )
    if chosen and chosen != models[:FIRST_MODELS]:
        st.query_params["models"] = chosen
    elif "models" in st.query_params:
        del st.query_params["models"]
    return list(chosen), _settings()


def _settings() -> Settings:
    """Ask by what the sums of the sides are divided, and from which pair mass on a sentence counts."""
    names: dict[Any, str] = {
        "side": _("the sentences of that side (conference paper)"),
        "all": _("all sentences (journal paper)"),
    }
    denominator = st.radio(_("Denominator of the means"), list(names), format_func=names.__getitem__, key="denominator")
    least = st.select_slider(
        _("Exclude sentences with a pair mass below"),
        MASSES,
        key="least-mass",
        format_func=lambda mass: _("exclude none") if mass is None else f"{100 * mass:g}%",
        help=_("Pair mass: the probability of both words together. Where it is small, the ratio means little."),
    )
    return Settings(denominator, least)


def ask_margins(key: str) -> Margins:
    """Ask how large a difference may be and still count as none, in both scales."""
    with st.container(horizontal=True):
        return {"log10": margin_box("log10", key), "auc": margin_box("auc", f"{key}-auc")}


def choose_seeds(models: list[str]) -> model_bias.Groups:
    """Ask which of *models* are seeds of one model. The first proposal follows from their names."""
    by_name = "\n".join(model_bias.written_groups(model_bias.seed_groups(models)))
    kept = st.session_state.setdefault("seeds-text", {})  # other sections lose the box, not what was written
    with st.expander(_("Seeds of one model"), icon=":material/workspaces:"):
        text = st.text_area(
            _("One model per line: its name, then its seeds"),
            kept.get(tuple(models), by_name),
            key=f"seeds-{series(models)}",  # other models begin with their own names
            placeholder="bert=bert-seed1,bert-seed2",
            help=_(
                "Several seeds of a model count as one. Models whose names end in a seed are listed here"
                " by default; models not listed count separately."
            ),
        )
    kept[tuple(models)] = text
    groups = model_bias.seed_groups(models)
    with errors_shown():
        groups = model_bias.seed_groups(
            models, model_bias.read_groups([line for line in text.splitlines() if line.strip()]), by_name=False
        )
    if groups:
        st.caption(plain(note_text(model_bias.grouping(groups))))
    return groups


def nothing_yet() -> None:
    """Say what is missing and what to do."""
    with st.container(border=True):
        st.header(_("No scores yet"))
        write(
            "This page compares models on the same sentences. First score a data set with one or more"
            " models; the run then appears in the list above. Or open a score file."
        )
        _first_run()
        page_link("scoring/page.py", label=_("Score sentences"), icon=":material/playlist_play:")


@st.fragment(run_every="2s")
@errors_shown()
def _first_run() -> None:
    if score_runs():
        st.rerun()
    with open_store() as store:
        mine = [job for job in jobs.jobs(store) if job.uid == st.session_state.get("demo-scores")]
    running = bool(mine) and mine[0].state in BUSY
    label = _("Score the {n} demo sentences with {models}", n=len(table("demo_sentences")), models=series(DEMO_MODELS))
    if st.button(plain(label), key="score-demo", icon=":material/play_arrow:", type="primary", disabled=running):
        _score_demo()
        st.rerun(scope="fragment")
    if running:
        caption("The two models are scoring the sentences; this page updates automatically.")
    elif mine:
        caption("Scoring failed; see the Jobs page for the reason.")


@asks("start_jobs")
def _score_demo() -> None:
    """Start a job that scores the demo sentences, like the page Score."""
    sentences = csv_bytes([{"sentence": row["text"]} for row in table("demo_sentences")])
    with open_store() as store:
        path = str(jobs.keep_upload(store, "demo-sentences.csv", sentences))
        settings = ScoreSettings(path, DEMO_MODELS, run_name=_("Demo sentences"), column="sentence")
        job = start_job(store, SCORING, settings, Notice(N_("Score the demo sentences")))
        st.session_state["demo-scores"] = job.uid


if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from evenhand.core.model_bias import Summary
    from evenhand.core.statistics import Estimate

Links = Callable[[Mapping[str, Any]], Markup]
REMEMBERED = 24
GROUP_RESAMPLES = 500  # of each of up to 19 groups per model; the table of all sentences has 2,000
SHOWN = 10


def no_links(_row: Mapping[str, Any]) -> Markup:
    """Return nothing: the sentence leads nowhere."""
    return Markup("")


FILE_COLUMNS = (
    *("row", "sentence", "pair", "keyword", "side", "model", "p_male", "p_female", "pair_mass", "bias_log10"),
    *("bias_ln", "corrected_log10", "group", "status", "signature"),
)


def rows_for(source: ScoreFile, models: list[str], settings: Settings | None = None) -> "pd.DataFrame":
    """Return the rows of some models, without those under the chosen pair mass."""
    frame = score_frame(source)
    kept = frame["model"].isin(models)
    if settings is not None and settings.least_mass is not None:
        kept &= ~(frame["pair_mass"] < settings.least_mass)
    return frame[kept]


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def summary(source: ScoreFile, model: str, settings: Settings) -> "Summary":
    """Return one model in numbers, with intervals: the slow part, once per model and setting."""
    rows = model_bias.rows_of(score_frame(source), model)
    return model_bias.summarise(rows, denominator=settings.denominator, least_mass=settings.least_mass)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def quick_means(source: ScoreFile, model: str, settings: Settings) -> SideMeans:
    """Return the side means without intervals: what can be drawn at once."""
    rows = rows_for(source, [model], settings)
    return side_means(rows["bias_log10"].tolist(), denominator=settings.denominator)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def corrected_means(source: ScoreFile, model: str, settings: Settings) -> SideMeans:
    """Return the side means after prior correction, on the sentences that the settings keep."""
    rows = rows_for(source, [model], settings)
    return side_means(model_bias.prior_corrected(rows).tolist(), denominator=settings.denominator)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def grouped(source: ScoreFile, model: str, by: Any, settings: Settings) -> "list[Summary]":
    """Return a summary per keyword pair, source side or mask width of one model."""
    rows = model_bias.rows_of(score_frame(source), model)
    return model_bias.summarise_by(
        rows, by, resamples=GROUP_RESAMPLES, denominator=settings.denominator, least_mass=settings.least_mass
    )


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def bins_of(
    source: ScoreFile, models: list[str], settings: Settings, corrected: bool, chosen: tuple[int, ...] = ()
) -> "pd.DataFrame":
    """Return the counted distribution of some models; *chosen*: the numbers of selected sentences."""
    rows = rows_for(source, models, settings)
    picked = {model: found.isin(chosen).to_numpy() for model, found in rows.groupby("model")["row"]}
    return bins(values_of(source, models, settings, corrected), picked)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def curve_of(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> "pd.DataFrame":
    """Return the sentences of some models in order, thinned out."""
    return sorted_curve(values_of(source, models, settings, corrected))


def values_of(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> "dict[str, np.ndarray]":
    """Return Bias_c (log10), or the prior-corrected value, of each model, in the order of *models*."""
    rows = rows_for(source, models, settings)
    column = "corrected_log10" if corrected else "bias_log10"
    return {model: rows.loc[rows["model"] == model, column].to_numpy() for model in models}


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def correlations(
    source: ScoreFile, models: list[str], settings: Settings, method: Any, corrected: bool
) -> "pd.DataFrame":
    """Return the correlation of each pair of models."""
    return ordered(model_bias.correlation(rows_for(source, models, settings), method, corrected=corrected), models)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def signs(source: ScoreFile, models: list[str], settings: Settings) -> "pd.DataFrame":
    """Return how often every two models lean to the same side."""
    return ordered(model_bias.sign_agreement(rows_for(source, models, settings)), models)


def ordered(found: "pd.DataFrame", models: list[str]) -> "pd.DataFrame":
    """Return rows of pairs of models (columns a, b) in the visitor's order."""
    place = {model: n for n, model in enumerate(models)}
    keys = found["a"].map(place) * len(models) + found["b"].map(place)
    return found.iloc[keys.argsort(kind="stable")].reset_index(drop=True)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def differences(source: ScoreFile, a: str, b: str, settings: Settings) -> "dict[str, Estimate]":
    """Return each measure of model a minus that of b, paired."""
    rows = rows_for(source, [a, b], settings)
    return model_bias.paired_differences(rows, a, b, denominator=settings.denominator)


def at_once(settings: Settings) -> Settings:
    """Return settings without the denominator, for results that do not depend on it and stay cached when it changes."""
    return replace(settings, denominator="side")


def show_sentences(rows: "pd.DataFrame", *, key: str, says: str, links: Links = no_links) -> None:
    """Show the rows a few at a time, in the given order, and all of them as a file; *links*: as for `list_html`."""
    shown = page_of(range(len(rows)), f"{key}-page", SHOWN)
    sentence_list(rows.iloc[list(shown)], links=links)
    with foot():
        st.caption(plain(says))
        if len(rows) > SHOWN:
            st.pagination(-(-len(rows) // SHOWN), key=f"{key}-page")
        downloads(for_file(rows), key=key)


def for_file(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows with the columns of a file; each number with its signature."""
    return rows[[name for name in FILE_COLUMNS if name in rows.columns]]


def sentence_list(rows: "pd.DataFrame", *, value: str = "bias_log10", links: Links = no_links) -> None:
    """Show the sentences, one below the other; *links*: as for `list_html`."""
    written = list_html(rows.to_dict("records"), say=_, value=value, links=links)
    show_html(Markup(written))  # noqa: S704  # core.report escapes every text
