"""Pairs and sides on the page Progress: one line for each pair, with what is kept of its quotas."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.progress.cells import CellState
from evenhand.annotations.progress.dashboard import Dashboard
from evenhand.annotations.types import Project
from evenhand.core.forecast.quota import OWN_RATE, QuotaOutcome
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, note_text, to, with_interval
from evenhand.pages.ui.sentences import bar, quota_answer, side_mark, side_word
from evenhand.pages.ui.tables import Column, element, joined, show_html, span, table
from evenhand.pages.ui.text import _, in_brackets, inform, named, paragraph, plain

Pair = dict[str, CellState]  # side -> numbers; generations have one side, ""
SIDES = ("male", "female", "")
WORST_FIRST: tuple[QuotaOutcome, ...] = ("no", "unknown", "undecided", "yes", "met", "none")


def cells(project: Project, overview: Dashboard) -> None:
    """Show a line for each pair, those that lack most first; without quotas, in the order of import."""
    if not any(cell.counted.mined or cell.counted.quota for cell in overview.cells):
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
        return
    pairs, quotas = _by_pair(overview.cells), any(cell.counted.quota is not None for cell in overview.cells)
    generations = project.kind == "generations"
    if quotas:
        _verdicts(overview)
        pairs = _chosen(pairs)
    if pairs:
        places = [side for side in SIDES if any(side in sides for sides in pairs)]
        heads = [Column(side_mark(side) if side else _("With a gold label")) for side in places]
        columns = [Column(_("Stratum") if generations else _("Keyword pair")), *heads]
        last = [Column(_("Missing"), "number"), Column(_("Can the quota be met?"))]
        columns += last if quotas else [Column(_("Remaining"), "number")]
        rows = (_pair_row(sides, places, quotas, generations) for sides in pairs)
        show_html(table(columns, rows, kind="narrow pairs"))
    else:
        inform("No such pairs and sides.", icon=":material/check:")
    numbers = [_cell_numbers(cell, overview.signature) for sides in pairs for cell in sides.values()]
    caption_with_files(_meaning(project, quotas), numbers, key="progress-pairs")


def _chosen(pairs: Sequence[Pair]) -> list[Pair]:
    """Let the visitor choose all pairs or only those that lack something."""
    names = {"all": _("All: {n}"), "missing": _("Not met yet: {n}"), "short": _("Cannot be met: {n}")}
    groups = {name: [sides for sides in pairs if _matches(sides, name)] for name in names}
    shown = {name: plain(text.format(n=f"{len(groups[name]):,}")) for name, text in names.items()}
    return groups[choose(_("Pairs and sides"), shown, "progress-cells", heading=False)]


def _by_pair(cells: Sequence[CellState]) -> list[Pair]:
    """Return the sides of each pair together, the pairs that lack most first."""
    pairs: dict[str, Pair] = {}
    for cell in sorted(cells, key=lambda cell: cell.side == "female"):
        pairs.setdefault(cell.pair, {})[cell.side] = cell
    return sorted(pairs.values(), key=lambda sides: -sum(cell.forecast.missing or 0 for cell in sides.values()))


def _matches(sides: Pair, which: str) -> bool:
    forecasts = [cell.forecast for cell in sides.values()]
    if which == "missing":
        return any(forecast.missing for forecast in forecasts)
    return which == "all" or any(forecast.verdict == "no" for forecast in forecasts)


def _verdicts(overview: Dashboard) -> None:
    """Show in one sentence whether the quotas can be met."""
    short, undecided = overview.count("no"), overview.count("undecided") + overview.count("unknown")
    to_find = sum(cell.forecast.to_find.value or 0 for cell in overview.cells if cell.forecast.verdict == "no")
    if short:
        text = _(
            "{short} pairs and sides cannot meet their quota with the remaining candidates, even at the upper end of"
            " their acceptance rate; about {more} more are needed."
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
        "Reviewed: items with all the labels they need. Accepted by all: reviewed items that every annotator who"
        " labelled them accepted. Accepted: items whose gold label is accept."
    )
    if not quotas:
        return text
    if project.plan == "stop":
        followed = _(
            "Acceptance rate: estimated label by label, because rejected sentences finish first under this plan. It"
            " therefore differs from accepted ÷ reviewed until all sentences are finished."
        )
        text = paragraph((text, followed))
    needed = _(
        "Needed: candidates still to review = missing ÷ acceptance rate so far; in brackets, with the ends of its 95%"
        " interval. With fewer than {own} reviewed, the acceptance rate over all pairs is used (a)."
    ).format(own=OWN_RATE)
    return paragraph((text, needed))


def _pair_row(sides: Pair, places: Sequence[str], quotas: bool, generations: bool) -> list[str | Markup]:
    """Return the line of a pair: its name, which opens further numbers, a bar for each side, what is missing, and the
    least favourable answer."""
    cells = list(sides.values())
    lines = joined(element("li", _more(cell, quotas, generations)) for cell in cells)
    name = joined([element("summary", cells[0].pair or DASH), element("ul", lines)])
    bars = [_bar_of_quota(sides[side], quotas) if side in sides else DASH for side in places]
    row: list[str | Markup] = [element("details", name), *bars]
    if not quotas:
        return [*row, f"{sum(cell.counted.left for cell in cells):,}"]
    missing = [cell.forecast.missing for cell in cells if cell.forecast.missing is not None]
    worst = min(cells, key=lambda cell: WORST_FIRST.index(cell.forecast.verdict))
    return [*row, f"{sum(missing):,}" if missing else DASH, _verdict(worst)]


def _bar_of_quota(cell: CellState, quotas: bool) -> Markup:
    """Return a small bar of what is kept of the quota, or of the items where there is none, and both numbers."""
    counted = cell.counted
    whole = counted.quota if quotas else counted.mined
    share = min(1.0, counted.kept / whole) if whole else 0.0
    numbers = f"{counted.kept:,} / {DASH if whole is None else f'{whole:,}'}"
    return joined([element("div", bar([(cell.side or "ink", share)]), "mini"), span(numbers, "nowrap")])


def _more(cell: CellState, quotas: bool, generations: bool) -> str:
    """Return the further numbers of a side as one line."""
    counted, forecast = cell.counted, cell.forecast
    agreed = f"{counted.unanimous:,}"
    numbers = {
        _("Texts") if generations else _("Mined"): f"{counted.mined:,}",
        _("Reviewed"): f"{counted.reviewed:,}",
        _("Same choice") if generations else _("Accepted by all"):
            _("{k} of {n}", k=agreed, n=f"{counted.compared:,}") if generations else agreed,
        _("Remaining"): f"{counted.left:,}",
    }  # fmt: skip
    if quotas:
        mark = "" if forecast.own or forecast.rate.value is None else " (a)"
        numbers[_("Acceptance rate")] = with_interval(forecast.rate, ".1%") + mark
        numbers[_("Needed")] = _range(forecast.needed)
    side = [side_word(cell.side)] if cell.side else []
    return " · ".join([*side, *(named(name, value) for name, value in numbers.items())])


def _range(estimate: Estimate) -> str:
    """Return a number of candidates with its interval, or a lower bound; a dash if neither is known."""
    if estimate.value is None:
        return DASH if estimate.low is None else _("at least {least}", least=f"{estimate.low:,.0f}")
    if estimate.high == estimate.low:
        return f"{estimate.value:,.0f}"
    high = "∞" if estimate.high is None else f"{estimate.high:,.0f}"
    return in_brackets(f"{estimate.value:,.0f}", to(f"{estimate.low or 0:,.0f}", high))


def _verdict(cell: CellState) -> Markup:
    forecast = cell.forecast
    more = ""
    if forecast.verdict == "no" and forecast.to_find.value is not None:
        more = _("{more} more to find", more=f"{forecast.to_find.value:,.0f}")
    elif forecast.verdict in ("unknown", "no"):
        more = note_text(forecast.needed.reason)
    return joined([quota_answer(forecast.verdict), span(more, "small") if more else ""], " ")


def _cell_numbers(cell: CellState, signature: str) -> TableRow:
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
