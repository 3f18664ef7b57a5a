"""What a table of associations says of each model: groups, differences, hypotheses, and printed values."""

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from evenhand.core.association.hypotheses import (
    Evidence,
    Verdict,
    compared_models,
    means_of,
    multilingual,
    printed,
    verdicts,
)
from evenhand.core.association.measures import (
    Difference,
    Group,
    differences,
    differences_without_equal,
    groups,
    ranked,
    share_correlation,
    signature,
)
from evenhand.core.association.table import models_of, rows_of, undefined_of
from evenhand.core.errors import N_, NotFound
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import Equivalence, equivalence
from evenhand.core.typed_json import fields_of, to_json, with_reasons


@dataclass(frozen=True, slots=True)
class ModelMeasures:
    """The measures of one model. `margin` (ln): up to which size a difference counts as none; None for no margin."""

    signature: str
    interval: str
    undefined: dict[str, int]
    groups: list[Group]
    differences: list[Difference]
    differences_without_equal_pairs: list[Difference]
    fields: list[Difference]
    professions: list[Difference]
    women_share: dict[str, Estimate]
    hypotheses: list[Verdict]
    margin: float | None

    @classmethod
    def of(cls, rows: pd.DataFrame, margin: float | None) -> "ModelMeasures":
        """Measure the rows of one model."""
        described, by_class = groups(rows), differences(rows)
        professions = ranked(differences(rows, "profession_key"))
        return cls(
            signature=str(rows["signature"].iloc[0]),
            interval=signature(by_class[0].unit if by_class else "pair"),
            undefined=undefined_of(rows),
            groups=described,
            differences=by_class,
            differences_without_equal_pairs=differences_without_equal(rows),
            fields=differences(rows, "field") if (rows["field"] != "").any() else [],
            professions=professions,
            women_share={method: share_correlation(professions, method) for method in ("pearson", "spearman")},
            hypotheses=verdicts(means_of(described), by_class, margin),
            margin=margin,
        )

    def against_margin(self, difference: Difference) -> Equivalence:
        """Return whether a difference is smaller than the margin, and the smallest one that such data show."""
        return equivalence(difference.estimate, self.margin)

    def to_json(self) -> dict[str, Any]:
        """Return the measures; undefined numbers have their reasons."""
        data: dict[str, Any] = to_json(
            {name: value for name, value in fields_of(self).items() if name != "margin"},
            {Estimate: _estimate, Group: _group, Difference: self._difference, Verdict: _verdict},
        )
        return data

    def _difference(self, one: Difference) -> dict[str, Any]:
        data = {
            "name": one.name, "W": one.female, "M": one.male, "m_minus_w": _estimate(one.estimate),
            "w_minus_m": one.w_minus_m, "professions": one.professions, "words": one.words, "unit": one.unit,
            "women": one.women, "stays_after_holm": one.stays, "equivalence": self.against_margin(one).data,
        }  # fmt: skip
        reasons = {**NO_WORDS, "w_minus_m": str(one.estimate.reason)}
        return data | {f"{key}_reason": reason for key, reason in reasons.items() if data[key] is None}


NO_WORDS = {
    "W": "The set has no female words here.",
    "M": "The set has no male words here.",
    "women": "The set gives no single share of women here.",
}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return estimate.to_json("units", reasons="every")


def _group(group: Group) -> dict[str, Any]:
    reason = "A single sentence has no deviation." if group.numbers.n else "No sentence of this group has a score."
    described = with_reasons(fields_of(group.numbers), reason)
    names = {"class": group.kind, "gender": group.gender, "undefined": group.undefined}
    return {**names, **described, "interval": group.mean.interval_json()}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    data: dict[str, Any] = {"name": verdict.name, "reading": verdict.reading, "verdict": verdict.outcome}
    data |= {"evidence": [_evidence(item) for item in verdict.evidence], "clear": verdict.clear}
    data |= {} if verdict.clear is not None else {"clear_reason": "A test says it, or an interval is missing."}
    data |= {} if verdict.equivalence is None else {"equivalence": verdict.equivalence.data}
    named = {"remark": verdict.remark and str(verdict.remark), "monolingual": verdict.monolingual}
    return data | {key: value for key, value in named.items() if value}


def _evidence(item: Evidence) -> dict[str, Any]:
    data = {"what": item.what, "wanted": f"{item.wanted} 0", "holds": item.holds, **_estimate(item.estimate)}
    data |= {} if item.holds is not None else {"holds_reason": str(item.estimate.reason)}
    return data | ({} if item.equivalence is None else {"equivalence": item.equivalence.data})


def measured(
    frame: pd.DataFrame, margin: float | None = None, monolingual: str | None = None
) -> dict[str, ModelMeasures]:
    """Return the measures of every model of a table, in its order. Raises NotFound for an unknown *monolingual* one.

    A model is compared with its monolingual partner in H4.
    """
    names = models_of(frame)
    if monolingual is not None and monolingual not in names:
        known = ", ".join(names)
        raise NotFound(N_("{name} is not a model of this table. Its models: {known}"), name=monolingual, known=known)
    found = {name: ModelMeasures.of(rows_of(frame, name), margin) for name in names}
    for name in names:
        first, other = compared_models(name, names, monolingual) or ("", "")
        if other == name:
            verdict = multilingual(rows_of(frame, first), rows_of(frame, other), margin)
            found[other].hypotheses.append(replace(verdict, monolingual=first))
    return found


def printed_json(language: str) -> list[dict[str, Any]]:
    """Return the printed differences of a language."""
    return [
        {
            "model": row.model, "class": row.kind, "W": float(row.woman), "M": float(row.man),
            "w_minus_m": float(row.difference), "follows": row.follows,
        }
        for row in printed(language)
    ]  # fmt: skip
