"""Pairs and sides on the page Progress: the funnel of each, missing items, and whether the quota can be met."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.progress.cells import CellState
from evenhand.annotations.progress.dashboard import Dashboard
from evenhand.annotations.types import Project
from evenhand.core.forecast.quota import OWN_RATE, QuotaForecast
from evenhand.core.statistics import Estimate
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, note_text, number, to, with_interval
from evenhand.pages.ui.sentences import quota_answer, side_mark
from evenhand.pages.ui.tables import Column, element, joined, show_html, table
from evenhand.pages.ui.text import _, in_brackets, inform, paragraph, plain


def cells(project: Project, found: Dashboard) -> None:
    """The table, after a choice of all rows or only those that lack something."""
    if not any(cell.counted.mined or cell.counted.quota for cell in found.cells):
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
        return
    rows, quotas = _by_pair(found.cells), any(cell.counted.quota is not None for cell in found.cells)
    if quotas:
        _verdicts(found)
        missing = sum(1 for cell in rows if cell.forecast.missing)
        names = {"all": _("All: {n}"), "missing": _("Not met yet: {n}"), "short": _("Cannot be met: {n}")}
        numbers = {"all": len(rows), "missing": missing, "short": found.count("no")}
        shown = {key: plain(text.format(n=f"{numbers[key]:,}")) for key, text in names.items()}
        which = choose(_("Pairs and sides"), shown, "progress-cells", heading=False)
        rows = [cell for cell in rows if which == "all" or _matches(cell.forecast, which)]
    if rows:
        show_html(_table(project, rows, quotas))
    else:
        inform("There are none.", icon=":material/check:")
    caption_with_files(
        _meaning(project, quotas), [_numbers(cell, found.signature) for cell in rows], key="progress-pairs"
    )


def _by_pair(cells: Sequence[CellState]) -> list[CellState]:
    """Both sides of a pair together, the male word first; pairs in the order of import."""
    place: dict[str, int] = {}
    for cell in cells:
        place.setdefault(cell.pair, len(place))
    return sorted(cells, key=lambda cell: (place[cell.pair], cell.side == "female"))


def _matches(forecast: QuotaForecast, which: str) -> bool:
    return bool(forecast.missing) if which == "missing" else forecast.verdict == "no"


def _verdicts(found: Dashboard) -> None:
    """One sentence: can the quotas be met?"""
    short, undecided = found.count("no"), found.count("undecided") + found.count("unknown")
    to_find = sum(cell.forecast.to_find.value or 0 for cell in found.cells if cell.forecast.verdict == "no")
    if short:
        text = _(
            "{short} pairs and sides cannot meet their quota with the remaining candidates, even at the upper "
            "end of their share kept; about {more} more are needed."
        )
        st.warning(plain(text.format(short=f"{short:,}", more=f"{to_find:,.0f}")), icon=":material/warning:")
    elif undecided:
        text = _("For {undecided} pairs and sides it is not yet clear whether the remaining candidates suffice.")
        st.info(plain(text.format(undecided=f"{undecided:,}")), icon=":material/help:")
    else:
        st.success(_("The remaining candidates suffice for every quota."), icon=":material/check:")


def _meaning(project: Project, quotas: bool) -> str:
    if project.kind == "generations":
        return _(
            "Reviewed: items with all the labels they need. Same choice: of the reviewed items with at least two"
            " blind labels, those on which all annotators made the same choice; flags are not compared."
        )
    text = _(
        "Reviewed: items with all the labels they need. Accepted by all: reviewed items that every"
        " annotator who labelled them accepted. Kept: items whose gold label is accept."
    )
    if not quotas:
        return text
    if project.plan == "stop":
        followed = _(
            "Share kept: estimated label by label, because rejected sentences finish first under this"
            " plan. It therefore differs from kept / reviewed until every sentence is finished."
        )
        text = paragraph((text, followed))
    needed = _(
        "Needed: candidates still to review = missing / share kept so far, with the ends of its 95%"
        " interval. With fewer than {own} reviewed, the share kept over all pairs is used (a)."
    ).format(own=OWN_RATE)
    return paragraph((text, needed))


def _table(project: Project, rows: list[CellState], quotas: bool) -> Markup:
    generations = project.kind == "generations"
    heads = [_("Mined") if not generations else _("Texts"), _("Reviewed")]
    heads += [_("Same choice") if generations else _("Accepted by all")]
    heads += [_("With a gold label") if generations else _("Kept"), _("Left")]
    heads += [_("Quota"), _("Missing"), _("Share kept"), _("Needed")] if quotas else []
    first = _("Stratum") if generations else _("Keyword pair")
    question = [Column(_("Can the quota be met?"))] if quotas else []
    columns = [Column(first), *question, *(Column(head, "number") for head in heads)]
    return table(columns, (_row(cell, quotas, generations) for cell in rows), kind="narrow pinned")


def _row(cell: CellState, quotas: bool, generations: bool) -> list[str | Markup]:
    counted, forecast = cell.counted, cell.forecast
    pair: str | Markup = cell.pair or DASH
    if cell.side:
        pair = joined([pair, side_mark(cell.side)], Markup("<br>"))
    agreed = f"{counted.unanimous:,}"
    if generations:
        agreed = _("{k} of {n}", k=agreed, n=f"{counted.compared:,}")
    counts = (counted.mined, counted.reviewed, agreed, counted.kept, counted.left)
    numbers = [count if isinstance(count, str) else f"{count:,}" for count in counts]
    if not quotas:
        return [pair, *numbers]
    mark = "" if forecast.own or forecast.rate.value is None else " (a)"
    numbers += [number(counted.quota, ","), number(forecast.missing, ",")]
    numbers += [with_interval(forecast.rate, ".1%") + mark, _range(forecast.needed)]
    return [pair, _verdict(cell), *numbers]


def _range(one: Estimate) -> str:
    """Candidates with the ends of their interval, or a lower bound."""
    if one.value is None:
        return DASH if one.low is None else _("at least {least}", least=f"{one.low:,.0f}")
    if one.high == one.low:
        return f"{one.value:,.0f}"
    high = "∞" if one.high is None else f"{one.high:,.0f}"
    return in_brackets(f"{one.value:,.0f}", to(f"{one.low or 0:,.0f}", high))


def _verdict(cell: CellState) -> Markup:
    forecast = cell.forecast
    more = ""
    if forecast.verdict == "no" and forecast.to_find.value is not None:
        more = _("{more} more to find", more=f"{forecast.to_find.value:,.0f}")
    elif forecast.verdict in ("unknown", "no"):
        more = note_text(forecast.needed.reason)
    return joined([quota_answer(forecast.verdict), element("div", more) if more else ""])


def _numbers(cell: CellState, signature: str) -> dict[str, Any]:
    counted, forecast = cell.counted, cell.forecast
    return {
        "pair": cell.pair, "side": cell.side, "mined": counted.mined, "reviewed": counted.reviewed,
        "compared": counted.compared, "unanimous": counted.unanimous, "kept": counted.kept, "left": counted.left,
        "set_aside": counted.aside,
        "quota": counted.quota, "missing": forecast.missing, "share_kept": forecast.rate.value,
        "share_kept_low": forecast.rate.low, "share_kept_high": forecast.rate.high, "share_of": forecast.share_of,
        "needed": forecast.needed.value, "needed_low": forecast.needed.low, "needed_high": forecast.needed.high,
        "to_find": forecast.to_find.value, "verdict": forecast.verdict, "reason": note_text(forecast.needed.reason),
        "signature": signature,
    }  # fmt: skip
