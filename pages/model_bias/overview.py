"""Overview and Distribution (figure 3) of the page Models, and the report file.

Both sides of each model as a picture, all measures as a table; a ridge per model, or the sentences in order.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.annotations.quantities.runs import bias_numbers
from evenhand.core.charts.bias_distribution import curve_says, curves, distribution_says, ridges, shares
from evenhand.core.charts.sides import sides, sides_says
from evenhand.core.files.readers import file_sha256
from evenhand.core.model_bias import Groups, is_reference
from evenhand.core.report import html_file
from evenhand.core.report.figures import side_rows
from evenhand.core.report.html_file import ReportSettings, report_html
from evenhand.core.report.html_tables import Paper, numbers, table_html, table_lines
from evenhand.core.report.numbers import interval, signed_number
from evenhand.core.sentence_bias.bias import LN10, SideMeans
from evenhand.core.statistics.equivalence import Margins
from evenhand.core.types import TableRow
from evenhand.pages.model_bias.selection import Pick, chart_key, pick, picked, rows_of_pick, take_click
from evenhand.pages.model_bias.source import (
    Settings,
    ask_margins,
    at_once,
    bins_of,
    choose_seeds,
    corrected_means,
    curve_of,
    quick_means,
    rows_for,
    summary,
)
from evenhand.pages.ui.charts import brushed, caption_with_files, colours, download, show_chart, vega_lite
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import note_text, percent, to
from evenhand.pages.ui.quantities import explained_all
from evenhand.pages.ui.results import show_conclusion, show_method
from evenhand.pages.ui.runs import ScoreFile, finished_at, score_frame, score_runs
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, in_brackets, language, named, paragraph, series, write

if TYPE_CHECKING:
    from evenhand.core.model_bias import Summary

SPAN = 9.0  # log10: the ends of a typed span at most


@st.cache_data(show_spinner=False)
def paper_values() -> dict[str, Paper]:
    """Return Table 4 of the paper, in ln, by the names of the models on the hub."""
    return html_file.paper_values()


def notes(models: list[str]) -> dict[str, str]:
    """Return what a reader must know of each model before its numbers."""
    return html_file.model_notes(models, _)


def show_overview(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show the picture without intervals first, since they take a while; then the picture and the table with them."""
    head, picture, table = st.empty(), st.container(), st.container()
    place = picture.empty()
    if not st.session_state.get(f"known-{source}-{models}-{settings}"):
        quick = pd.DataFrame([_quick(source, model, settings) for model in models])
        with place.container():
            says = sides_says(quick, say=_)
            chart = sides(_noted(quick, models), description=says, say=_, palette=colours())
            st.vega_lite_chart(vega_lite(chart), key="sides-quick")
        with table, st.spinner(_("Computing the intervals …"), show_time=True):
            found = [summary(source, model, settings) for model in models]
        st.session_state[f"known-{source}-{models}-{settings}"] = True
    else:
        found = [summary(source, model, settings) for model in models]
    with head.container():
        show_conclusion(overview_says(found))
    corrected = {model: corrected_means(source, model, settings) for model in models}
    data = side_rows(found, bias_numbers, paper_values(), notes(models))
    says = sides_says(data, say=_)
    with place.container():
        chart = sides(data, description=says, say=_, palette=colours())
        rows = [
            numbers(entry, bias_numbers, corrected[entry.model], paper_values().get(entry.model)) for entry in found
        ]
        parts = [_("Thin line: 95% interval.")]
        if any(model in paper_values() for model in models):
            parts.append(_("Diamond: Table 4 of the paper, converted from ln to log10."))
        if any(entry.reference for entry in found):
            parts.append(_("Grey: the same architecture, untrained, as a reference."))
        show_chart(chart, rows, key="sides", says=says, below=paragraph(parts))
    with table:
        _table(models, found, corrected, rows)
        show_model_method(found)


def overview_says(found: "Sequence[Summary]") -> str:
    """Return where the models lean on average: those whose interval of the signed mean is on one side of 0."""
    means = [bias_numbers(one)["run.bias.signed_mean"] for one in found]
    if len(found) == 1:
        mean = means[0]
        if mean.value is None:
            return note_text(mean.reason)
        side = _("the male word") if mean.value > 0 else _("the female word")
        text = _("On average, {model} leans towards {side}: {value} (log10, 95% interval {interval}).")
        if mean.low is None or mean.high is None:
            text = _("On average, {model} leans towards {side}: {value} (log10, no interval).")
        elif mean.low <= 0 <= mean.high:
            text = _(
                "On average, {model} leans clearly towards neither word: {value} (log10, 95% interval {interval})."
            )
        ends = interval(mean.low, mean.high, 2, signed=True)
        return text.format(model=found[0].model, side=side, value=signed_number(mean.value, 2), interval=ends)
    male = sum(mean.low is not None and mean.low > 0 for mean in means)
    female = sum(mean.high is not None and mean.high < 0 for mean in means)
    text = _("On average, {male} of {n} models lean towards the male word, {female} towards the female word.")
    return text.format(n=len(found), male=male, female=female)


def show_model_method(found: "Sequence[Summary]" = ()) -> None:
    """Show, folded, what the values mean, how intervals are made, and the signatures."""
    show_method(
        _("You choose the order. A smaller bias is not necessarily better."),
        _(
            "A model leans towards a word on average if the 95% interval of its signed mean, over stems of word pairs,"
            " excludes 0."
        ),
        _(
            "Intervals: 95%. Signed mean, side AUC and correlations: over stems of word pairs"
            " (docs/nulls.md). Other means: t over sentences, or over articles where the file names"
            " them (docs/coverage.md); these apply to other contexts of these word pairs only."
        ),
        signature="\n".join(one.signature for one in found),
    )


def _quick(source: ScoreFile, model: str, settings: Settings) -> dict[str, object]:
    means = quick_means(source, model, settings)
    return _papers(model) | {"man": means.bias_man, "woman": means.bias_woman, "reference": is_reference(model)}


def _papers(model: str) -> dict[str, object]:
    paper = paper_values().get(model)
    printed = {f"{side}_paper": paper[f"bias_{side}"] / LN10 if paper else None for side in ("man", "woman")}
    return {"model": model, **printed}


def _noted(data: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    values = notes(models)
    return data.assign(
        note=[in_brackets("", values[model]).strip() if model in values else "" for model in data["model"]]
    )


def _table(
    models: list[str], summaries: "list[Summary]", corrected: dict[str, SideMeans], rows: list[TableRow]
) -> None:
    st.header(_("All measures"))
    groups = table_lines(summaries, bias_numbers, corrected=corrected, papers=paper_values(), say=_)
    signatures = {one.model: one.signature for one in summaries}
    corner = _(
        "log10 unless stated otherwise; 95% intervals in brackets, valid for these word pairs only"
        " unless computed over stems"
    )
    written = table_html(models, groups, corner=corner, notes=notes(models), signatures=signatures)
    show_html(Markup(written))  # noqa: S704  # core.report escapes every text
    text = _("{m} models, {k} intervals: about {n:.1f} are expected to miss the true value by chance.")
    intervals = 6 * len(models)
    says, about = text.format(m=len(models), k=intervals, n=0.05 * intervals), explained_all(bias_numbers(summaries[0]))
    caption_with_files(says, rows, key="measures", about=about)


@st.fragment
def show_report(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show what is in the report, and its download. The file is made when the visitor asks for it."""
    write(
        "One self-contained file: figures, tables, extremes, exclusions, method, signatures, settings,"
        " the hash of the data, and software versions. It needs no network and runs no scripts."
    )
    caption("Models: {models}", models=series(models))
    if (run := next((run for run in score_runs() if run.name == source.name and not source.sent), None)) is not None:
        caption("Scored {created}; {n} sentences.", created=finished_at(run), n=f"{run.sentences:,}")
    seeds = choose_seeds(models) if len(models) > 1 else {}
    margins = ask_margins("report-margin")
    now = (source, tuple(models), settings, language(), seeds, margins)
    ready = st.session_state.get("report-ready")
    if ready is None or ready[0] != now:
        if not st.button(_("Create the report"), icon=":material/description:", type="primary", key="report-make"):
            return
        with st.spinner(_("Drawing figures …"), show_time=True):
            ready = (now, _report_bytes(source, models, settings, seeds, margins))
        st.session_state["report-ready"] = ready
    download(
        _("Download the report (HTML)"), ready[1], f"{Path(source.name).stem}-report.html", key="report", type="primary"
    )
    caption("From the command line: python cli.py report scores.csv --out report.html")


def _report_bytes(source: ScoreFile, models: list[str], settings: Settings, seeds: Groups, margins: Margins) -> bytes:
    known = {model: summary(source, model, settings) for model in models}
    wanted = ReportSettings(
        models=tuple(models),
        denominator=settings.denominator,
        least_mass=settings.least_mass,
        data=source.name,
        digest=file_sha256(Path(source.path)),
        seeds=seeds,
        margins=margins,
    )
    text = report_html(score_frame(source), bias_numbers, settings=wanted, language=language(), summaries=known)
    return text.encode()


def show_distribution(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show two drawings of the same values; what is clicked, marked or typed is selected."""
    settings = at_once(settings)
    head = st.container()
    looks = {"density": _("Density"), "order": _("By sentence")}
    with st.container(horizontal=True, vertical_alignment="center"):
        look = choose(_("Chart type"), looks, "distribution", heading=False)
        corrected = st.toggle(_("Minus the pair mean"), key="distribution-corrected")
    if look == "order":
        _in_order(source, models, settings, corrected)
    else:
        _density(source, models, settings, corrected)
    with head:
        show_conclusion(obvious_says(bins_of(source, models, settings, corrected)))
    show_method(
        named(
            _("Minus the pair mean"),
            _("Subtracts the mean Bias_c of the keyword pair in the same model and data (prior correction)."),
        ),
        _("Grey: one word is less than twice as likely as the other. Each row has its own vertical scale."),
        _("Each line shows all sentences of a model, sorted by Bias_c."),
        signature="\n".join(signatures(source, models)),
    )


def obvious_says(bins: pd.DataFrame) -> str:
    """Return the shares of sentences with obvious bias on either side, from the least to the most of the models."""
    table = shares(bins)[["male", "female"]]
    least, most = table.min(), table.max()
    parts = [
        percent(least[side]) if least[side] == most[side] else to(percent(least[side]), percent(most[side]))
        for side in ("male", "female")
    ]
    text = _("Obvious bias towards the male word in {male} of the sentences, towards the female word in {female}.")
    return text.format(male=parts[0], female=parts[1])


def signatures(source: ScoreFile, models: list[str]) -> list[str]:
    """Return the signature of each model's scores."""
    return list(dict.fromkeys(rows_for(source, models)["signature"]))


def _in_order(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> None:
    points = curve_of(source, models, settings, corrected)
    says = curve_says(points, say=_)
    chart = curves(points, description=says, say=_, palette=colours())
    show_chart(chart, _signed_rows(points, source), key="by-sentence", says=says)


def _density(source: ScoreFile, models: list[str], settings: Settings, corrected: bool) -> None:
    selection, chosen = picked(models), ()
    if selection is not None:
        chosen = tuple(rows_of_pick(source, selection, settings)["row"].unique())
    bins = bins_of(source, models, settings, corrected, chosen)
    says = distribution_says(bins, say=_)
    labels = {model: in_brackets("", note).strip() for model, note in notes(models).items()}
    chart = ridges(bins, description=says, say=_, notes=labels, click="bin", brush="span", palette=colours())
    key, data = chart_key("density"), _signed_rows(bins, source)
    below = _("Click a bar, or drag across the bars, to see the sentences.")
    clicked = show_chart(chart, data, key=key, says=says, click="bin", brush="span", file="density-file", below=below)
    span = brushed(key, "span")
    _ask_span(models, corrected, selection)
    if clicked is not None and clicked.get("model") in models:
        ends = (float(clicked["low_text"]), float(clicked["high_text"]))
        take_click(key, clicked, Pick("bin", (clicked["model"],), ends, corrected=corrected))
    if span is not None:
        ends = (round(span[0], 2), round(span[1], 2))
        take_click(f"{key}-span", {"span": span}, Pick("span", tuple(models), ends, corrected=corrected))


def _ask_span(models: list[str], corrected: bool, selection: Pick | None) -> None:
    """Ask for a span of values by keyboard; the fields hold what is selected."""
    here = selection if selection is not None and selection.kind in ("bin", "span") else None
    every = "" if here is None or here.models == tuple(models) else here.models[0]
    least, most = here.borders if here is not None else (-0.8, -0.3)
    with st.form("span", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        names = {"": _("all models"), **{model: model for model in models}}
        at = list(names).index(every)
        model = st.selectbox(_("Show the sentences of"), list(names), at, format_func=names.__getitem__, width=220)
        low = st.number_input(_("from"), value=max(least, -SPAN), step=0.1, width=120)
        high = st.number_input(_("to"), value=min(most, SPAN), step=0.1, width=120)
        if st.form_submit_button(_("Show")):
            wanted, ends = (model,) if model else tuple(models), (min(low, high), max(low, high))
            pick(Pick("span", wanted, ends, corrected=corrected))


def _signed_rows(found: pd.DataFrame, source: ScoreFile) -> pd.DataFrame:
    """Return the numbers for a file, each row with the signature of its model."""
    frame = rows_for(source, list(dict.fromkeys(found["model"])))
    known = frame.drop_duplicates("model").set_index("model")["signature"]
    return found.drop(columns="row", errors="ignore").assign(signature=found["model"].map(known))
