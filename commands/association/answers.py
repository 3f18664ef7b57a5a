"""What the command association prints: groups, differences and hypotheses as JSON and for people."""

from typing import Any

import pandas as pd

from evenhand.core.association.crossing import signature
from evenhand.core.association.hypotheses import OUTCOMES, QUESTIONS, Verdict, means_of, multilingual, verdicts
from evenhand.core.association.measures import (
    Difference,
    Group,
    differences,
    differences_without_equal,
    groups,
    ranked,
    share_correlation,
)
from evenhand.core.association.published import compared_models, printed
from evenhand.core.association.table import models_of, rows_of, undefined_of
from evenhand.core.errors import N_, NotFound
from evenhand.core.statistics.equivalence import ANSWERS, equivalence

DASH = "—"
FOOT = (
    "ln(P_T / P_prior); positive: the profession makes the person word likelier. M - W: positive leans male; the thesis"
    " prints W - M. Means of models with different tokenizers do not compare."
)


def measured(frame: pd.DataFrame, language: str, *, margin: float | None, monolingual: str | None) -> dict[str, Any]:
    """Everything about every model of a table, in the order of the table."""
    names = models_of(frame)
    if monolingual is not None and monolingual not in names:
        raise NotFound(N_("{name} is not a model of this table. Its models: {known}"), name=monolingual,
                       known=", ".join(names))  # fmt: skip
    found = {name: _model(rows_of(frame, name), margin) for name in names}
    for name in names:
        first, other = compared_models(name, names, monolingual) or ("", "")
        if other == name:
            verdict = multilingual(rows_of(frame, first), rows_of(frame, other), margin)
            found[other]["hypotheses"].append(_verdict(verdict) | {"monolingual": first})
    rows = [
        {"model": one.model, "class": one.kind, "W": float(one.woman), "M": float(one.man),
         "w_minus_m": float(one.difference), "follows": one.follows}
        for one in printed(language)
    ]  # fmt: skip
    return {"models": found, "printed": rows}


def _model(rows: pd.DataFrame, margin: float | None) -> dict[str, Any]:
    described, by_class = groups(rows), differences(rows)
    professions = ranked(differences(rows, "profession_key"))
    fields = differences(rows, "field") if (rows["field"] != "").any() else []
    unit = by_class[0].unit if by_class else "pair"
    return {
        "signature": str(rows["signature"].iloc[0]),
        "interval": signature(unit),
        "undefined": undefined_of(rows),
        "groups": [_group(one) for one in described],
        "differences": [_difference(one, margin) for one in by_class],
        "differences_without_equal_pairs": [_difference(one, margin) for one in differences_without_equal(rows)],
        "fields": [_difference(one, margin) for one in fields],
        "professions": [_difference(one, margin) for one in professions],
        "women_share": {
            method: share_correlation(professions, method).to_json("units", reasons="every")
            for method in ("pearson", "spearman")
        },
        "hypotheses": [_verdict(one) for one in verdicts(means_of(described), by_class, margin)],
    }


def _group(one: Group) -> dict[str, Any]:
    numbers = one.numbers
    found = {name: getattr(numbers, name) for name in ("mean", "std", "max", "min", "q75", "q50", "q25")}
    reason = "No sentence of this group has a score." if not numbers.n else "A single sentence has no deviation."
    reasons = {f"{name}_reason": reason for name, value in found.items() if value is None}
    return {"class": one.kind, "gender": one.gender, "n": numbers.n, "undefined": one.undefined, **found, **reasons,
            "interval": one.mean.interval_json()}  # fmt: skip


def _difference(one: Difference, margin: float | None) -> dict[str, Any]:
    """A difference, whether it is smaller than the margin, and the smallest one that such data show."""
    data = {
        "name": one.name,
        "W": one.female,
        "M": one.male,
        "m_minus_w": one.estimate.to_json("units", reasons="every"),
    }
    data |= {"w_minus_m": one.w_minus_m, "professions": one.professions, "words": one.words, "unit": one.unit}
    data |= {"women": one.women, "stays_after_holm": one.stays}
    reasons = {
        "W": "The set has no female words here.",
        "M": "The set has no male words here.",
        "w_minus_m": str(one.estimate.reason),
        "women": "The set gives no single share of women here.",
    }
    data |= {f"{key}_reason": text for key, text in reasons.items() if data[key] is None}
    return data | {"equivalence": equivalence(one.estimate, margin).data}


def _verdict(one: Verdict) -> dict[str, Any]:
    evidence = [
        {
            "what": item.what,
            "wanted": f"{item.wanted} 0",
            "holds": item.holds,
            **item.estimate.to_json("units", reasons="every"),
        }
        for item in one.evidence
    ]
    for item, source in zip(evidence, one.evidence, strict=True):
        if item["holds"] is None:
            item["holds_reason"] = str(source.estimate.reason)
        if source.equivalence is not None:
            item["equivalence"] = source.equivalence.data
    data: dict[str, Any] = {"name": one.name, "reading": one.reading, "verdict": one.outcome, "evidence": evidence}
    data["clear"] = one.clear
    if one.clear is None:
        data["clear_reason"] = "A test says it, or an interval is missing."
    if one.equivalence is not None:
        data["equivalence"] = one.equivalence.data
    return data | ({"remark": str(one.remark)} if one.remark else {})


def for_people(data: dict[str, Any]) -> str:
    """The same for a terminal."""
    lines = [f"{data['language']}: {data['sentences']:,} sentences"]
    if "corpus" in data:
        lines.append(f"Written: {data['corpus']}")
    for name, one in data.get("models", {}).items():
        lines += ["", *_model_lines(name, one)]
    if data.get("models"):
        lines += ["", FOOT]
    if "out" in data:
        lines.append(f"Written: {data['out']}")
    return "\n".join(lines)


def _model_lines(name: str, one: dict[str, Any]) -> list[str]:
    lines = [name, f"  {one['signature']}"]
    if "passes" in one:
        lines.append(
            f"  {one['probes']:,} probes in {one['passes']:,} passes ({one['passes_saved']:,} saved, of these"
            f" {one['priors_saved']:,} by equal priors), {one['seconds']:.1f} s"
        )
    lines += [f"  {count:,} without a score: {reason}" for reason, count in one["undefined"].items()]
    lines.append(f"  {'class':9} {'persons':8} {'n':>5} {'mean':>7} {'std':>7} {'min':>7} {'50%':>7} {'max':>7}")
    for row in one["groups"]:
        cells = " ".join(f"{_number(row[key]):>7}" for key in ("mean", "std", "min", "q50", "max"))
        lines.append(f"  {row['class'] or DASH:9} {row['gender']:8} {row['n']:>5,} {cells}")
    for title, key in (("", "differences"), ("without equal pairs, ", "differences_without_equal_pairs")):
        for row in one[key]:
            found = row["m_minus_w"]
            interval = f"{_number(found['low'])} to {_number(found['high'])}"
            lines.append(
                f"  M - W, {title}{row['name'] or DASH} professions: {_number(found['value'])} ({interval};"
                f" {row['professions']} professions x {row['words']} {row['unit']}s)"
            )
            if (smallest := row["equivalence"]["smallest_shown"]) is not None:
                margin = row["equivalence"]["margin"]
                answer = f"margin {margin:g}: {ANSWERS[row['equivalence']['answer']]}; " if margin else ""
                lines.append(f"    {answer}minimum detectable difference {smallest:.3f} (in 80 of 100 cases)")
    for row in one["hypotheses"]:
        held = OUTCOMES[row["verdict"]] + (", intervals agree" if row["clear"] else "")
        remark = f" ({row['remark']})" if "remark" in row else ""
        lines.append(f"  {row['name']} ({QUESTIONS[row['name']]}), {row['reading']}: {held}{remark}")
    share = one["women_share"]["spearman"]
    if share["value"] is not None:
        lines.append(
            f"  Share of women with M - W over {share['units']} professions: Spearman {_number(share['value'])}"
            f" ({_number(share['low'])} to {_number(share['high'])})"
        )
    return lines


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:z.3f}"
