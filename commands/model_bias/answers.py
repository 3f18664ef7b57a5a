"""What the command bias prints: summaries, nulls and differences as JSON and as tables for people."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd

from evenhand.commands.shared import with_reasons
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
DASH = "—"


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
    """The bounds in a line."""
    head = f"  missing        {found.missing:,} of {found.rows:,}"
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


def _mean_line(name: str, summary: Summary) -> str:
    estimate, ln = getattr(summary, name), summary.ln(name)
    if estimate.value is None:
        return f"  {MEANS[name]:<14} {DASH}  {estimate.reason}"
    first, second = estimate.interval_text(".4f"), ln.interval_text(".4f")
    line = f"  {MEANS[name]:<14} {estimate.value:>7.4f} {first:<19} {ln.value:>7.4f} {second}"
    return f"{line}  {estimate.note or ''}".rstrip()


def summary_text(summary: Summary) -> str:
    """One model for people."""
    obvious, mass, shares, auc, cut = (
        summary.obvious,
        summary.mass,
        summary.shares,
        summary.side_auc,
        summary.small_set_to_zero,
    )
    lines = [
        summary.model + ("  (reference: random weights)" if summary.reference else ""),
        f"  {summary.n:,} sentences; undefined {summary.undefined:,}, infinite {summary.infinite:,},"
        f" left out {summary.left_out:,}",
        f"  {'':<14} {'log10':>7} {'':<19} {'ln':>7}",
        *chain.from_iterable(_mean_lines(name, summary) for name in MEANS),
        f"  obvious        male word {obvious.male:,}, female word {obvious.female:,}, neither {obvious.none:,}",
        f"  pair mass      median {_number(mass.median, '.4f')}, under 1%: {_number(mass.small_share, '.1%')}"
        + (f"  {mass.reason}" if mass.reason else ""),
        f"  variance       word pairs {_number(shares.between_pairs, '.1%')} (of it mask widths"
        f" {_number(shares.widths, '.1%')}), contexts {_number(shares.contexts, '.1%')}"
        + (f"  {shares.reason}" if shares.reason else ""),
        f"  side AUC       {_number(auc.value, '.3f')} {auc.interval_text('.3f')}{auc.reason or ''} (0.5: nothing)",
        f"  |Bias_c| < 0.3 set to 0: Model_bias {_number(cut.model_bias, '.4f')}, mean |Bias_c|"
        f" {_number(cut.mean_abs, '.4f')} (log10)",
        missing_text(summary.missing),
        f"  denominator {summary.denominator}; {summary.units:,} units; {summary.drawn}",
        f"  {summary.signature}",
    ]
    return "\n".join(lines)


def _mean_lines(name: str, summary: Summary) -> list[str]:
    """A mean; below one over stems, what its interval is for these pairs alone."""
    fixed = summary.fixed_pairs.get(name)
    if fixed is None or fixed is getattr(summary, name) or fixed.value is None:
        return [_mean_line(name, summary)]
    below = f"over {summary.stems} stems of word pairs; for these pairs only: {fixed.interval_text('.4f') or DASH}"
    return [_mean_line(name, summary), f"  {'':<14} {below}"]


def _number(value: float | None, form: str) -> str:
    return DASH if value is None else format(value, form)


def groups_text(groups: Sequence[Summary], by: str) -> str:
    """A line per group; * marks a signed mean that differs from 0 after Holm's adjustment."""
    found = many_intervals([group.signed_mean for group in groups])
    head = f"  {'by ' + by:<14} {'n':>6} {'Bias_man':>9} {'Bias_woman':>10} {'Model_bias':>10} {'signed mean':>12}"
    lines = [head + "   (log10)"]
    for group, stays in zip(groups, found.stays, strict=True):
        numbers = [getattr(group, name).value for name in ("bias_man", "bias_woman", "model_bias", "signed_mean")]
        cells = [f"{_number(n, '.3f'):>{width}}" for n, width in zip(numbers, (9, 10, 10, 12), strict=True)]
        # A Chinese character is two columns wide.
        name = group.group + " " * (14 - sum(1 + (ord(letter) > 0x2E7F) for letter in group.group))
        star = " *" if stays else "  "
        lines.append(f"  {name} {group.n:>6} {' '.join(cells)}{star} {group.signed_mean.interval_text('.3f')}".rstrip())
    return "\n".join([*lines, f"  {found.sentence} (* signed mean)"])


def _p(p: float | None) -> str:
    return "p < 0.0001" if p is not None and p < 0.0001 else f"p = {_number(p, '.4f')}"


def nulls_text(nulls: Mapping[str, Null]) -> str:
    """A line per null."""
    lines = []
    for null in nulls.values():
        shown = f"{_number(null.observed, '.4f')}, null [{_number(null.low, '.4f')}, {_number(null.high, '.4f')}]"
        tested = f"{_p(null.p)} ({null.units} stems)" if null.reason is None else f"{_p(None)} {null.reason}"
        lines.append(f"  {NULL_OF[null.of]}\n    {shown}, {tested}")
    return "\n".join(lines)


def odd_lines(data: Mapping[str, Any]) -> list[str]:
    """The listed sentences without a finite value, a line each."""
    lines = [f"  undefined: row {row['row']}: {row['reason']}" for row in data["undefined_rows"]]
    return lines + [f"  infinite: row {row['row']}: leans {row['leans']}" for row in data["infinite_rows"]]


def seeds_text(name: str, estimates: Mapping[str, Estimate]) -> str:
    """The measures of a model over its seeds."""
    lines = [f"{name}, mean over its seeds (log10; the AUC has no base)"]
    for measure, one in estimates.items():
        shown = f"{_number(one.value, '.4f'):>8} {one.interval_text('.4f')} {one.reason or one.note or ''}"
        lines.append(f"  {MEANS.get(measure, 'side AUC'):<14} {shown}".rstrip())
    return "\n".join(lines)


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
) -> str:
    """Model a minus model b in words: shown to differ, shown to be smaller than the margin, or neither."""
    lines = [f"{a} minus {b}, same sentences (log10; the AUC has no base)"]
    for name, estimate in estimates.items():
        shown = f"{_number(estimate.value, '.4f'):>8} {estimate.interval_text('.4f'):<19}"
        line = f"  {MEANS.get(name, 'side AUC'):<14} {shown} {estimate.reason or estimate.note or ''}".rstrip()
        if (one := found[name]).smallest is not None:
            line += f" {one.text}"
        lines.append(line)
        if fixed[name] is not estimate and fixed[name].low is not None:
            lines.append(f"  {'':<14} {'':>8} for these pairs only: {fixed[name].interval_text('.4f')}")
    several = many_intervals(list(estimates.values())).sentence
    return "\n".join([*lines, f"  {margins_say(margins, str)}", f"  {several}"])


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


def correlation_text(found: pd.DataFrame, raw: pd.DataFrame) -> str:
    """A line for every two models; a star for those outside the null band."""
    lines = [
        "Correlations of two models, prior-corrected (raw holds the leans of the word pairs); * outside the null band"
    ]
    for one, other in zip(_each_once(found), _each_once(raw), strict=True):
        if pd.isna(one["value"]):
            lines.append(f"  {one['a']}, {one['b']}: {DASH} {one['reason']}")
            continue
        star = "*" if abs(one["value"]) > one["band"] else " "
        spread = (
            one["note"] if pd.isna(one["low"]) else f"[{one['low']:+.3f}, {one['high']:+.3f}] over {one['stems']} stems"
        )
        shown = f"{one['value']:+.3f} {star} {spread}"
        lines.append(
            f"  {one['a']}, {one['b']}: {shown}; band ±{one['band']:.2f}; raw {_number(other['value'], '+.3f')}"
        )
    return "\n".join(lines)


def _each_once(found: pd.DataFrame) -> list[dict[str, Any]]:
    place = {name: n for n, name in enumerate(dict.fromkeys(found["a"]))}
    return [row for row in found.to_dict("records") if place[row["a"]] < place[row["b"]]]
