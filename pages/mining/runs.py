"""Runs of mining: started as a job, followed while it works, opened when it is done."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, EvenhandError, NotFound, Notice
from evenhand.core.mining.report import Report
from evenhand.core.mining.request import MINE, Request
from evenhand.core.mining.runs import MiningRun, mining_runs, new_mining_run
from evenhand.core.mining.settings import Settings
from evenhand.pages.mining.examples import show_examples
from evenhand.pages.mining.forecast import show_forecast
from evenhand.pages.mining.into_project import show_into_project
from evenhand.pages.mining.report import show_figures, show_problems, show_read
from evenhand.pages.mining.settings import settings_file
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.corpus import Source
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.jobs import follow, is_active
from evenhand.pages.ui.runs import (
    RunPage,
    RunRequest,
    finished_at,
    offer_deletion,
    own_runs,
    show_facts,
    show_finished_runs,
    show_start_form,
)
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.visitor import visitor


class _MiningPage(RunPage):
    """A run of mining is a folder."""

    def finished(self, store: Store) -> Sequence[MiningRun]:
        """The finished runs that the visitor may see, the newest first."""
        return own_runs(store, self.every_finished(store))

    def every_finished(self, store: Store) -> Sequence[MiningRun]:
        """All of them."""
        return mining_runs(store.path)


MINING = _MiningPage("mining", "mine", run_key="{part}-{run}")


def show_start(store: Store, source: Source, settings: Settings) -> None:
    """The name of the run and the button; the folder of the run holds the settings from the start."""

    def named(request: Request, name: str) -> Request:
        run = new_mining_run(store.path, name, {"account": me} if (me := visitor(store).account) else None)
        wish = settings_file(run.table.parent, settings)
        st.session_state["mine_view_next"] = "runs"
        return replace(request, out=run.candidates, report_path=run.report, settings_path=wish)

    title, uploads = Notice(N_("Mine {source}"), {"source": source.name}), [Path(path) for path in source.paths]
    request = RunRequest(title, MINE, Request(tuple(source.paths), Path()), named, uploads=uploads)
    label = re.sub(r"[^\w.-]+", "-", source.name).strip("-.") or "text"
    show_start_form(store, MINING, label, request, start=_("Mine all text"))


def first_view(store: Store) -> str:
    """What the page begins with: the runs while one is at work, else a new one."""
    return "runs" if is_active(store, MINING.command) else "new"


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
    follow(MINING.command)
    show_finished_runs(MINING.finished(store), _show_in_list, _("Nothing has been mined yet. Start a new run."))


def _show_in_list(run: MiningRun) -> None:
    show_facts(run, _facts(run))
    with st.container(horizontal=True, vertical_alignment="center"):
        open_label = _("Open")
        st.button(
            open_label, key=f"open-{run.name}", on_click=open_run, args=(run.name,), icon=":material/open_in_full:"
        )
        offer_deletion(MINING, run, _("Deletes the candidates and their report; items in projects are kept."))


@st.cache_data(max_entries=32, show_spinner=False)
def _report(path: str, changed: float) -> Report:
    return Report.from_json(MiningRun("", Path(path), {}).read())


def report_of(run: MiningRun) -> Report:
    """The report of a run. Raises NotFound where it cannot be read."""
    try:
        return _report(str(run.candidates), run.report.stat().st_mtime)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise NotFound(N_("The report of {name} cannot be read; mine again."), name=run.name) from error


def _facts(run: MiningRun) -> str:
    try:
        report = report_of(run)
    except EvenhandError:
        return _("the report cannot be read")
    text = _("{candidates} candidates from {characters} characters, {pairs} pairs, finished {time}")
    return text.format(
        time=finished_at(run),
        candidates=f"{report.candidates:,}",
        characters=f"{report.read.characters:,}",
        pairs=len(report.settings.pairs),
    )


def show_run(store: Store, name: str) -> None:
    """One finished run: figures, examples, forecast, and the way into a project."""
    st.button(_("All runs"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
    run = next((one for one in MINING.finished(store) if one.name == name), None)
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
        "examples": _("Filter results"),
        "forecast": _("Forecast"),
        "project": _("Add to a project"),
    }
    part = choose(_("Section of the run"), parts, "part", heading=False)
    if part == "examples":
        show_examples(report, key="run")
    elif part == "forecast":
        show_forecast(store, run, report)
    elif part == "project":
        show_into_project(store, run, report)
    else:
        show_figures(report, key="run")
    st.download_button(
        _("All candidates (JSON Lines)"),
        run.candidates.read_bytes,
        f"{run.name}.jsonl",
        "application/jsonl",
        key="candidates",
        on_click="ignore",
        icon=":material/download:",
    )
