"""The charts of the page Agreement, each with its numbers and its sentence."""

from collections.abc import Iterable
from typing import Any

import altair as alt
import pandas as pd

from evenhand.annotations.agreement.measures import AgreementReport, TwoAnnotators
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.style import styled
from evenhand.core.statistics import Estimate, holm
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import interval_or_reason
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import from_to, paragraph, series

Row = dict[str, Any]


def _numbers(estimate: Estimate) -> Row:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval_or_reason(estimate),
    }


def by_chance(stays: list[bool], estimates: list[Estimate]) -> str:
    """How many of several intervals exclude 0, by chance and after Holm's adjustment; "" for one."""
    tested = sum(1 for e in estimates if e.value is not None and e.se)
    text = _(
        "By chance alone, about {k:.1f} of {m} intervals exclude 0; an asterisk marks the {n} that differ"
        " from 0 after Holm's adjustment."
    )
    return text.format(m=tested, k=0.05 * tested, n=sum(stays)) if tested > 1 else ""


def traced(rows: Iterable[Row], report: AgreementReport) -> list[Row]:
    """Rows for a file, each with the signature of its numbers."""
    return [{**row, "signature": report.signature} for row in rows]


def labels_per_item(report: AgreementReport) -> None:
    """Bars of the number of items by number of labels."""
    rows = [{"labels": str(n), "items": count} for n, count in sorted(report.by_labels.items())]
    look = colours()
    base = alt.Chart(pd.DataFrame(rows), height=alt.Step(30)).encode(
        y=alt.Y(field="labels", type="nominal", sort=None, title=_("labels"), axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(field="items", type="quantitative", title=None, axis=None),
        tooltip=[
            alt.Tooltip(field="labels", type="nominal", title=_("labels")),
            alt.Tooltip(field="items", type="quantitative", title=_("items")),
        ],
    )
    bars = base.mark_bar(color=look.neutral, cornerRadiusEnd=4, height=16)
    words = base.mark_text(align="left", dx=6, color=look.ink).encode(text=alt.Text(field="items", format=","))
    some = sum(count for number, count in report.by_labels.items() if number)
    every = sum(number * count for number, count in report.by_labels.items())
    says = _("{items} of {all} items have at least one label; {labels} labels in total.").format(
        items=f"{some:,}", all=f"{report.all_items:,}", labels=f"{every:,}"
    )
    show_chart(styled(alt.layer(bars, words), says, look), traced(rows, report), key="items-by-labels", says=says)


def each_two(report: AgreementReport, names: list[str]) -> None:
    """Cohen's kappa of each two of *names* as a heatmap."""
    found = [(a, b, report.two(a, b)) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs = [two for *_names, two in found if two is not None]
    stays = dict(zip(map(id, pairs), holm([two.kappa for two in pairs]), strict=True))
    rows = [_two_row(a, b, two, stays.get(id(two), False)) for a, b, two in found]
    says = paragraph(
        part for part in (_kappa_sentence(pairs), by_chance(list(stays.values()), [t.kappa for t in pairs])) if part
    )
    chart = heatmap(
        pd.DataFrame(rows),
        "b",
        "a",
        "kappa",
        description=says,
        domain=(-1, 1) if any((row["kappa"] or 0) < 0 for row in rows) else (0, 1),
        titles={
            "kappa": _("Cohen's kappa"),
            "interval": _("95% interval"),
            "items": _("items"),
            "largest": _("maximum"),
        },
        tooltip=("interval", "items", "largest"),
        mark="differs",
        width=300,
        palette=colours(),
    )
    show_chart(chart, traced(rows, report), key="cohen-kappa", says=says)


def _two_row(a: str, b: str, two: TwoAnnotators | None, differs: bool) -> Row:
    if two is None:
        reason = _("These two annotators have no labelled item in common yet.")
        return {"a": a, "b": b, "kappa": None, "interval": reason, "items": 0, "largest": None, "differs": False}
    numbers = _numbers(two.kappa)
    largest = None if two.largest.value is None else f"{two.largest.value:.2f}"
    return {
        "a": a,
        "b": b,
        "kappa": numbers.pop("value"),
        **numbers,
        "items": two.items,
        "largest": largest,
        "differs": differs,
    }


def _kappa_sentence(pairs: list[TwoAnnotators]) -> str:
    known = sorted((two for two in pairs if two.kappa.value is not None), key=lambda two: two.kappa.value or 0)
    if not known:
        return _("No two annotators have used more than one category on their common items yet.")
    least, most = known[0], known[-1]
    low, high = ((f"{two.kappa.value:z.2f}".replace("-", "−"), series((two.a, two.b))) for two in (least, most))
    return from_to(_("Pairwise Cohen's kappa"), low, high)


def by_keyword_pair(report: AgreementReport) -> None:
    """Four measures for each keyword pair as a heatmap."""
    columns = {
        "unanimity": _("Full agreement"),
        "fleiss": "Fleiss κ",
        "alpha": "Krippendorff α",
        "ac1": "Gwet AC1",
    }
    rows: list[Row] = []
    tested: list[Estimate] = []
    for name, measures in report.by_pair:
        for field, title in columns.items():
            estimate: Estimate = getattr(measures, field)
            row = {"pair": name or _("(no pair)"), "measure": title, **_numbers(estimate), "items": estimate.units}
            # 0 means chance for the three coefficients, not for the percentage.
            tested.append(estimate if field != "unanimity" else Estimate(None))
            rows.append(row)
    stays = holm(tested)
    for row, differs in zip(rows, stays, strict=True):
        row["differs"] = differs
    says = paragraph(
        filter(
            None,
            (
                _(
                    "Agreement by keyword pair; pairs with the most items first. Full agreement is of items with at"
                    " least two blind labels."
                ),
                by_chance(stays, tested),
            ),
        )
    )
    chart = heatmap(
        pd.DataFrame(rows),
        "measure",
        "pair",
        "value",
        description=says,
        domain=(-1, 1) if any((row["value"] or 0) < 0 for row in rows) else (0, 1),
        titles={
            "interval": _("95% interval"),
            "items": _("items"),
            "value": _("value"),
        },
        tooltip=("interval", "items"),
        mark="differs",
        palette=colours(),
    )
    show_chart(chart, traced(rows, report), key="by-pair", says=says.strip())


def confusion(two: TwoAnnotators, report: AgreementReport) -> None:
    """What two annotators chose, against each other, as a heatmap of counts."""
    names = [choice_name(choice) for choice in report.choices]
    rows = [
        {"a": names[i], "b": names[j], "items": two.table[i][j]} for i in range(len(names)) for j in range(len(names))
    ]
    text = _("{a} and {b} both labelled {n} items and chose the same on {same}.")
    same = sum(two.table[i][i] for i in range(len(names)))
    says = text.format(a=two.a, b=two.b, n=two.items, same=same)
    chart = heatmap(
        pd.DataFrame(rows),
        "b",
        "a",
        "items",
        description=says,
        domain=(0, max(two.items, 1)),
        titles={"a": two.a, "b": two.b, "items": _("items")},
        digits=0,
        width=300,
        palette=colours(),
    )
    show_chart(chart, traced(rows, report), key="confusion", says=says)
