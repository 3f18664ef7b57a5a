"""The picture of the page Ruler: the values of a model with intervals, nulls as bands, references as diamonds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.charts.style import palette
from core.statistics import Estimate
from pages._ruler_words import interval, number
from pages._widgets import _, language, show_chart

if TYPE_CHECKING:
    from core.nulls import Null
    from core.on_ruler import OnRuler

Row = dict[str, Any]


def show_picture(found: "OnRuler", planted: Sequence[float]) -> None:
    """The chart with the sentence that says what it shows."""
    import pandas as pd

    from core.charts.ruler import ruler

    rows = picture_rows(found)
    says = picture_says(found)
    chart = ruler(pd.DataFrame(rows), description=says, planted=planted, say=_, palette=palette(st.context.theme.type))
    show_chart(chart, [row | {"signature": found.signature} for row in rows], key="ruler", says=says)


def picture_rows(found: "OnRuler") -> list[Row]:
    """A row per quantity and per reference, in the order of the reading: direction first, then size."""
    summary = found.summary
    rows = [
        _row(_("signed mean"), "signed", summary.signed_mean, _band(found, "signed_mean")),
        _row("Bias_man − Bias_woman", "signed", _apart(found), _band(found, "side_difference")),
        _row("Bias_man", "model", summary.bias_man),
        _row("Bias_woman", "model", summary.bias_woman),
        _row("Model_bias", "model", summary.model_bias),
    ]
    if found.untrained is not None:
        rows.append(_row("↳ " + _("Model_bias of the untrained model"), "reference", found.untrained.model_bias))
    rows.append(_row(_("what contexts do (mean of |Bias_c less its pair's mean|)"), "model", found.corrected))
    if found.untrained is not None:
        rows.append(_row("↳ " + _("the same of the untrained model"), "reference", found.untrained.corrected))
    if found.magnitude is not None:
        neutral = found.magnitude.neutral
        if found.source:
            rows.append(_row(_("the same, where neutral words fit"), "model", found.magnitude.gendered))
        rows.append(_row("↳ " + _("words without gender in the same contexts"), "reference", neutral))
    return rows


def _row(name: str, kind: str, value: Estimate, band: "Null | None" = None) -> Row:
    return {
        "name": name,
        "kind": kind,
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "null_low": band.low if band else None,
        "null_high": band.high if band else None,
        "text": interval(value, "+z.3f" if kind == "signed" else "z.3f"),
    }


def _band(found: "OnRuler", measured: str) -> "Null | None":
    """The stricter of the two nulls: the words change sides pair by pair."""
    return next((null for null in found.nulls if null.measured == measured and null.shuffled == "pair"), None)


def _apart(found: "OnRuler") -> Estimate:
    null = _band(found, "side_difference")
    return Estimate(null.value if null else None, units=found.summary.n)


def picture_says(found: "OnRuler") -> str:
    """What the picture shows, in sentences."""
    summary = found.summary
    where = _("the built-in neutral sentences") if not found.source else found.source
    text = _("{model} on {n} sentences of {where}: signed mean {mean}, Model_bias {model_bias} (log10).")
    parts = [
        text.format(
            model=found.model,
            n=f"{summary.n:,}",
            where=where,
            mean=number(summary.signed_mean.value),
            model_bias=number(summary.model_bias.value, "z.3f"),
        ),
        _("Grey bands: the middle 95 % of what remains when the words of a pair change sides, pair by pair."),
        _("Diamonds: references. Filled dots: this model, with 95 % intervals."),
    ]
    return ("" if language() == "zh" else " ").join(parts)
