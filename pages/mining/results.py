"""Runs of mining: started as a job, opened when done, whether the quotas can be met, and candidates into a project."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.mining.candidates import add_candidates, stock
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, NotFound, Notice
from evenhand.core.forecast.corpus import ASSUMED as NOT_MEASURED
from evenhand.core.forecast.corpus import CellForecast, Forecast, forecast, supplies
from evenhand.core.forecast.quota import OWN_RATE, QUOTA_OUTCOMES
from evenhand.core.mining.report import Report
from evenhand.core.mining.request import MINE, Request
from evenhand.core.mining.runs import MiningRun, mining_runs, new_mining_run
from evenhand.core.mining.settings import Settings as MiningSettings
from evenhand.core.resources import keyword_pairs
from evenhand.core.resources import quotas as preset_quotas
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import to_json
from evenhand.pages.mining.report import named, show_examples, show_figures, show_problems, show_read, side_name
from evenhand.pages.mining.settings import settings_file
from evenhand.pages.ui import runs, tables
from evenhand.pages.ui.address import PROJECT
from evenhand.pages.ui.charts import download, foot, json_text
from evenhand.pages.ui.choose import DEMOS, NEW, choose, targets
from evenhand.pages.ui.editors import PRINTED_TOTAL, ask_quotas, preset_names
from evenhand.pages.ui.jobs import follow, start_job
from evenhand.pages.ui.numbers import DASH, large, note_text, number, to
from evenhand.pages.ui.rail import show_next
from evenhand.pages.ui.sentences import quota_answer, side_mark
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain, show_signature
from evenhand.pages.ui.uploads import Source
from evenhand.pages.ui.visitor import asks, own_new_project, own_projects, page_link, remembered, show_error, visitor

ASSUMED = 0.7  # share of candidates that are kept, until a pilot is entered: an assumption, not a measurement
TYPED = ""


def show_forecast(store: Store, run: MiningRun, report: Report) -> None:
    """Ask for quotas and pilot; show the forecast that follows, with its numbers as a file."""
    first = st.container()
    caption(
        "How many candidates will annotators accept? The rate is taken from a project where some"
        " have been reviewed, or from pilot numbers that you enter."
    )
    values = {project.name: project for project in own_projects(store) if project.kind == "sentences"}
    here = st.session_state.get(PROJECT)  # no other project is taken without being chosen
    names = [here, TYPED] if here in values and here not in DEMOS else [TYPED]
    names += sorted((name for name in values if name not in names), key=lambda name: name in DEMOS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            _("Source of acceptance rate"),
            names,
            key="pilot",
            format_func=named(names, lambda one: one or _("entered by hand")),
            width=240,
        )
        project = values.get(name)
        pilot = _typed() if project is None else (0, 0)
        presets = ({} if project is None else {"project": _("project quotas")}) | preset_names()
        options = [preset for preset in presets if preset != "none"]
        wanted = st.selectbox(_("Quotas"), options, key="forecast_quotas", format_func=presets.__getitem__, width=240)
    outcome = _computed(store, run, report, project, wanted, pilot)
    if outcome is None:
        return
    with first:
        _say_whose_labels(outcome, project, pilot)
    if wanted == "table1":
        text = _("The rows of Table 1 sum to {total}; the printed total is {printed}.")
        total = sum(preset_quotas("table1").values())
        st.caption(text.format(total=f"{total:,}", printed=f"{PRINTED_TOTAL:,}"))
    _show(outcome)


def _say_whose_labels(outcome: Forecast, project: Project | None, pilot: tuple[int, int]) -> None:
    """Say in the first line that no candidates of this text have been labelled, where that is so."""
    share = number(ASSUMED, ".0%")
    if project is None and not pilot[1]:
        text = _(
            "No labels on this text: the forecast assumes that {share} of the candidates are"
            " accepted. The rate is not measured, so there is no interval. Enter the numbers of a"
            " pilot, or choose a project."
        )
    elif project is None:
        text = _("No labels on this text: the forecast is based on a rate entered by hand.")
    elif project.name in DEMOS:
        text = _("No labels on this text: the forecast is based on the fictitious labels of the demo.")
    elif not any(cell.supply.reviewed for cell in outcome.cells):
        text = _("No labels on this text: none of it has been reviewed in {project} yet.")
    else:
        return
    st.warning(plain(text.format(project=project.name if project else "", share=share)), icon=":material/info:")


def _typed() -> tuple[int, int]:
    """Return the pilot that was entered, as (kept, reviewed); (0, 0) until both fields have a number."""
    reviewed = st.number_input(_("Reviewed"), 1, 1_000_000, None, key="reviewed", width=140)
    accepted = st.number_input(_("Number accepted"), 0, 1_000_000, None, key="accepted", width=140)
    if reviewed is None or accepted is None:
        return 0, 0
    return min(int(accepted), int(reviewed)), int(reviewed)


def _computed(
    store: Store, run: MiningRun, report: Report, project: Project | None, wanted: str, pilot: tuple[int, int]
) -> Forecast | None:
    from evenhand.annotations.projects.steps import state

    cells: list[tuple[str, str]] = list(report.cells)
    goals = preset_quotas("released" if wanted == "released" else "table1")
    if project is None:
        left: dict[tuple[str, str], int] = {cell: cell_counts.candidates for cell, cell_counts in report.cells.items()}
        given = supplies(report, goals, left=left, kept={}, reviewed={}, accepted={})
        if not given:
            inform("None of these pairs has a quota.")
            return None
        return forecast(given, report.read.characters, pilot=pilot, assumed=ASSUMED)
    there = remembered((run.name, *state(store)), stock, project, run.candidates)
    goals = there.quotas if wanted == "project" else goals
    left = {cell: there.pending.get(cell, 0) + there.new.get(cell, 0) for cell in cells}
    reviewed = {cell: there.accepted.get(cell, 0) + there.rejected.get(cell, 0) for cell in cells}
    given = supplies(report, goals, left=left, kept=there.accepted, reviewed=reviewed, accepted=there.accepted)
    if not given:
        inform("None of these pairs has a quota. Set quotas in the project, or choose those of the paper.")
        return None
    return forecast(given, report.read.characters)


def summary(outcome: Forecast) -> str:
    """Return the forecast in one or two sentences."""
    counted = {verdict: outcome.count(verdict) for verdict in QUOTA_OUTCOMES}
    good = counted["yes"] + counted["met"]
    text = _("This text can meet {good} of {all} quotas and cannot meet {bad}; {open} are inconclusive.")
    parts = [
        text.format(
            good=good, all=len(outcome.cells), bad=counted["no"], open=counted["undecided"] + counted["unknown"]
        )
    ]
    if outcome.expected.value is not None and outcome.expected.low is not None and outcome.expected.high is not None:
        text = _("Expected within the quotas: {value} of {quota} sentences (95% interval: {low} to {high}).")
        numbers = {name: f"{getattr(outcome.expected, name):,.0f}" for name in ("value", "low", "high")}
        parts.append(text.format(quota=f"{outcome.quota:,}", **numbers))
    elif outcome.expected.value is not None:
        text = _("Expected within the quotas: {value} of {quota} sentences.")
        parts.append(text.format(quota=f"{outcome.quota:,}", value=f"{outcome.expected.value:,.0f}"))
    return paragraph(parts)


def needed(outcome: Forecast) -> str:
    """Return how much more text all quotas would take; the scarcest word decides."""
    need = outcome.characters
    if need.value == 0:
        return _("No more text is needed.")
    scarce = " ".join((outcome.scarcest[0], side_name(outcome.scarcest[1]))) if outcome.scarcest else DASH
    if need.value is None:
        if need.low is None:
            return note_text(need.reason)
        text = _("Meeting all quotas needs at least {low} more characters of similar text; the scarcest is {scarce}.")
        return text.format(low=large(need.low), scarce=scarce)
    if need.low is None or need.high is None:
        text = _("Meeting all quotas needs about {value} more characters of similar text; the scarcest is {scarce}.")
        return text.format(value=large(need.value), scarce=scarce)
    text = _(
        "Meeting all quotas needs about {value} more characters of similar text (95% interval: {low} to"
        " {high}); the scarcest is {scarce}."
    )
    return text.format(value=large(need.value), low=large(need.low), high=large(need.high), scarce=scarce)


def _show(outcome: Forecast) -> None:
    numbers = (_("Finally accepted"), _("Acceptance rate"), _("More text needed"))
    columns = [
        tables.Column(_("Keyword pair")),
        tables.Column(_("Can the quota be met?"), "short"),
        *(tables.Column(name, "number") for name in numbers),
    ]
    mixed = len({cell.own for cell in outcome.cells}) > 1
    body = tables.table(columns, (_row(cell, mixed=mixed) for cell in outcome.cells))
    tables.show_html(
        tables.joined([tables.element("p", summary(outcome), "says"), tables.element("p", needed(outcome)), body])
    )
    caption(
        "Finally accepted: sentences accepted so far plus those expected among the remaining"
        " candidates, with a 95% prediction interval that includes chance. Yes: the remaining"
        " candidates suffice even at the lower end of the acceptance rate. No: they do not suffice"
        " even at its upper end. A pair and side with fewer than {own} reviewed candidates uses the"
        " overall rate.",
        own=OWN_RATE,
    )
    if not any(cell.own for cell in outcome.cells):
        caption("The acceptance rate is that of all pairs combined.")
    with foot():
        show_signature(outcome.signature)
        download("JSON", lambda: json_text(to_json(outcome)), "forecast.json", key="forecast-json")


def _row(cell: CellForecast, *, mixed: bool) -> tuple[str | Markup, ...]:
    kept = _cell(cell.expected, ",.0f") if cell.verdict != "met" else f"{cell.supply.kept:,}"
    quota = tables.span(_("of {quota}", quota=f"{cell.supply.quota:,}"), "small")
    shared = _("all pairs combined") if mixed and not cell.own and cell.rate.value is not None else ""
    return (
        tables.joined([cell.pair, side_mark(cell.side)], " "),
        quota_answer(cell.verdict),
        tables.joined([kept, quota], " "),
        tables.joined([_cell(cell.rate, ".0%"), tables.below(shared)]),
        _text(cell),
    )


def _cell(estimate: Estimate, form: str) -> str | Markup:
    """Return a value with its interval; of an assumed share the value only, since the first line says why."""
    return number(estimate.value, form) if estimate.note == NOT_MEASURED else tables.estimate_cell(estimate, form)


def _text(cell: CellForecast) -> str | Markup:
    """Return how many more characters of such text the quota takes."""
    need = cell.characters
    if need.value == 0:
        return "0"
    if need.value is None:
        if need.low is None:
            return tables.undefined_cell(note_text(need.reason))
        return _("at least {low}", low=large(need.low))
    if need.low is None or need.high is None:
        return large(need.value)
    ends = tables.span(f"({to(large(need.low), large(need.high))})", "small interval")
    return tables.joined([large(need.value), ends], " ")


PATIENCE_S = 10.0  # a page waits so long for another file; a job waits an hour


def show_into_project(store: Store, run: MiningRun, report: Report) -> None:
    """Choose or make the project, then add what it has not got yet."""
    added = st.session_state.get("added")
    if added is not None and added[0] == run.name:
        _show_added(store, *added[1:])
    if not report.candidates:
        st.info(_("This run found no candidates."))
        return
    values = {project.name: project for project in own_projects(store) if project.kind == "sentences"}
    names = targets(values)
    if (following := st.session_state.pop("into_next", None)) in values:
        st.session_state["into"] = following
    name = st.selectbox(
        _("Project"), names, key="into", format_func=named(names, lambda one: one or _("a new project")), width=360
    )
    if name == NEW:
        _show_new(store, run, report)
        return
    caption("Only candidates that are new to the project are added; flagged ones come last in the queue.")
    if st.button(_("Add the candidates"), key="add", type="primary", icon=":material/playlist_add:"):
        _add(store, values[name], run, report)


@asks("create_projects")
def _show_new(store: Store, run: MiningRun, report: Report) -> None:
    left, right = st.columns(2, gap="large")
    name = left.text_input(_("Name"), key="new_project", max_chars=80)
    people = left.text_area(_("Annotators, one per line"), key="new_people", height=110)
    with right:
        wanted = _ask_quotas(report)
    caption(
        "The guideline starts with the criteria of the journal paper. Criteria and quotas can be"
        " changed on the Projects page."
    )
    if st.button(_("Create the project and add candidates"), key="create_add", type="primary", icon=":material/add:"):
        try:
            project = create_project(
                store, name, annotators=[line for line in people.splitlines() if line.strip()], quotas=wanted
            )
            own_new_project(store, project)
        except EvenhandError as error:
            show_error(error)
            return
        _add(store, project, run, report)


def _ask_quotas(report: Report) -> dict[tuple[str, str], int]:
    # Only where all pairs of a run are built in do the papers' quotas mean something.
    built_in = {pair for pair, _side in report.cells} <= {pair.name for pair in keyword_pairs()}
    names = preset_names() if built_in else {"none": preset_names()["none"]}
    wanted = ask_quotas(names, "new_quotas", table="mine-quotas")
    return {cell: number for cell, number in wanted.items() if cell in report.cells or number}


@asks("import_files")
def _add(store: Store, project: Project, run: MiningRun, report: Report) -> None:
    if report.candidates > jobs.LARGE_LINES:
        settings = Settings(project.name, run.candidates, "candidates", uid=project.uid)
        title = Notice(N_("Candidates of {run} to {project}"), {"run": run.name, "project": project.name})
        start_job(store, IMPORT, settings, title, project=project)
        st.session_state["added"] = (run.name, project.name, None)
    else:
        bar = st.progress(0.0, _("Adding the candidates"))
        try:
            done = add_candidates(
                store,
                project,
                run.candidates,
                progress=lambda some, total: bar.progress(some / total if total else 1.0, _("Adding the candidates")),
                patience_s=PATIENCE_S,
            )
        except EvenhandError as error:
            bar.empty()
            show_error(error)
            return
        st.session_state["added"] = (run.name, project.name, (done.imported, done.duplicates, done.rejected))
    st.session_state["into_next"] = project.name
    st.rerun()


def _show_added(store: Store, project: str, numbers: tuple[int, int, int] | None) -> None:
    made = next((stored_project for stored_project in own_projects(store) if stored_project.name == project), None)
    if numbers is None:
        st.success(_("A background job is adding the candidates."), icon=":material/schedule:")
        page_link("jobs/page.py", label=_("Jobs"), icon=":material/schedule:")
        return
    text = _("{imported} candidates added to {project}; {duplicates} were already there, {rejected} were not usable.")
    imported, duplicates, rejected = (f"{number:,}" for number in numbers)
    said = text.format(imported=imported, duplicates=duplicates, rejected=rejected, project=project)
    st.success(plain(said), icon=":material/check_circle:")
    if made is not None:
        show_next(store, made)


class _MiningPage(runs.RunPage):
    """A run of mining is a folder."""

    def finished(self, store: Store) -> Sequence[MiningRun]:
        """Return the finished runs that the visitor may see, the newest first."""
        return runs.own_runs(store, self.every_finished(store))

    def every_finished(self, store: Store) -> Sequence[MiningRun]:
        """Return the finished runs of all visitors."""
        return mining_runs(store.path)


MINING = _MiningPage("mining", "mine", run_key="{part}-{run}")


def show_start(store: Store, source: Source, settings: MiningSettings) -> None:
    """Show the name of the run and the button; the folder of the run holds the settings from the start."""

    def named(request: Request, name: str) -> Request:
        run = new_mining_run(store.path, name, {"account": me} if (me := visitor(store).account) else None)
        wish = settings_file(run.table.parent, settings)
        st.session_state["mine_view_next"] = "runs"
        return replace(request, out=run.candidates, report_path=run.report, settings_path=wish)

    title, uploads = Notice(N_("Mine {source}"), {"source": source.name}), [Path(path) for path in source.paths]
    request = runs.RunRequest(title, MINE, Request(tuple(source.paths), Path()), named, uploads=uploads)
    label = re.sub(r"[^\w.-]+", "-", source.name).strip("-.") or "text"
    runs.show_start_form(store, MINING, label, request, start=_("Mine all text"))


def leave() -> None:
    """Return to the list: remove the run from the address."""
    st.query_params.pop("run", None)


def show_runs(store: Store) -> None:
    """Show running jobs with progress, rate, time left and a cancel button; below them the finished runs."""
    follow(MINING.command)
    runs.show_finished_runs(MINING.finished(store), _show_in_list, _("Nothing has been mined yet. Start a new run."))


def _show_in_list(run: MiningRun) -> None:
    runs.show_facts(run, _facts(run))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _("Open"), key=f"open-{run.name}", on_click=st.query_params.update, args=({"run": run.name},),
            icon=":material/open_in_full:",
        )  # fmt: skip
        runs.offer_deletion(MINING, run, _("Deletes the candidates and their report; items in projects are kept."))


@st.cache_data(max_entries=32, show_spinner=False)
def _report(path: str, changed: float) -> Report:
    return Report.from_json(MiningRun("", Path(path), {}).read())


def report_of(run: MiningRun) -> Report:
    """Return the report of a run. Raises NotFound where it cannot be read."""
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
        time=runs.finished_at(run),
        candidates=f"{report.candidates:,}",
        characters=f"{report.read.characters:,}",
        pairs=len(report.settings.pairs),
    )


def show_run(store: Store, name: str) -> None:
    """Show one finished run: figures, examples, forecast, and the way into a project."""
    st.button(_("All runs"), key="back", icon=":material/arrow_back:", type="tertiary", on_click=leave)
    run = next((mining_run for mining_run in MINING.finished(store) if mining_run.name == name), None)
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
    label, file = _("All candidates (JSON Lines)"), f"{run.name}.jsonl"
    download(label, run.candidates.read_bytes, file, key="candidates", type="secondary")
