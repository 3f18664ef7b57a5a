"""What the command bias prints: summaries, nulls and differences as JSON and as tables for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from evenhand.commands.shared import with_reasons
from evenhand.commands.tables import DASH, number, table
from evenhand.core.model_bias import (
    NULL_OF,
    ManyIntervals,
    Null,
    Summary,
    in_ln,
    infinite_rows,
    many_intervals,
    undefined_rows,
)
from evenhand.core.model_bias.missing import MissingValues
from evenhand.core.report.several_models import margins_say
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import Equivalence, Margins
from evenhand.core.statistics.estimate import NO_INTERVAL

MEANS = {
    "bias_man": "Bias_man",
    "bias_woman": "Bias_woman",
    "model_bias": "Model_bias",
    "signed_mean": "signed mean",
    "mean_abs": "mean |Bias_c|",
}
FOOT = (
    "Positive leans towards the male word, negative towards the female word. Intervals: 95%, for these pairs only"
    " unless stems are named. Models are in the order of the file; a smaller bias is not necessarily better."
)


def mean_data(estimate: Estimate) -> dict[str, Any]:
    """A mean of Bias_c for JSON: log10 and ln, with intervals in both (`low`, `high` are log10)."""
    ln = in_ln(estimate)
    found = {
        "log10": estimate.value,
        "ln": ln.value,
        "low": estimate.low,
        "high": estimate.high,
        "low_ln": ln.low,
        "high_ln": ln.high,
    }
    note = {"note": str(estimate.note)} if estimate.note and estimate.low is not None else {}
    return with_reasons(found, estimate.missing) | note | estimate.method_data


def summary_data(summary: Summary) -> dict[str, Any]:
    """A summary as the JSON object of CONTRACT's `bias`, with what stands beside it."""
    mass, shares, cut = summary.mass, summary.shares, summary.small_set_to_zero
    return {
        "rows": summary.rows,
        "n": summary.n,
        "undefined": summary.undefined,
        "infinite": summary.infinite,
        "left_out": summary.left_out,
        "n_man": summary.n_man,
        "n_woman": summary.n_woman,
        **{name: mean_data(getattr(summary, name)) for name in MEANS},
        "denominator": summary.denominator,
        "obvious": {"male": summary.obvious.male, "female": summary.obvious.female, "none": summary.obvious.none},
        "pair_mass": with_reasons(
            {"median": mass.median, "under_1_percent": mass.small_share, "n": mass.n}, mass.reason
        ),
        "variance_shares": with_reasons(
            {name: getattr(shares, name) for name in ("widths", "pairs", "contexts", "total_sd", "context_sd")},
            shares.reason,
        ),
        "side_auc": summary.side_auc.to_json("units", reasons="every"),
        "missing": missing_data(summary.missing),
        "fixed_pairs": {
            "signed_mean": mean_data(summary.fixed_pairs["signed_mean"]),
            "side_auc": summary.fixed_pairs["side_auc"].to_json("units", reasons="every"),
        },
        "small_set_to_zero": {
            **with_reasons({"model_bias": cut.model_bias}, summary.model_bias.reason or "One side is empty then."),
            **with_reasons({"mean_abs": cut.mean_abs}, summary.mean_abs.reason),
            "zeroed": cut.zeroed,
        },
        "unit": summary.unit,
        "units": summary.units,
        "stems": summary.stems,
        "intervals": summary.drawn,
        "reference": summary.reference,
        "signature": summary.signature,
    }


def missing_data(found: MissingValues) -> dict[str, Any]:
    """The bounds for missing values for JSON; means in log10."""
    values = {
        "size": found.size,
        "signed_mean_if_female": found.signed_mean and found.signed_mean[0],
        "signed_mean_if_male": found.signed_mean and found.signed_mean[1],
        "male_share_if_female": found.male_share and found.male_share[0],
        "male_share_if_male": found.male_share and found.male_share[1],
    }
    counts = {"rows": found.rows, "missing": found.missing, "infinite": found.infinite, "size_is": found.chosen}
    return {**counts, **with_reasons(values, found.reason)}


def missing_text(found: MissingValues) -> str:
    """Return how many values are missing, and the bounds of the means if all of these leaned to one side."""
    head = f"{found.missing:,} of {found.rows:,}"
    if not found.missing + found.infinite:
        return head
    if found.signed_mean is None:
        return f"{head}  {found.reason}"
    how = "the largest |Bias_c|" if found.chosen == "largest" else "as asked"
    (low, high), (least, most) = found.signed_mean, found.male_share or (0.0, 0.0)
    return (
        f"{head}; if all leaned towards the female or the male word by {found.size:.3f} (log10, {how}): signed mean"
        f" {low:+.4f} to {high:+.4f}, share towards the male word {least:.1%} to {most:.1%}"
    )


def odd_rows(rows: pd.DataFrame, most: int) -> dict[str, Any]:
    """The sentences without a finite Bias_c, at most *most* of each kind; their number is in the summary."""
    undefined, infinite = undefined_rows(rows).head(most), infinite_rows(rows).head(most)
    return {
        "undefined_rows": [
            {"row": row.row, "sentence": row.sentence, "reason": row.status} for row in undefined.itertuples()
        ],
        "infinite_rows": [
            {"row": row.row, "sentence": row.sentence, "leans": "male" if row.bias_log10 > 0 else "female"}
            for row in infinite.itertuples()
        ],
    }


def null_data(null: Null) -> dict[str, Any]:
    """A null for JSON, with a sentence on the quantity that it belongs to."""
    values = {"observed": null.observed, "low": null.low, "high": null.high, "p": null.p}
    return {**with_reasons(values, null.reason), "stems": null.units, "says": NULL_OF[null.of]}


def several_data(found: ManyIntervals) -> dict[str, Any]:
    """What a table of intervals says together."""
    return {
        "intervals": found.intervals,
        "by_chance": found.by_chance,
        "exclude_0": sum(found.exclude),
        "after_holm": sum(found.stays),
    }


def summary_text(summary: Summary) -> Iterator[str]:
    """Yield the parts of the text about one model."""
    obvious, mass, shares, cut = summary.obvious, summary.mass, summary.shares, summary.small_set_to_zero
    yield summary.model + ("  (reference: random weights)" if summary.reference else "")
    yield (
        f"  {summary.n:,} sentences; undefined {summary.undefined:,}, infinite {summary.infinite:,},"
        f" left out {summary.left_out:,}"
    )
    means = [(MEANS[name], getattr(summary, name), summary.ln(name), _fixed_pairs(name, summary)) for name in MEANS]
    yield table(means, ["", "log10", "ln"], form=".4f", indent="  ")
    facts = {
        "side AUC": f"{summary.side_auc.text('.3f')} (0.5: nothing)",
        "obvious": f"male word {obvious.male:,}, female word {obvious.female:,}, neither {obvious.none:,}",
        "pair mass": f"median {number(mass.median, '.4f')}, under 1%: {number(mass.small_share, '.1%')}"
        f"  {mass.reason or ''}",
        "variance": f"word pairs {number(shares.between_pairs, '.1%')} (of it mask widths"
        f" {number(shares.widths, '.1%')}), contexts {number(shares.contexts, '.1%')}  {shares.reason or ''}",
        "|Bias_c| < 0.3 set to 0": f"Model_bias {number(cut.model_bias, '.4f')}, mean |Bias_c|"
        f" {number(cut.mean_abs, '.4f')} (log10)",
        "missing": missing_text(summary.missing),
        "denominator": f"{summary.denominator}; {summary.units:,} units; {summary.drawn}",
    }
    yield table(facts.items(), indent="  ")
    yield f"  {summary.signature}"


def _fixed_pairs(name: str, summary: Summary) -> str:
    """Return what the interval of a mean over stems is for these word pairs alone; "" for other means."""
    fixed = summary.fixed_pairs.get(name)
    if fixed is None or fixed is getattr(summary, name) or fixed.value is None:
        return ""
    return f"over {summary.stems} stems of word pairs; for these pairs only: {fixed.interval_text('.4f') or DASH}"


def groups_text(groups: Sequence[Summary], by: str) -> Iterator[str]:
    """Yield a row per group; * marks a signed mean that differs from 0 after Holm's adjustment."""
    several = many_intervals([group.signed_mean for group in groups])
    rows = [
        (
            group.group, group.n, group.bias_man.value, group.bias_woman.value, group.model_bias.value,
            group.signed_mean, "*" if stays else "",
        )
        for group, stays in zip(groups, several.stays, strict=True)
    ]  # fmt: skip
    yield table(rows, [f"by {by}", "n", "Bias_man", "Bias_woman", "Model_bias", "signed mean (log10)"], indent="  ")
    yield f"  {several.sentence} (* signed mean)"


def nulls_text(nulls: Mapping[str, Null]) -> Iterator[str]:
    """Yield two lines per null: what it is of, and what was observed."""
    for null in nulls.values():
        interval = f"[{number(null.low, '.4f')}, {number(null.high, '.4f')}]"
        p = "p < 0.0001" if null.p is not None and null.p < 0.0001 else f"p = {number(null.p, '.4f')}"
        yield f"  {NULL_OF[null.of]}"
        yield f"    {number(null.observed, '.4f')}, null {interval}, {p} ({null.reason or f'{null.units} stems'})"


def odd_lines(data: Mapping[str, Any]) -> list[str]:
    """The listed sentences without a finite value, a line each."""
    lines = [f"  undefined: row {row['row']}: {row['reason']}" for row in data["undefined_rows"]]
    return lines + [f"  infinite: row {row['row']}: leans {row['leans']}" for row in data["infinite_rows"]]


def seeds_text(name: str, estimates: Mapping[str, Estimate]) -> Iterator[str]:
    """Yield the measures of a model over its seeds."""
    yield f"{name}, mean over its seeds (log10; the AUC has no base)"
    rows = [(MEANS.get(measure, "side AUC"), estimate) for measure, estimate in estimates.items()]
    yield table(rows, form=".4f", indent="  ")


def measures_data(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, Any]]:
    """Means and the side AUC by name for JSON."""
    return {
        name: one.to_json("units", reasons="every") if name == "side_auc" else mean_data(one)
        for name, one in estimates.items()
    }


def difference_text(
    a: str,
    b: str,
    estimates: Mapping[str, Estimate],
    fixed: Mapping[str, Estimate],
    found: Mapping[str, Equivalence],
    margins: Margins,
) -> Iterator[str]:
    """Yield model a minus model b: shown to differ, shown to be smaller than the margin, or neither."""
    yield f"{a} minus {b}, same sentences (log10; the AUC has no base)"
    rows = [
        (
            MEANS.get(name, "side AUC"), estimate,
            "" if fixed[name] is estimate else fixed[name].interval_text(".4f"),
            found[name].text if found[name].smallest is not None else "",
        )
        for name, estimate in estimates.items()
    ]  # fmt: skip
    yield table(rows, ["", "difference", "for these pairs only"], form=".4f", indent="  ")
    yield f"  {margins_say(margins, str)}"
    yield f"  {many_intervals(list(estimates.values())).sentence}"


def correlation_data(found: pd.DataFrame, raw: pd.DataFrame) -> list[dict[str, Any]]:
    """The correlations of every two models once: prior-corrected with the null band, the raw one beside."""
    data = []
    for one, other in zip(_each_once(found), _each_once(raw), strict=True):
        names = ("value", "low", "high", "band")
        reasons = dict.fromkeys(names, str(one["reason"] or one["note"] or NO_INTERVAL))
        values = {name: None if pd.isna(one[name]) else float(one[name]) for name in names}
        row = {"a": one["a"], "b": one["b"], "kind": one["kind"], "n": one["n"], "stems": one["stems"], **values}
        row |= {f"{name}_reason": reasons[name] for name, value in values.items() if value is None}
        row["raw"] = None if pd.isna(other["value"]) else float(other["value"])
        data.append(row | ({"raw_reason": other["reason"]} if row["raw"] is None else {}))
    return data


def correlation_text(found: pd.DataFrame, raw: pd.DataFrame) -> Iterator[str]:
    """Yield a row for every two models; a star for those outside the null band."""
    yield "Correlations of two models, prior-corrected (raw holds the leans of the word pairs); * outside the null band"
    rows: list[Sequence[object]] = []
    for one, other in zip(_each_once(found), _each_once(raw), strict=True):
        names = f"{one['a']}, {one['b']}"
        if pd.isna(one["value"]):
            rows.append([names, None, "", one["reason"]])
            continue
        star = "*" if abs(one["value"]) > one["band"] else ""
        ends = one["note"] if pd.isna(one["low"]) else f"[{one['low']:+.3f}, {one['high']:+.3f}]"
        band = (one["stems"], f"±{one['band']:.2f}", (other["value"], "+.3f"))
        rows.append([names, (one["value"], "+.3f"), star, ends, *band])
    yield table(rows, ["", "correlation", "", "", "stems", "band", "raw"], indent="  ")


def _each_once(found: pd.DataFrame) -> list[dict[str, Any]]:
    place = {name: n for n, name in enumerate(dict.fromkeys(found["a"]))}
    return [row for row in found.to_dict("records") if place[row["a"]] < place[row["b"]]]
