"""The figures of the report: each with its title, a sentence on its content, and a note on how to read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evenhand.core.charts.bias_distribution import bins, curve_says, curves, distribution_says, ridges, sorted_curve
from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.sides import sides, sides_says
from evenhand.core.errors import N_
from evenhand.core.language import Say, one_after_another
from evenhand.core.model_bias import Groups, Summary, correlation, grouping, sign_agreement, unit_of
from evenhand.core.report.html_tables import Asked, Paper
from evenhand.core.report.numbers import interval
from evenhand.core.sentence_bias.bias import LN10
from evenhand.core.statistics import Note
from evenhand.core.statistics.estimate import note_text
from evenhand.core.types import TableRow

WIDTH = 900


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart for the report."""

    title: str
    says: str
    note: str
    chart: Any


def figures(
    frame: pd.DataFrame,
    summaries: Sequence[Summary],
    asked: Asked,
    groups: Mapping[str, Sequence[Summary]],
    *,
    seeds: Groups,
    papers: Mapping[str, Paper],
    notes: Mapping[str, str],
    say: Say,
) -> list[Figure]:
    """Return all figures of the models in *summaries*, in their order; *groups*: their summaries by keyword pair.

    *seeds*: the models that are seeds of one model.
    """
    models = [summary.model for summary in summaries]
    values = {model: frame.loc[frame["model"] == model, "bias_log10"].to_numpy() for model in models}
    result = [
        _sides(summaries, asked, papers, notes, say),
        _density(values, notes, say),
        _order(values, say),
        _pairs(groups, say),
    ]
    return result if len(models) < 2 else [*result, *_together(frame, models, seeds, say)]


def side_rows(
    summaries: Sequence[Summary], asked: Asked, papers: Mapping[str, Paper], notes: Mapping[str, str]
) -> pd.DataFrame:  # fmt: skip
    """Return the rows for `core.charts.sides`: both sides of each model with intervals, and the paper's values."""
    rows = []
    for summary in summaries:
        paper, note = papers.get(summary.model), notes.get(summary.model)
        row: TableRow = {
            "model": summary.model,
            "note": f"({note})" if note else "",
            "reference": summary.reference,
        }
        stated = asked(summary)
        for side in ("man", "woman"):
            estimate = stated[f"run.bias.bias_{side}"]
            row |= {side: estimate.value, f"{side}_low": estimate.low, f"{side}_high": estimate.high}
            row[f"{side}_paper"] = paper[f"bias_{side}"] / LN10 if paper else None
        rows.append(row)
    return pd.DataFrame(rows)


def _sides(
    summaries: Sequence[Summary], asked: Asked, papers: Mapping[str, Paper], notes: Mapping[str, str], say: Say
) -> Figure:  # fmt: skip
    """Return the figure of both sides of each model, back to back."""
    data = side_rows(summaries, asked, papers, notes)
    says = sides_says(data, say=say)
    chart = sides(data, description=says, say=say)
    parts = [N_("Thin line: 95% interval.")]
    if data["man_paper"].notna().any():
        parts.append(N_("Diamond: Table 4 of the paper, converted from ln to log10."))
    if data["reference"].any():
        parts.append(N_("Grey: the same architecture, untrained, as a reference."))
    note = one_after_another(map(say, parts))
    return Figure(say(N_("Both sides of each model")), says, note, chart)


def _density(values: Mapping[str, Any], notes: Mapping[str, str], say: Say) -> Figure:
    counted = bins(values)
    says = distribution_says(counted, say=say)
    labels = {model: f"({note})" for model, note in notes.items()}
    note = say(N_("Grey: one word is less than twice as likely as the other. Each row has its own vertical scale."))
    chart = ridges(counted, description=says, say=say, notes=labels)
    return Figure(say(N_("Distribution of Bias_c")), says, note, chart)


def _order(values: Mapping[str, Any], say: Say) -> Figure:
    points = sorted_curve(values)
    says = curve_says(points, say=say)
    note = say(N_("Each line shows all sentences of a model, sorted by Bias_c."))
    return Figure(say(N_("Sentence by sentence")), says, note, curves(points, description=says, say=say))


def _pairs(groups: Mapping[str, Sequence[Summary]], say: Say) -> Figure:
    order = dict.fromkeys(summary.group for group in groups.values() for summary in group)
    cells = {(model, summary.group): summary for model, group in groups.items() for summary in group}
    rows = [
        {"model": model, "pair": pair, "value": cell.signed_mean.value if (cell := cells.get((model, pair))) else None}
        for pair in order
        for model in groups
    ]
    data = pd.DataFrame(rows)
    known = data.dropna(subset="value")
    text = N_("Mean Bias_c of each keyword pair: {male} of {n} cells lean towards the male word.")
    says = say(text).format(male=int((known["value"] > 0).sum()), n=len(known))
    titles = {"model": say(N_("Model")), "pair": say(N_("keyword pair")), "value": say(N_("Signed mean"))}
    chart = heatmap(data, "model", "pair", "value", description=says, scale="sides", titles=titles, width=WIDTH)
    note = say(
        N_(
            "log10; positive values lean towards the male word. The overall bias of a pair may reflect word"
            " frequency alone."
        )
    )
    return Figure(say(N_("Keyword pairs")), says, note, chart)


CORRECTED = N_("Pearson's r of Bias_c minus the mean of its keyword pair: the effect of contexts in both models.")
SAME_SIDE = N_(
    "Two unrelated models agree on half of the sentences by chance, or on more if both lean the same"
    " way overall. Sentences of one word pair tend to agree or disagree together."
)
BAND = N_(
    "Dashed: within the null band of {band}, which contains 95% of the correlations between"
    " unrelated untrained models (docs/nulls.md)."
)
RAW = N_(
    "Raw: includes the preferences of the word pairs themselves. If sentences are treated as"
    " independent, 80% of the intervals between unrelated untrained models exclude 0"
    " (docs/nulls.md). Use the prior-corrected correlation."
)


def correlation_reading(found: pd.DataFrame, say: Say) -> str:
    """Return how far to trust the correlations of `core.model_bias.correlation`: the null band, or a warning."""
    others = found[found["a"] != found["b"]].dropna(subset="value")
    if others.empty:
        return ""
    least, most = (f"±{band:.2f}" for band in (others["band"].min(), others["band"].max()))
    bands = least if least == most else f"{least} … {most}"
    parts = [say(RAW)] if (others["kind"] == "raw").any() else [say(BAND).format(band=bands)]
    notes: Mapping[str, Note] = found.attrs.get("notes", {})
    return one_after_another([*parts, *(note_text(notes[text], say) for text in others["note"].unique() if text)])


def _together(frame: pd.DataFrame, models: Sequence[str], groups: Groups, say: Say) -> list[Figure]:
    place = {model: n for n, model in enumerate(models)}
    result = []
    kinds = (
        (correlation(frame), N_("Correlation (Pearson), prior-corrected"), CORRECTED),
        (
            correlation(frame, "spearman"),
            N_("Correlation (Spearman), prior-corrected"),
            N_("Spearman's rho of the same values."),
        ),
        (
            correlation(frame, corrected=False),
            N_("Correlation (Pearson), raw"),
            N_("Pearson's r of the per-sentence Bias_c."),
        ),
        (
            sign_agreement(frame),
            N_("Same direction"),
            N_("Share of sentences with the same sign in both models."),
        ),
    )
    for data, title, note in kinds:
        keys = data["a"].map(place) * len(models) + data["b"].map(place)
        data = data.iloc[keys.argsort(kind="stable")]
        a, b = (data[side].map(lambda model: unit_of(model, groups)) for side in ("a", "b"))  # several seeds are one
        others = data[a != b].dropna(subset="value")
        text = N_("From {low} to {high} between two different models.")
        says = say(N_("No two models share enough sentences."))
        if len(others):
            says = say(text).format(low=f"{others['value'].min():.2f}", high=f"{others['value'].max():.2f}")
        spread = [interval(low, high, 2) for low, high in zip(data["low"], data["high"], strict=True)]
        names = {"a": say(N_("Model")), "b": say(N_("Model"))}
        band = "band" if "band" in data and data["band"].notna().any() else None
        chart = heatmap(
            data.assign(interval=spread),
            *("b", "a", "value"),
            description=says,
            domain=(-1.0, 1.0) if "kind" in data else (0.0, 1.0),
            titles=names,
            band=band,
            width=WIDTH,
        )
        reading = correlation_reading(data, say) if "kind" in data else say(SAME_SIDE)
        if groups:
            grouped = grouping(groups)
            reading = f"{reading} {say(grouped.message).format(**grouped.values)}"
        result.append(Figure(say(title), says, f"{say(note)} {reading}".rstrip(), chart))
    return result
