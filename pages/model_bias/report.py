"""Report: everything on this page as one HTML file for an appendix."""

from pathlib import Path

import streamlit as st

from evenhand.core.model_bias import Groups
from evenhand.core.report.html_file import ReportSettings, file_digest, report_html
from evenhand.core.runs.records import Run
from evenhand.core.statistics.equivalence import Margins
from evenhand.pages.model_bias.numbers import summary
from evenhand.pages.model_bias.source import Settings, choose_seeds
from evenhand.pages.ui.equivalence import margin_box
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.runs import finished_at
from evenhand.pages.ui.score_files import ScoreFile, score_frame
from evenhand.pages.ui.text import plain, series


@st.fragment
def show_report(source: ScoreFile, run: Run | None, models: list[str], settings: Settings) -> None:
    """What is in it, and the download; it is made when asked for."""
    st.write(
        _(
            "One self-contained file: figures, tables, extremes, exclusions, method, signatures, settings,"
            " the hash of the data, and software versions. It needs no network and runs no scripts."
        )
    )
    listed = _("Models: {models}").format(models=series(models))
    st.caption(plain(listed))
    if run is not None:
        made = _("Scored {created}; {n} sentences.").format(created=finished_at(run), n=f"{run.sentences:,}")
        st.caption(plain(made))
    seeds = choose_seeds(models) if len(models) > 1 else {}
    with st.container(horizontal=True):
        margins: Margins = {
            "log10": margin_box("log10", "report-margin"),
            "auc": margin_box("auc", "report-margin-auc"),
        }
    now = (source, tuple(models), settings, language(), seeds, margins)
    ready = st.session_state.get("report-ready")
    if ready is None or ready[0] != now:
        if not st.button(_("Create the report"), icon=":material/description:", type="primary", key="report-make"):
            return
        with st.spinner(_("Drawing figures …"), show_time=True):
            ready = (now, _report_bytes(source, models, settings, seeds, margins))
        st.session_state["report-ready"] = ready
    st.download_button(
        _("Download the report (HTML)"),
        ready[1],
        f"{Path(source.name).stem}-report.html",
        "text/html",
        key="report",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
    )
    st.caption(_("From the command line: python cli.py report scores.csv --out report.html"))


def _report_bytes(source: ScoreFile, models: list[str], settings: Settings, seeds: Groups, margins: Margins) -> bytes:
    known = {model: summary(source, model, settings) for model in models}
    wanted = ReportSettings(
        models=tuple(models),
        denominator=settings.denominator,
        least_mass=settings.least_mass,
        data=source.name,
        digest=file_digest(Path(source.path)),
        seeds=seeds,
        margins=margins,
    )
    return report_html(score_frame(source), settings=wanted, language=language(), summaries=known).encode()
