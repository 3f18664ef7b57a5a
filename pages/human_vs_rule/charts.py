"""The charts of the page Human vs. automatic rule: cells, labels, the confusion matrix, repetition."""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.human_vs_rule import counted, shares
from evenhand.core.human_vs_rule.schemes import NAMES
from evenhand.core.language import Count
from evenhand.core.report.numbers import percent
from evenhand.core.statistics import Estimate, holm
from evenhand.core.text.repetition import Variant, signature
from evenhand.pages.human_vs_rule.source import PageNumbers
from evenhand.pages.human_vs_rule.tiles import measure_name
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import note_text
from evenhand.pages.ui.sentences import setting_name
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import from_to, paragraph, plain, series

OFFERED = (
    "agreement", "misgendering", "rule_misgendering", "extraneous", "no_pronoun", "rule_no_pronoun", "plural_they",
)  # fmt: skip
Row = dict[str, Any]


def group_name(dataset: str, model: str, several: bool) -> str:
    """The heading of a model, with the data set where there are several."""
    parts = [model or _("model not named"), dataset.upper() if several and dataset != "own" else ""]
    return " · ".join(part for part in parts if part)


def _several(found: PageNumbers) -> bool:
    return len({cell.key[0] for cell in found.cells}) > 1


def _pronouns(name: str) -> str:
    return name or _("not named")


def by_cell(found: PageNumbers) -> None:
    """One measure per model, pronoun set and setting, with both errors."""
    name = st.selectbox(_("Measure"), OFFERED, format_func=measure_name, key="measure")
    rows = [_cell_row(found, cell, name) for cell in found.cells]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        st.info(note_text(found.overall[name].estimate.reason))
        return
    low, high = min(known, key=lambda row: row["value"]), max(known, key=lambda row: row["value"])
    ends = ((percent(one["value"]), series((one["group"], one["label"], one["series"]))) for one in (low, high))
    says = from_to(measure_name(name), *ends)
    chart = shares(
        pd.DataFrame(rows),
        title=measure_name(name),
        description=says,
        say=_,
        palette=colours(),
    )
    show_chart(chart, [{**row, "measure": name} for row in rows], key="cells", says=says)
    st.caption(plain(_about_errors(found, name)))


def _cell_row(found: PageNumbers, cell: Any, name: str) -> Row:
    dataset, model, pronoun, setting = cell.key
    mean = cell.means[name]
    estimate = mean.estimate
    return {
        "group": group_name(dataset, model, _several(found)),
        "label": _pronouns(pronoun),
        "series": setting_name(setting) or _("setting not named"),
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "se": estimate.se,
        "published": mean.published,
        "n": mean.rows,
        "contexts": estimate.units,
        "method": estimate.method,
        "note": note_text(estimate.note or estimate.reason),
        "signature": found.signature,
    }


def _about_errors(found: PageNumbers, name: str) -> str:
    parts = [
        _(
            "Line: 95% interval over contexts. Pale band: ± the published standard error, which treats"
            " every generation as independent."
        )
    ]
    cells = [cell.means[name].estimate for cell in found.cells if cell.means[name].value is not None]
    if name == "agreement" and len(cells) > 1:
        overall = found.overall[name].value or 0.0
        apart = [_minus(estimate, overall) for estimate in cells]
        tested = sum(1 for estimate in apart if estimate.se)
        text = _(
            "By chance alone, about {k:.1f} of {m} {m:interval excludes|intervals exclude} the overall share;"
            " {n} {n:differs|differ} from it after Holm's adjustment."
        )
        parts.append(text.format(m=Count(tested), k=0.05 * tested, n=Count(sum(holm(apart)))))
    few = min((estimate.units for estimate in cells), default=0)
    if few < 15:
        parts.append(
            _("Few contexts in some cells (as few as {few}): t intervals, which are wide for this reason.").format(
                few=few
            )
        )
    if few < 2:
        parts.append(_("A point without a line comes from a single context, so its spread cannot be estimated."))
    return paragraph(parts)


def _minus(estimate: Estimate, value: float) -> Estimate:
    return replace(estimate, value=(estimate.value or 0.0) - value)


def four_labels(found: PageNumbers) -> None:
    """How often each label was given, per model and pronoun set."""
    several = _several(found)
    rows: list[Row] = [
        {
            "group": group_name(cell.key[0], cell.key[1], several),
            "label": _pronouns(cell.key[2]),
            "choice": choice,
            "count": count,
            "signature": found.signature,
        }
        for cell in found.groups
        for choice, count in cell.counts.items()
    ]
    total: dict[str, int] = {}
    for row in rows:
        total[row["choice"]] = total.get(row["choice"], 0) + row["count"]
    counts = series(f"{_(NAMES[choice])} {count:,}" for choice, count in total.items())
    says = _("{n:,} labels: {counts}.").format(n=sum(total.values()), counts=counts)
    chart = counted(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, rows, key="labels", says=says)


def confusion(found: PageNumbers) -> None:
    """The stored labels against the rule's two verdicts, as counts of labels."""
    heads = [_(NAMES[choice]) for choice in ("correct", "misgendering")]
    rows: list[Row] = [
        {"label": _(NAMES[choice]), "rule": head, "labels": count, "signature": found.signature}
        for choice, counts in found.confusion.items()
        for head, count in zip(heads, counts, strict=True)
    ]
    missed, alarmed = (
        found.confusion["misgendering"][0],
        sum(c[1] for k, c in found.confusion.items() if k != "misgendering"),
    )
    text = _(
        "{missed:,} labels of misgendering where the rule finds none; {alarmed:,} labels without"
        " misgendering where the rule finds it."
    )
    says = text.format(missed=missed, alarmed=alarmed)
    chart = heatmap(
        pd.DataFrame(rows),
        "rule",
        "label",
        "labels",
        description=says,
        domain=(0, max(1, *(row["labels"] for row in rows))),
        titles={"label": _("people"), "rule": _("the rule"), "labels": _("labels")},
        digits=0,
        width=420,
        palette=colours(),
    )
    show_chart(chart, rows, key="confusion", says=says)


def repeated(found: PageNumbers) -> None:
    """How repetitive the texts are, per model and pronoun set, in both variants."""
    names: dict[Variant, str] = {
        "published": _("Context and completion, as published"),
        "completion": _("Completion only"),
    }
    variant = choose(_("Text"), names, "repetition-text")
    groups = found.repetition[variant]
    several = len({key[0] for key in groups}) > 1
    rows: list[Row] = [
        {
            "model": group_name(key[0], key[1], several),
            "pronouns": _pronouns(key[2]),
            "mean": rr.mean,
            "std": rr.std,
            "texts": rr.texts,
            "short": rr.short,
            "signature": signature(variant),
        }
        for key, rr in groups.items()
    ]
    known = [row["mean"] for row in rows if row["mean"] is not None]
    if not known:
        st.info(_("No text has four tokens or more."))
        return
    short = sum(row["short"] for row in rows)
    says = _(
        "Mean repetitiveness from {low:.3f} to {high:.3f}: 0 = for some length from one to four words"
        " nothing is repeated, 1 = everything is repeated. All generations; the spread (population"
        " standard deviation) is in the file."
    ).format(low=min(known), high=max(known))
    if short:
        text = _("{short} {short:text with fewer than four tokens is|texts with fewer than four tokens are} excluded.")
        says = paragraph((says, text.format(short=Count(short))))
    titles = {"mean": _("mean"), "std": _("standard deviation"), "texts": _("texts"), "model": _("Model")}
    chart = heatmap(
        pd.DataFrame(rows),
        "pronouns",
        "model",
        "mean",
        description=says,
        domain=(0, max(0.05, *known)),
        titles=titles | {"pronouns": _("Pronouns")},
        tooltip=("std", "texts", "short"),
        digits=3,
        palette=colours(),
    )
    show_chart(chart, rows, key="repetition", says=says)
