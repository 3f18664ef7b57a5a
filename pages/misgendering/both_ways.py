"""Both ways side by side, and how far they agree: a point and a line a way, a heatmap a measure."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from evenhand.core.charts.misgendering import ways
from evenhand.core.model_bias.many_intervals import many_intervals
from evenhand.core.report.numbers import percent, plain_number
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.misgendering.cells import Cell, numbers
from evenhand.pages.ui.charts import colours, show_chart, show_heatmap
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import against, how_tested, margin_box
from evenhand.pages.ui.numbers import POINTS, SIZE_IN_POINTS, note_text, with_interval
from evenhand.pages.ui.text import _, caption, from_to, inform, paragraph, plain, series

WAYS = ("prob", "gen", "published")
MEASURES = ("disagreement", "mcc", "kappa", "agreement")


def show_ways(found: Sequence[Cell]) -> None:
    """Share of right verdicts by each way, then the share of instances on which they disagree."""
    rows = [
        one.row(way=way, **numbers(estimate), n=one.metrics.rows, signature=one.metrics.signature)
        for one in found
        for way, estimate in zip(WAYS, (one.metrics.prob, one.metrics.texts.right, one.metrics.gen), strict=True)
        if estimate.value is not None
    ]
    if not rows:
        inform("No instance has a verdict.")
        return
    data = pd.DataFrame(rows)
    says = _ways_say(data)
    show_chart(ways(data, description=says, say=_, palette=colours()), data, key="ways", says=says)
    caption(
        "Line: 95% interval over templates and names. Right: a form of the person's own pronouns, of texts with"
        " a pronoun; as published, a text without a pronoun counts as right too. You choose the order; there is"
        " no ranking."
    )
    _flips(found)
    _apart(found)


def _apart(found: Sequence[Cell]) -> None:
    """Right by probability less right by generation of each cell, against the margin."""
    known = [one for one in found if one.metrics.by_units["difference"].value is not None]
    if not known:
        return
    margin = margin_box("share", "ways-margin")
    rows = []
    for one in known:
        apart = one.metrics.by_units["difference"]
        tested = against(equivalence(apart, margin), SIZE_IN_POINTS)
        cell = {_("Model"): one.group, _("Pronouns"): one.label, _("Instances"): one.metrics.n}
        shown = {_("Difference"): with_interval(apart, POINTS), _("Against the margin"): tested}
        rows.append(cell | shown)
    st.dataframe(rows, hide_index=True, key="ways-apart")
    text = _(
        "Share right by the probability-based method minus share right by the generation-based method as published"
        " (a text without a pronoun is right), on instances with both verdicts (first generation only); 95%"
        " intervals over templates and names in brackets."
    )
    st.caption(plain(paragraph((text, how_tested()))))


def _ways_say(data: pd.DataFrame) -> str:
    low, high = data.loc[data["value"].idxmin()], data.loc[data["value"].idxmax()]
    ends = ((percent(one["value"]), series((one["group"], one["label"]))) for one in (low, high))
    return from_to(_("Right verdicts"), *ends)


def _flips(found: Sequence[Cell]) -> None:
    known = [one.metrics.flips for one in found if one.metrics.flips is not None]
    if known:
        flips, n = sum(a for a, _n in known), sum(n for _a, n in known)
        text = _(
            "The probability-based verdict uses perplexity, a mean over tokens. With the sum of the"
            " log-probabilities, {flips} of {n} instances ({share}) would get the other verdict."
        )
        st.caption(plain(text.format(flips=f"{flips:,}", n=f"{n:,}", share=percent(flips / n if n else None))))


def show_agreement(found: Sequence[Cell]) -> None:
    """One measure as a heatmap, pronouns across and models down, with the intervals that are chosen."""
    names = {
        "disagreement": _("share that disagrees"),
        "mcc": "MCC",
        "kappa": _("Cohen's kappa"),
        "agreement": _("raw agreement"),
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = st.selectbox(_("Measure"), MEASURES, format_func=names.__getitem__, key="measure", width=240)
        ways = {"units": _("over templates and names"), "published": _("as published")}
        how = choose(_("Intervals"), ways, "intervals")
    published = how == "published" and measure != "disagreement"
    estimates: list[Estimate] = [
        getattr(one.metrics, measure) if published else one.metrics.by_units[measure] for one in found
    ]
    tested = many_intervals(estimates)
    stays = tested.stays if measure in ("mcc", "kappa") else (False,) * len(found)
    signature = "misgendering|unit:row|as-published|v1" if published else ""
    rows = [
        one.row(
            measure=measure,
            **numbers(estimate),
            n=one.metrics.n,
            stays=stay,
            signature=signature or one.metrics.signature,
        )
        for one, estimate, stay in zip(found, estimates, stays, strict=True)
    ]
    data = pd.DataFrame(rows)
    says = _agreement_says(data, names[measure])
    if measure in ("mcc", "kappa"):
        says = paragraph((says, note_text(tested.sentence), _("An asterisk marks those that remain.")))
    _heatmap(data, names[measure], measure, says)
    st.caption(plain(_meaning(measure, published)))


def _heatmap(data: pd.DataFrame, name: str, measure: str, says: str) -> None:
    titles = {
        "group": _("Model"), "label": _("Pronouns"), "value": name, "interval": _("95% interval"),
        "n": _("instances"), "reason": _("reason for no value"),
    }  # fmt: skip
    known = data["value"].dropna()
    signed = measure in ("mcc", "kappa") and bool((known < 0).any())
    reasons = ["reason"] if bool((data["reason"] != "").any()) else []
    shown = data[["group", "label", "value", "interval", "n", "reason", "stays"]]
    show_heatmap(
        shown, "label", "group", "value", key="agreement", says=says, data=data, titles=titles,
        domain=(-1.0, 1.0) if signed else (0.0, 1.0), tooltip=("interval", "n", *reasons), mark="stays", width=700,
    )  # fmt: skip


def _agreement_says(data: pd.DataFrame, name: str) -> str:
    known = data.dropna(subset="value")
    if known.empty:
        reasons = [reason for reason in data["reason"] if reason]
        return _("No cell has a value.") + (f" {reasons[0]}" if reasons else "")
    low, high = known.loc[known["value"].idxmin()], known.loc[known["value"].idxmax()]
    ends = ((plain_number(one["value"]), series((one["group"], one["label"]))) for one in (low, high))
    return from_to(name, *ends)


def _meaning(measure: str, published: bool) -> str:
    text = {
        "disagreement": _(
            "Share of the instances with both verdicts on which the first generation and the probabilities"
            " disagree; 0 = never."
        ),
        "mcc": _("Correlation of the two verdicts, −1 to 1; 0 = unrelated."),
        "kappa": _("Agreement beyond chance, −1 to 1, always from the full two-by-two table of verdicts."),
        "agreement": _(
            "Share of instances with the same verdict. It is high whenever one verdict is rare, however"
            " good the methods are."
        ),
    }[measure]
    if published:
        return paragraph((text, _("The published intervals treat instances as independent.")))
    return paragraph((text, _("Intervals over units, because instances of one template or name resemble each other.")))
