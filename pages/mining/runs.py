"""Runs of mining: started as a job, followed while it works, opened when it is done."""

import re
import time
from pathlib import Path

import streamlit as st

from annotations.database.store import Store
from annotations.jobs import jobs
from core.errors import N_, EvenhandError, NotFound
from core.mining.report import Report
from core.mining.settings import Settings
from core.runs.mining import MiningRun, mining_runs, new_mining_run
from pages.mining.examples import show_examples
from pages.mining.forecast import show_forecast
from pages.mining.into_project import show_into_project
from pages.mining.report import show_figures, show_problems, show_read
from pages.mining.settings import settings_file
from pages.ui.choose import choose
from pages.ui.corpus import Source
from pages.ui.head import show_error
from pages.ui.jobs import follow, is_active
from pages.ui.language import _
from pages.ui.runs import show_finished_runs
from pages.ui.text import plain

COMMAND = "mine"


def start(store: Store, source: Source, settings: Settings) -> MiningRun:
    """Start a run as a job; its folder holds the settings now, candidates and report when it is done."""
    name = re.sub(r"[^\w.-]+", "-", source.name).strip("-.")[:40] or "text"
    run = new_mining_run(store.path, f"{name}-{time.strftime('%Y%m%d-%H%M', time.gmtime())}")
    wish = settings_file(run.candidates.parent, settings)
    command = ["mine", "--out", str(run.candidates), "--report", str(run.report), "--settings", str(wish), "--json"]
    jobs.start(store, [*command, "--", *source.paths], _("Mine {source}").format(source=source.name))
    return run


def first_view(store: Store) -> str:
    """What the page begins with: the runs while one is at work, else a new one."""
    return "runs" if is_active(store, COMMAND) else "new"


def opened() -> str | None:
    """The run that the address opens."""
    return st.query_params.get("run")


def open_run(name: str) -> None:
    """Put a run into the address."""
    st.query_params["run"] = name


def leave() -> None:
    """Back to the list."""
    st.query_params.pop("run", None)


def show_runs(store: Store) -> None:
    """Runs at work with progress, rate, time left and cancel; below them the finished ones."""
    follow(COMMAND)
    show_finished_runs(mining_runs(store.path), _show_in_list, _("Nothing has been mined yet. Start with a new run."))


def _show_in_list(run: MiningRun) -> None:
    st.caption(plain(_facts(run)))
    st.button(_("Open"), key=f"open-{run.name}", on_click=open_run, args=(run.name,), icon=":material/open_in_full:")


@st.cache_data(max_entries=32, show_spinner=False)
def _report(path: str, changed: float) -> Report:
    return Report.from_json(MiningRun("", Path(), Path(path)).read())


def report_of(run: MiningRun) -> Report:
    """The report of a run. Raises NotFound where it cannot be read."""
    try:
        return _report(str(run.report), run.report.stat().st_mtime)
    except (KeyError, TypeError, ValueError) as error:
        raise NotFound(N_("The report of {name} cannot be read; mine again."), name=run.name) from error


def _facts(run: MiningRun) -> str:
    try:
        report = report_of(run)
    except EvenhandError:
        return _("its report cannot be read")
    text = _("{candidates} candidates from {characters} characters, {pairs} pairs")
    return text.format(
        candidates=f"{report.candidates:,}",
        characters=f"{report.read.characters:,}",
        pairs=len(report.settings.pairs),
    )


def show_run(store: Store, name: str) -> None:
    """One finished run: figures, examples, forecast, and the way into a project."""
    st.button(_("All runs"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
    run = next((one for one in mining_runs(store.path) if one.name == name), None)
    if run is None:
        st.warning(plain(_("There is no finished run named {name}.").format(name=name)))
        return
    try:
        report = report_of(run)
    except EvenhandError as error:
        show_error(error)
        return
    st.header(plain(run.name), anchor=False)
    show_read(report)
    show_problems(report, key="run")
    parts = {
        "figures": _("Figures"),
        "examples": _("What the filters say"),
        "forecast": _("Forecast"),
        "project": _("Into a project"),
    }
    part = choose(_("Part of the run"), parts, "part", heading=False)
    if part == "examples":
        show_examples(report, key="run")
    elif part == "forecast":
        show_forecast(store, run, report)
    elif part == "project":
        show_into_project(store, run, report)
    else:
        show_figures(report, key="run")
    st.download_button(
        _("All candidates (JSON lines)"),
        run.candidates.read_bytes,
        f"{run.name}.jsonl",
        "application/jsonl",
        key="candidates",
        on_click="ignore",
        icon=":material/download:",
    )
