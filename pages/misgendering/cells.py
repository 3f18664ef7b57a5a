"""The cells of a run on the page Misgendering: both ways, how far they agree, and how much its texts vary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.core.charts.misgendering import alpha_beta, levels, ways
from evenhand.core.misgendering.metrics import LEVELS, NOT_FIVE, Metrics
from evenhand.core.model_bias.nulls import many_intervals
from evenhand.core.report.numbers import interval, plain_number
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.core.text.pronouns import sets
from evenhand.pages.ui.charts import caption_with_files, colours, range_says, show_chart, show_heatmap
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import against, how_tested, margin_box
from evenhand.pages.ui.numbers import DASH, POINTS, SIZE_IN_POINTS, note_text, percent, with_interval
from evenhand.pages.ui.sentences import setting_name
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain

PRONOUNS = tuple(sets("own"))


@dataclass(frozen=True)
class Cell:
    """One cell: its heading (the model), its row under it (pronouns, and what else tells cells apart), its measures."""

    key: dict[str, str]
    group: str
    label: str
    metrics: Metrics

    def row(self, **more: Any) -> dict[str, object]:
        """Return the start of a row of a chart or a file."""
        return {"group": self.group, "label": self.label, **more}


def table_of(found: Sequence[tuple[dict[str, str], Metrics]], name: str) -> list[Cell]:
    """Return the cells: models in the table's order, pronouns as he, she, they, xe. *name* is used where the key has no
    model."""
    several = varying([key for key, _metrics in found])
    cells = [Cell(key, key.get("model") or name, label_of(key, several), metrics) for key, metrics in found]
    models = list(dict.fromkeys(cell.group for cell in cells))
    places = {name: place for place, name in enumerate(PRONOUNS)}  # the usual four first, others after them
    return sorted(cells, key=lambda cell: (models.index(cell.group), places.get(cell.key.get("pronoun", ""), 99)))


def varying(keys: Sequence[dict[str, str]]) -> set[str]:
    """Return what tells cells apart in addition to model and pronouns: data set and setting, where there are
    several."""
    return {name for name in ("dataset", "setting") if len({key.get(name) for key in keys}) > 1}


def label_of(key: dict[str, str], several: set[str]) -> str:
    """Return the pronouns of a cell and what else tells it apart."""
    parts = [key.get("pronoun") or _("all")]
    if "dataset" in several:
        parts.append(key.get("dataset", ""))
    if "setting" in several:
        parts.append(setting_name(key.get("setting", "")))
    return " · ".join(part for part in parts if part)


def numbers(estimate: Estimate) -> dict[str, object]:
    """Return a number for a chart and a file: value, low, high, the interval in words, why there is none."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval(estimate.low, estimate.high) or note_text(estimate.note or estimate.reason),
        "units": estimate.units,
        "method": estimate.method,
        "reason": note_text(estimate.reason),
        "note": note_text(estimate.note),
    }


def show_variation(cells: Sequence[Cell]) -> None:
    """Show the three levels as stacked bars, and sigma with its interval as a table."""
    rows = [
        cell.row(level=level, share=cell.metrics.sigma.levels[level], n=cell.metrics.sigma.complete)
        for cell in cells
        if cell.metrics.sigma.levels is not None
        for level in LEVELS
    ]
    if rows:
        data = pd.DataFrame(rows)
        same = _("Instances with the same verdict for all five generations")
        says = range_says(same, data[data["level"] == "0"], percent, "group", "label", value="share")
        chart = levels(data, description=says, say=_, palette=colours())
        show_chart(chart, data.assign(signature=cells[0].metrics.signature), key="levels", says=says)
    else:
        st.info(plain(note_text(NOT_FIVE)))
    _sigmas(cells)


def _sigmas(found: Sequence[Cell]) -> None:
    templates = any(cell.metrics.sigma_prob is not None for cell in found)
    heads = [_("Model"), _("Pronouns"), _("Mean σ over generations"), _("95% interval"), _("Standard deviation")]
    heads += [_("Mean σ over templates"), _("Templates that failed")] if templates else []
    body, rows = [], []
    for cell in found:
        sigma, other, failed = cell.metrics.sigma, cell.metrics.sigma_prob, cell.metrics.failure
        cells = [cell.group, cell.label, plain_number(sigma.mean.value)]
        cells += [interval(sigma.mean.low, sigma.mean.high) or note_text(sigma.mean.note or sigma.mean.reason)]
        cells += [DASH if sigma.std is None else plain_number(sigma.std)]
        if templates:
            cells.append(plain_number(other.mean.value) if other else DASH)
            cells.append(f"{percent(failed.value)} ± {percent(failed.se)}" if failed else DASH)
        body.append(cells)
        row = cell.row(sigma=sigma.mean.value, low=sigma.mean.low, high=sigma.mean.high, std=sigma.std, n=sigma.n)
        row |= {"sigma_prob": other.mean.value if other else None, "failure": failed.value if failed else None}
        rows.append(row | {"signature": cell.metrics.signature})
    show_html(table(number_columns(tuple(heads), tuple(range(2, len(heads)))), body, kind="text"))
    text = _(
        "σ is the population standard deviation of an instance's verdicts: 0 = all the same, 0.5 ="
        " half and half. It shows how misleading a single generation would be."
    )
    caption_with_files(text, rows, key="sigmas")


def show_beta(cells: Sequence[Cell]) -> None:
    """Show the Beta plane, and its numbers with the reason where no distribution fits."""
    rows = []
    for cell in cells:
        fit = cell.metrics.beta
        ends = " · ".join(
            f"{name} {interval(e.low, e.high, 2)}"
            for name, e in (("α", fit.alpha), ("β", fit.beta))
            if e.low is not None
        )
        ends = ends or note_text(fit.alpha.note or fit.reason)
        fitted = {"alpha": fit.alpha.value, "beta": fit.beta.value, "interval": ends, "mean": fit.mean, "n": fit.n}
        rows.append(cell.row(**fitted, reason=note_text(fit.reason), signature=cell.metrics.signature))
    data = pd.DataFrame(rows)
    for name in ("alpha", "beta"):
        data[name] = pd.to_numeric(data[name])
    known = data.dropna(subset=["alpha", "beta"])
    says = _("In {agree} of {n} cells agreement is more common (α < β).").format(
        agree=int((known["alpha"] < known["beta"]).sum()), n=len(known)
    )
    if len(known):
        show_chart(alpha_beta(data, description=says, say=_, palette=colours()), data, key="beta", says=says)
    heads = (_("Model"), _("Pronouns"), _("Mean disagreement"), "α", "β", _("95% interval"))
    body = [
        [str(row["group"]), str(row["label"]), *(plain_number(row[name]) for name in ("mean", "alpha", "beta")),
         str(row["interval"])]
        for row in data.to_dict("records")
    ]  # fmt: skip
    show_html(table(number_columns(heads, (2, 3, 4)), body, kind="text"))
    caption(
        "For each instance, two verdicts, one by each method, differ with some probability. α and β are the"
        " parameters of the Beta distribution with the same mean and variance as these probabilities (method"
        " of moments). If both are below 1, the methods agree or disagree completely on most instances, which"
        " the mean hides."
    )


WAYS = ("prob", "gen", "published")
MEASURES = ("disagreement", "mcc", "kappa", "agreement")


def show_ways(cells: Sequence[Cell]) -> None:
    """Show the share of right verdicts by each method, then the share of instances on which methods disagree."""
    rows = [
        cell.row(way=way, **numbers(estimate), n=cell.metrics.rows, signature=cell.metrics.signature)
        for cell in cells
        for way, estimate in zip(WAYS, (cell.metrics.prob, cell.metrics.texts.right, cell.metrics.gen), strict=True)
        if estimate.value is not None
    ]
    if not rows:
        inform("No instance has a verdict.")
        return
    data = pd.DataFrame(rows)
    says = range_says(_("Right verdicts"), data, percent, "group", "label")
    show_chart(ways(data, description=says, say=_, palette=colours()), data, key="ways", says=says)
    _apart(cells)
    caption(
        "Line: 95% interval over templates and names. Right: a form of the person's own pronouns, among texts"
        " with a pronoun; as published, a text without a pronoun also counts as right. The order is your"
        " choice, not a ranking."
    )
    _flips(cells)


def _apart(cells: Sequence[Cell]) -> None:
    """Show the share right by probability minus the share right by generation per cell, against the margin."""
    known = [one for one in cells if one.metrics.by_units["difference"].value is not None]
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


def _flips(cells: Sequence[Cell]) -> None:
    known = [cell.metrics.flips for cell in cells if cell.metrics.flips is not None]
    if known:
        flips, n = sum(a for a, _n in known), sum(n for _a, n in known)
        text = _(
            "The probability-based verdict uses perplexity, which averages over tokens. With the sum of"
            " log-probabilities, {flips} of {n} instances ({share}) would get the other verdict."
        )
        st.caption(plain(text.format(flips=f"{flips:,}", n=f"{n:,}", share=percent(flips / n if n else None))))


def show_agreement(cells: Sequence[Cell]) -> None:
    """Show one measure as a heatmap, pronouns across and models down, with the intervals that are chosen."""
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
        getattr(cell.metrics, measure) if published else cell.metrics.by_units[measure] for cell in cells
    ]
    tested = many_intervals(estimates)
    stays = tested.stays if measure in ("mcc", "kappa") else (False,) * len(cells)
    signature = "misgendering|unit:row|as-published|v1" if published else ""
    rows = [
        cell.row(
            measure=measure,
            **numbers(estimate),
            n=cell.metrics.n,
            stays=stay,
            signature=signature or cell.metrics.signature,
        )
        for cell, estimate, stay in zip(cells, estimates, stays, strict=True)
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
    if not data["value"].notna().any():
        reasons = [reason for reason in data["reason"] if reason]
        return _("No cell has a value.") + (f" {reasons[0]}" if reasons else "")
    return range_says(name, data, plain_number, "group", "label")


def _meaning(measure: str, published: bool) -> str:
    text = {
        "disagreement": _(
            "Share of the instances with both verdicts on which the first generation and the probabilities"
            " disagree; 0 = never."
        ),
        "mcc": _("Correlation of the two verdicts, −1 to 1; 0 = unrelated."),
        "kappa": _("Chance-corrected agreement, −1 to 1, always from the full two-by-two table of verdicts."),
        "agreement": _(
            "Share of instances with the same verdict. It is high whenever one verdict is rare, regardless of"
            " the quality of the methods."
        ),
    }[measure]
    if published:
        return paragraph((text, _("The published intervals treat instances as independent.")))
    return paragraph((text, _("Intervals over units, because instances of one template or name resemble each other.")))
