"""Can the corpus meet the quotas? Per pair and side, at the share that annotators keep."""

from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.mining.candidates import Stock, stock
from evenhand.annotations.types import Project
from evenhand.core.forecast.corpus import ASSUMED as NOT_MEASURED
from evenhand.core.forecast.corpus import CellForecast, Forecast, forecast, supplies
from evenhand.core.forecast.quota import OWN_RATE, VERDICTS
from evenhand.core.mining.report import Report
from evenhand.core.mining.runs import MiningRun
from evenhand.core.resources import quotas as preset_quotas
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import to_json
from evenhand.pages.mining.report import named, side_name
from evenhand.pages.ui.address import PROJECT
from evenhand.pages.ui.charts import download, foot, json_text
from evenhand.pages.ui.choose import DEMOS
from evenhand.pages.ui.editors import PRINTED_TOTAL
from evenhand.pages.ui.numbers import DASH, large, note_text, number, to
from evenhand.pages.ui.sentences import quota_answer, side_mark
from evenhand.pages.ui.tables import (
    Column,
    below,
    element,
    estimate_cell,
    joined,
    show_html,
    span,
    table,
    undefined_cell,
)
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import own_projects

ASSUMED = 0.7  # share of candidates that are kept, until a pilot is entered: an assumption, not a measurement
TYPED = ""


def show_forecast(store: Store, run: MiningRun, report: Report) -> None:
    """Quotas and pilot to choose, what they lead to, and the numbers as a file."""
    first = st.container()
    caption(
        "How many candidates will annotators keep? The share is taken from a project where some have"
        " been reviewed, or from pilot numbers that you enter."
    )
    found = {project.name: project for project in own_projects(store) if project.kind == "sentences"}
    here = st.session_state.get(PROJECT)  # no other project is taken without being chosen
    names = [here, TYPED] if here in found and here not in DEMOS else [TYPED]
    names += sorted((name for name in found if name not in names), key=lambda name: name in DEMOS)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            _("Source of the share kept"),
            names,
            key="pilot",
            format_func=named(names, lambda one: one or _("entered by hand")),
            width=240,
        )
        project = found.get(name)
        pilot = _typed() if project is None else (0, 0)
        options = ["table1", "released"] if project is None else ["project", "table1", "released"]
        wanted = st.selectbox(
            _("Quotas"), options, key="forecast_quotas", format_func=named(options, _quotas_name), width=240
        )
    outcome = _computed(store, run, report, project, wanted, pilot)
    if outcome is None:
        return
    with first:
        _say_whose_labels(outcome, project, pilot)
    if wanted == "table1":
        text = _("The rows of Table 1 add up to {total}; the printed total is {printed}.")
        total = sum(preset_quotas("table1").values())
        st.caption(text.format(total=f"{total:,}", printed=f"{PRINTED_TOTAL:,}"))
    _show(outcome)


def _say_whose_labels(outcome: Forecast, project: Project | None, pilot: tuple[int, int]) -> None:
    """Say in the first line that no candidates of this text have been labelled, where that is so."""
    share = number(ASSUMED, ".0%")
    if project is None and not pilot[1]:
        text = _(
            "No labels of your own: this forecast assumes that {share} of the candidates are kept. The share is"
            " not measured, so there is no interval. Enter the numbers of a pilot, or choose a project."
        )
    elif project is None:
        text = _("No labels of your own: this forecast rests on a share entered by hand, not on this text.")
    elif project.name in DEMOS:
        text = _("No labels of your own: this forecast rests on the fictitious labels of the demo.")
    elif not any(cell.supply.reviewed for cell in outcome.cells):
        text = _("No labels of your own: nothing of this text has been reviewed in {project} yet.")
    else:
        return
    st.warning(plain(text.format(project=project.name if project else "", share=share)), icon=":material/info:")


def _typed() -> tuple[int, int]:
    """The pilot that was entered, as (kept, reviewed); (0, 0) until both fields have a number."""
    reviewed = st.number_input(_("Reviewed"), 1, 1_000_000, None, key="reviewed", width=140)
    accepted = st.number_input(_("of them kept"), 0, 1_000_000, None, key="accepted", width=140)
    if reviewed is None or accepted is None:
        return 0, 0
    return min(int(accepted), int(reviewed)), int(reviewed)


def _quotas_name(name: str) -> str:
    names = {
        "project": _("project quotas"),
        "table1": _("Table 1 of the paper"),
        "released": _("As in the released file"),
    }
    return names[name]


@st.cache_data(max_entries=8, show_spinner=False)
def _stock(key: tuple[Any, ...], _store: Store, _project: Project, _run: MiningRun) -> Stock:
    return stock(_store, _project, _run.candidates)


def _computed(
    store: Store, run: MiningRun, report: Report, project: Project | None, wanted: str, pilot: tuple[int, int]
) -> Forecast | None:
    from evenhand.annotations.projects.steps import state

    cells: list[tuple[str, str]] = list(report.cells)
    goals = preset_quotas("released" if wanted == "released" else "table1")
    if project is None:
        left: dict[tuple[str, str], int] = {cell: one.candidates for cell, one in report.cells.items()}
        given = supplies(report, goals, left=left, kept={}, reviewed={}, accepted={})
        if not given:
            inform("None of these pairs has a quota.")
            return None
        return forecast(given, report.read.characters, pilot=pilot, assumed=ASSUMED)
    there = _stock((run.name, project.uid, *state(store)), store, project, run)
    goals = there.quotas if wanted == "project" else goals
    left = {cell: there.pending.get(cell, 0) + there.new.get(cell, 0) for cell in cells}
    reviewed = {cell: there.accepted.get(cell, 0) + there.rejected.get(cell, 0) for cell in cells}
    given = supplies(report, goals, left=left, kept=there.accepted, reviewed=reviewed, accepted=there.accepted)
    if not given:
        inform("None of these pairs has a quota. Set quotas in the project, or choose those of the paper.")
        return None
    return forecast(given, report.read.characters)


def summary(outcome: Forecast) -> str:
    """The forecast in one or two sentences."""
    counted = {verdict: outcome.count(verdict) for verdict in VERDICTS}
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
    """How much more text all quotas would take; the scarcest word decides."""
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
    numbers = (_("Finally kept"), _("Share kept"), _("More text needed"))
    columns = [
        Column(_("Keyword pair")),
        Column(_("Can the quota be met?"), "short"),
        *(Column(name, "number") for name in numbers),
    ]
    mixed = len({cell.own for cell in outcome.cells}) > 1
    body = table(columns, (_row(cell, mixed=mixed) for cell in outcome.cells))
    show_html(joined([element("p", summary(outcome), "says"), element("p", needed(outcome)), body]))
    caption(
        "Finally kept: sentences accepted so far plus the kept share of the remaining candidates, with"
        " a 95% prediction interval that includes chance. Yes: the remaining candidates suffice even"
        " at the lower end of the share kept. No: they do not suffice even at its upper end. A pair"
        " and side with fewer than {own} reviewed candidates uses the overall share.",
        own=OWN_RATE,
    )
    if not any(cell.own for cell in outcome.cells):
        caption("The share kept is that of all pairs combined.")
    with foot():
        show_signature(outcome.signature)
        download("JSON", lambda: json_text(to_json(outcome)), "forecast.json", key="forecast-json")


def _row(cell: CellForecast, *, mixed: bool) -> tuple[str | Markup, ...]:
    kept = _cell(cell.expected, ",.0f") if cell.verdict != "met" else f"{cell.supply.kept:,}"
    quota = span(_("of {quota}", quota=f"{cell.supply.quota:,}"), "small")
    shared = _("all pairs combined") if mixed and not cell.own and cell.rate.value is not None else ""
    return (
        joined([cell.pair, side_mark(cell.side)], " "),
        quota_answer(cell.verdict),
        joined([kept, quota], " "),
        joined([_cell(cell.rate, ".0%"), below(shared)]),
        _text(cell),
    )


def _cell(estimate: Estimate, form: str) -> str | Markup:
    """A value with its interval; of an assumed share the value only, since the first line says why."""
    return number(estimate.value, form) if estimate.note == NOT_MEASURED else estimate_cell(estimate, form)


def _text(cell: CellForecast) -> str | Markup:
    """How many more characters of such text the quota takes."""
    need = cell.characters
    if need.value == 0:
        return "0"
    if need.value is None:
        if need.low is None:
            return undefined_cell(note_text(need.reason))
        return _("at least {low}", low=large(need.low))
    if need.low is None or need.high is None:
        return large(need.value)
    ends = span(f"({to(large(need.low), large(need.high))})", "small interval")
    return joined([large(need.value), ends], " ")
