"""The page Score: what is scored (a project, a file, mined candidates), by which models and how, and finished runs."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import FORMAT_NAMES, detect_layout
from evenhand.annotations.files.scoring_input import PROJECT, SCORING, InputOptions, file_input, project_input
from evenhand.annotations.projects.projects import counts, project_by_uid
from evenhand.annotations.projects.steps import state
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.files.readers import open_source
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.language import Count
from evenhand.core.mining.runs import mining_runs
from evenhand.core.runs.records import Run
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.scoring.settings import ScoreInput, Settings
from evenhand.core.sentence_bias.find_words import language_of
from evenhand.core.sentence_bias.keyword_packs import PackWord, read_words
from evenhand.core.worker.client import known_models
from evenhand.pages.ui import runs
from evenhand.pages.ui.choose import ENDINGS as WORDS
from evenhand.pages.ui.choose import (
    begin_with,
    choose,
    choose_language,
    choose_models,
    choose_project,
    chosen_language,
    first_models,
    say_what_a_table_is,
    say_what_does_not_fit,
    say_what_was_read,
)
from evenhand.pages.ui.numbers import DASH, duration
from evenhand.pages.ui.sentences import reason_name
from evenhand.pages.ui.tables import element, joined, number_columns, show_html, span, table
from evenhand.pages.ui.text import _, inform, language, paragraph, plain, series
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown, open_store, page_link

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
    """Ask what to score; return None and say what to do while nothing is chosen."""
    names: dict[str, str] = {
        "project": _("A project"),
        "file": _("A file"),
        "candidates": _("Mined candidates"),
    }
    kind = st.segmented_control(
        _("What to score"), SOURCES, format_func=names.__getitem__, key="source", default="project", required=True
    )
    with errors_shown():
        if kind == "file":
            help = _("The released SlguSet file, mined candidates, or any table with a column of sentences.")
            path = choose_upload(_("File"), ENDINGS, key=PLACE, help=help)
            if path is None:
                return None
            return _of_file(path, path.name, _column(path), _words(), upload=True)
        return _candidates(store) if kind == "candidates" else _project(store)
    return None


def _project(store: Store) -> Chosen | None:
    project = choose_project(store)
    if project is None:
        return None
    stock, kept = counts(store, project), False
    if stock.accepted:
        names = {
            "accepted": _("Accepted: {n}", n=f"{stock.accepted:,}"),
            "all": _("All: {n}", n=f"{stock.items:,}"),
        }
        kept = choose(_("Sentences"), names, "score-items") == "accepted"
    seen = _looked_at("kept" if kept else "project", project.uid, "|".join(state(store)), None)
    return Chosen(f"{PROJECT}{project.name}", project.name, *seen, uid=project.uid, kept=kept)


def _candidates(store: Store) -> Chosen | None:
    result = {run.name: run.candidates for run in runs.own_runs(store, mining_runs(store.path))}
    if not result:
        inform("Nothing has been mined yet. Candidates from the Mine page appear here.")
        return None
    name = st.selectbox(_("Mining run"), list(result), key="candidates")
    return _of_file(result[name], name, None)


def _words() -> Words:
    """Return the language of the sentences and a table of keywords of one's own, for files that do not place their
    words."""
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
    """Return the column that holds the sentences, asked only where its name does not say so."""
    source = open_source(path)
    try:
        detect_layout(source)
    except EvenhandError:
        if source.columns:
            return st.selectbox(_("Column containing the sentences"), source.columns, key="column")
    return None


def _of_file(path: Path, label: str, column: str | None, words: Words = NO_WORDS, *, upload: bool = False) -> Chosen:
    seen = path.stat()
    result = _looked_at("file", str(path), f"{seen.st_mtime_ns}-{seen.st_size}", column, words)
    return Chosen(str(path), label, *result, column=column, words=words, upload=upload)


@st.cache_data(max_entries=20, show_spinner=False)
def _looked_at(
    kind: Literal["project", "kept", "file"], named: str, version: str, column: str | None, words: Words = NO_WORDS
) -> tuple[str, int, tuple[ScoreItem, ...], str]:
    """Return format, number of rows, first rows and language; read again when *version* changes."""
    own: tuple[PackWord, ...] = ()
    if kind != "file":
        with open_store() as store:
            score_input: ScoreInput = project_input(store, "", uid=named, kept=kind == "kept")
    else:
        own = _own_words(words.table, words.language)
        score_input = file_input(named, column=column, reading=InputOptions(words.language, own))
    looked_at = tuple(islice(score_input.items(), LOOKED_AT))
    languages = Counter(language_of(score_item.sentence, own) for score_item in looked_at)
    language = words.language or max(languages, key=languages.__getitem__, default="")
    return score_input.format, score_input.rows, looked_at[:SHOWN], language


def show_first_rows(chosen: Chosen) -> None:
    """Show how many sentences there are, and the first ones with the word that will be hidden."""
    rows = Count(chosen.rows)
    if chosen.format == "project":
        text = _("{rows} {rows:sentence|sentences}. First sentences, with the masked word marked:")
        text = text.format(rows=rows)
    else:
        text = _("{rows} {rows:row|rows}, read as {format}. First rows, with the masked word marked:")
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


SCORES = runs.RunPage("scores", "score")
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
    """Ask for the choice of models, which begins with those of the language of what is chosen, and a small menu of
    how."""
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
    """Show the name of the run, what it will take, and the button."""
    if chosen is None:
        return
    label = Path(chosen.label).stem if chosen.upload else chosen.label
    work = forecast(store, chosen.rows, how)
    runs.show_start_form(store, SCORES, label, _request(store, chosen, how) if how.models else None, work=work)


def _request(store: Store, chosen: Chosen, how: How) -> runs.RunRequest[Settings]:
    words = chosen.words
    settings = Settings(
        chosen.argument, how.models, language=words.language, words=words.table, column=chosen.column,
        precision=how.precision, joint=how.joint, method=how.method, items="accepted" if chosen.kept else "all",
        uid=chosen.uid,
    )  # fmt: skip
    wording = (
        N_("Score the accepted sentences of {source} with {models}")
        if chosen.kept
        else N_("Score {source} with {models}")
    )
    title = Notice(wording, {"source": chosen.label, "models": list(how.models)})
    project = project_by_uid(store, chosen.uid) if chosen.uid else None
    uploads = [words.table] if words.table else []
    place = PLACE if chosen.upload else ""
    return runs.RunRequest(title, SCORING, settings, models=how.models, uploads=uploads, place=place, project=project)


def forecast(store: Store, rows: int, how: How) -> str:
    """Return how much work a run is, and how long it took before with these models. Without an earlier run, no time is
    given."""
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
    return paragraph((text, _("The duration can be estimated a few seconds after the start.")))


def _rates(store: Store, how: How) -> dict[str, tuple[float, float]]:
    """Return sentences per second and seconds of loading by model.

    The numbers are from the newest run with the same method and precision.
    """
    rates: dict[str, tuple[float, float]] = {}
    for run in SCORES.finished(store):
        settings = run.facts("settings")
        if [settings.get("method"), settings.get("precision")] != [how.method, how.precision]:
            continue
        for entry in run.answered:
            if isinstance(entry.get("rate"), int | float) and entry["rate"] > 0:
                rates.setdefault(str(entry["model"]), (float(entry["rate"]), float(entry.get("loading_seconds") or 0)))
    return rates


def show_finished(store: Store) -> None:
    """Show the finished runs, the newest first."""
    nothing = _("No finished runs yet. Each finished run stays here with its table to download.")
    runs.show_finished_runs(SCORES.finished(store), _show_run, nothing)


def _show_run(run: Run) -> None:
    text = _("{source}: {rows} {rows:sentence|sentences}, finished {time}")
    source, rows = run.source.get("name", DASH), Count(run.sentences)
    runs.show_facts(run, text.format(source=source, rows=rows, time=runs.finished_at(run)))
    show_html(_table(run))
    runs.show_notices(run)
    if lines := [*_undefined(run), *_exactness(run)]:
        st.caption("  \n".join(map(plain, lines)))
    with st.container(horizontal=True, vertical_alignment="center"):
        label = _("Compare the models")
        page_link("model_bias/page.py", label=label, icon=":material/bar_chart:", query_params={"run": run.name})
        runs.download_table(SCORES, run)
        runs.offer_deletion(SCORES, run, _("Deletes the table only. Scores stay in the cache, so a new run is quick."))


def _table(run: Run) -> Markup:
    """Return one line a model: how many numbers, how many without, how fast."""
    columns = number_columns((_("Model"), _("Scored"), _("No score"), _("Newly computed")), (1, 2, 3))
    rows = []
    for entry in run.answered:
        count, scored, asked = (int(entry.get(key) or 0) for key in ("rows", "scored", "asked"))
        name = span(str(entry.get("model", "")), "strong", str(entry.get("signature", "")))
        rows.append((name, *(f"{number:,}" for number in (scored, count - scored, asked))))
    return table(columns, rows, kind="narrow")


def _undefined(run: Run) -> list[str]:
    """Return why rows have no number, a line each. The line names no models where it holds for all of them."""
    result: dict[str, list[str]] = {}
    for entry in run.answered:
        for group in entry.get("undefined", []):
            reason = reason_name(str(group.get("reason", "")))
            text = _("{rows} {rows:row|rows} without a score: {reason} (e.g. row {row})")
            line = text.format(rows=Count(group["rows"]), reason=_(reason), row=group.get("example_row", DASH))
            result.setdefault(line, []).append(str(entry.get("model", "")))
    every = len(run.models)
    return [line if len(names) == every else f"{line} · {series(names)}" for line, names in result.items()]


def _exactness(run: Run) -> list[str]:
    """Return what bf16 changed, for each model that was run in it."""
    text = _(
        "{model} in bf16: over the {compared} {compared:sentence|sentences} compared, Bias_c differs from fp32"
        " by at most {largest} (log10). {rescored} {rescored:sentence near a threshold uses its|sentences near a"
        " threshold use their} fp32 value."
    )
    lines = []
    for entry in run.answered:
        found = entry.get("bf16")
        if isinstance(found, dict):
            largest = found.get("largest_difference")
            shown = DASH if largest is None else f"{largest:.4f}"
            compared, rescored = Count(found.get("compared", 0)), Count(found.get("rescored", 0))
            lines.append(text.format(model=entry.get("model"), largest=shown, compared=compared, rescored=rescored))
    return lines
