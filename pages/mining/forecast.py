"""Can the corpus meet the quotas? Per pair and side, at the share that annotators keep."""

import html
import json
from typing import Any

import streamlit as st

from annotations.database.store import Store
from annotations.forecast.corpus import CellForecast, Forecast, Verdict, as_json, forecast, supplies
from annotations.mining.candidates import Stock, stock
from annotations.projects.projects import projects
from annotations.types import Project
from core.mining.report import Report
from core.resources import quotas as preset_quotas
from core.runs.mining import MiningRun
from core.statistics import Estimate
from pages.mining.report import named, side_name
from pages.projects.new import PRINTED_TOTAL
from pages.ui.language import _
from pages.ui.numbers import DASH, large, note_text
from pages.ui.sentences import show
from pages.ui.text import paragraph, plain

PILOT = (700, 1000)  # kept and reviewed: what stands in the fields until somebody types
TYPED = ""
ICONS: dict[Verdict, str] = {"met": "✓", "yes": "✓", "no": "✗", "undecided": "?", "unknown": DASH}
EXTRA = """
<style>
.project .verdict {white-space:nowrap; font-weight:650}
.project .verdict.yes, .project .verdict.met {color:var(--good)}
.project .verdict.no {color:var(--bad)}
.project .verdict.undecided, .project .verdict.unknown {color:var(--soft)}
.project .says {font-size:1.2rem; line-height:1.5; font-weight:650; margin:.2em 0 .5em}
.project .small {color:var(--soft); font-size:13px}
.project td.pair, .project .interval {white-space:nowrap}
</style>
"""


def verdict_name(verdict: Verdict) -> str:
    """Can the quota be met, in words."""
    return {
        "met": _("is met"),
        "yes": _("yes"),
        "no": _("no"),
        "undecided": _("not decided"),
        "unknown": _("not known"),
    }[verdict]


def show_forecast(store: Store, run: MiningRun, report: Report) -> None:
    """Quotas and pilot to choose, what they lead to, and the numbers as a file."""
    st.caption(
        _(
            "How many of the candidates will annotators keep? The share comes from a project in which some have been"
            " reviewed already, or from a pilot that you type in."
        )
    )
    found = {project.name: project for project in projects(store) if project.kind == "sentences"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            _("Share of kept candidates"),
            [*found, TYPED],
            key="pilot",
            format_func=named([*found, TYPED], lambda one: one or _("typed in")),
            width=240,
        )
        project = found.get(name)
        accepted, reviewed = _typed() if project is None else (0, 0)
        options = ["table1", "released"] if project is None else ["project", "table1", "released"]
        wanted = st.selectbox(
            _("Quotas"), options, key="forecast_quotas", format_func=named(options, _quotas_name), width=240
        )
    outcome = _computed(store, run, report, project, wanted, (accepted, reviewed))
    if outcome is None:
        return
    if wanted == "table1":
        text = _("The rows of Table 1 sum to {total}; {printed} is printed below them.")
        total = sum(preset_quotas("table1").values())
        st.caption(text.format(total=f"{total:,}", printed=f"{PRINTED_TOTAL:,}"))
    _show(outcome)


def _typed() -> tuple[int, int]:
    reviewed = int(st.number_input(_("Reviewed"), 1, 1_000_000, PILOT[1], key="reviewed", width=140))
    accepted = int(st.number_input(_("of them kept"), 0, 1_000_000, PILOT[0], key="accepted", width=140))
    return min(accepted, reviewed), reviewed


def _quotas_name(name: str) -> str:
    names = {
        "project": _("of the project"),
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
    from annotations.projects.pipeline_counts import state

    cells: list[tuple[str, str]] = list(report.cells)
    goals = preset_quotas("released" if wanted == "released" else "table1")
    if project is None:
        left: dict[tuple[str, str], int] = {cell: one.candidates for cell, one in report.cells.items()}
        given = supplies(report, goals, left=left, kept={}, reviewed={}, accepted={})
        if not given:
            st.info(_("None of these pairs has a quota."))
            return None
        return forecast(given, report.read.characters, pilot=pilot)
    there = _stock((run.name, project.uid, *state(store)), store, project, run)
    goals = there.quotas if wanted == "project" else goals
    left = {cell: there.pending.get(cell, 0) + there.new.get(cell, 0) for cell in cells}
    reviewed = {cell: there.accepted.get(cell, 0) + there.rejected.get(cell, 0) for cell in cells}
    given = supplies(report, goals, left=left, kept=there.accepted, reviewed=reviewed, accepted=there.accepted)
    if not given:
        st.info(_("None of these pairs has a quota. Set quotas in the project, or choose those of the paper."))
        return None
    return forecast(given, report.read.characters)


def summary(outcome: Forecast) -> str:
    """The forecast in one or two sentences."""
    counted = {verdict: outcome.count(verdict) for verdict in ICONS}
    good = counted["yes"] + counted["met"]
    text = _("{good} of {all} quotas can be met from this text, {bad} cannot, {open} are not decided.")
    parts = [
        text.format(
            good=good, all=len(outcome.cells), bad=counted["no"], open=counted["undecided"] + counted["unknown"]
        )
    ]
    if outcome.expected.value is not None and outcome.expected.low is not None and outcome.expected.high is not None:
        text = _("Expected within the quotas: {value} of {quota} sentences (95 %: {low} to {high}).")
        numbers = {name: f"{getattr(outcome.expected, name):,.0f}" for name in ("value", "low", "high")}
        parts.append(text.format(quota=f"{outcome.quota:,}", **numbers))
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
        text = _("All quotas would take at least {low} more characters of such text; the scarcest is {scarce}.")
        return text.format(low=large(need.low), scarce=scarce)
    text = _(
        "All quotas would take about {value} more characters of such text (95 %: {low} to {high}); the scarcest is"
        " {scarce}."
    )
    return text.format(value=large(need.value), low=large(need.low or 0), high=large(need.high or 0), scarce=scarce)


def _show(outcome: Forecast) -> None:
    head = f'<p class="says">{html.escape(summary(outcome))}</p><p>{html.escape(needed(outcome))}</p>'
    names = (_("Keyword pair"), _("Can it be met?"), _("Kept in the end"), _("Share kept"), _("More text"))
    header = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    mixed = len({cell.own for cell in outcome.cells}) > 1
    rows = "".join(_row(cell, mixed=mixed) for cell in outcome.cells)
    show(EXTRA + head + f'<div class="wide"><table><tr>{header}</tr>{rows}</table></div>')
    st.caption(
        _(
            "Kept in the end: sentences accepted already plus a share of the candidates that are left, with a 95 %"
            " prediction interval. Yes and no are said only where the whole interval is on one side of the quota."
        )
    )
    if not any(cell.own for cell in outcome.cells):
        st.caption(_("The share kept is that of all pairs together."))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(outcome.signature))
        st.download_button(
            "JSON",
            lambda: json.dumps(as_json(outcome), ensure_ascii=False, indent=1, allow_nan=False),
            "forecast.json",
            "application/json",
            key="forecast-json",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
        )


def _row(cell: CellForecast, *, mixed: bool) -> str:
    name = f'{html.escape(cell.pair)} <span class="side {cell.side}">{html.escape(side_name(cell.side))}</span>'
    mark = f"{ICONS[cell.verdict]} {verdict_name(cell.verdict)}"
    kept = _interval(cell.expected, "{:,.0f}") if cell.verdict != "met" else f"{cell.supply.kept:,}"
    quota = html.escape(_("of {quota}").format(quota=f"{cell.supply.quota:,}"))
    rate = _interval(cell.rate, "{:.0%}")
    if mixed and not cell.own and cell.rate.value is not None:
        together = _("all pairs together")
        rate += f'<div class="small">{html.escape(together)}</div>'
    return (
        f'<tr><td class="pair">{name}</td><td class="verdict {cell.verdict}">{html.escape(mark)}</td>'
        f'<td>{kept} <span class="small">{quota}</span></td><td>{rate}</td><td>{_text(cell)}</td></tr>'
    )


def _interval(estimate: Estimate, form: str) -> str:
    if estimate.value is None:
        return f'{DASH}<div class="small">{html.escape(note_text(estimate.reason))}</div>'
    value = html.escape(form.format(estimate.value))
    if estimate.low is None or estimate.high is None:
        return value
    low, high = form.format(estimate.low), form.format(estimate.high)
    return f"{value} {_between(low, high)}"


def _between(low: str, high: str) -> str:
    return f'<span class="small interval">({html.escape(low)} – {html.escape(high)})</span>'


def _text(cell: CellForecast) -> str:
    need = cell.characters
    if need.value == 0:
        return "0"
    if need.value is None:
        if need.low is None:
            return f'{DASH}<div class="small">{html.escape(note_text(need.reason))}</div>'
        return html.escape(_("at least {low}").format(low=large(need.low)))
    low, high = large(need.low or 0), large(need.high or 0)
    return f"{html.escape(large(need.value))} {_between(low, high)}"
