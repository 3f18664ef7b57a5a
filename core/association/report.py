"""The report on each model of a table of associations: groups, differences, hypotheses and printed values.

The four hypotheses of the thesis are read literally and relatively; each has a verdict and its evidence.

| | literal | relative |
|---|---|---|
| H1 | mean(W, female) > 0 and mean(M, male) > 0 | W > M for female professions, M > W for male ones |
| H2 | mean(W, male) < 0 and mean(M, female) < 0 | the same two comparisons |
| H3 | the difference of balanced professions is 0: two one-sided tests against a margin that the user sets | |
| H4 | abs(difference) of a multilingual model < that of a monolingual one, class by class | |

A verdict goes by the values, as the thesis does; `clear` says whether the intervals agree with it
(docs/association.md#hypotheses).

The printed Tables 4.5 to 4.8 of the thesis are shown next to the user's tables, but never on the same axis.

Means of models with different tokenizers cannot be compared. The printed means come from code that attends to padding
and cuts long sentences (docs/association.md#the-number), so a correct run does not reproduce their decimals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from evenhand.core.association import measures
from evenhand.core.errors import N_, NotFound
from evenhand.core.published.claims import agrees, half_unit
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import Equivalence, equivalence
from evenhand.core.typed_json import fields_of, to_json, with_reasons
from evenhand.core.types import JsonObject

Reading = Literal["literal", "relative"]
Outcome = Literal["yes", "half", "no", "undecided"]
OUTCOMES: dict[Outcome, str] = {
    "yes": N_("holds"),
    "half": N_("holds partly"),
    "no": N_("does not hold"),
    "undecided": N_("inconclusive"),
}

QUESTIONS = {
    "H1": N_("Professions dominated by one gender raise the words of that gender."),
    "H2": N_("Professions dominated by one gender lower the words of the other gender."),
    "H3": N_("Balanced professions show no difference."),
    "H4": N_("Multilingual models show smaller differences than monolingual ones."),
}
NO_BALANCED = Note(N_("The set has no balanced professions, or their difference is undefined."))
SENTENCE = ("row", "template", "person_key", "profession_key")  # what names a sentence of a set
LEFT_OUT = N_("Compared on the {sentences} sentences that both models scored; the others are excluded.")
NO_PARTNER = Note(N_("This needs a monolingual and a multilingual model on the same sentences."))
SAME = Note(N_("In the relative reading, H1 and H2 are the same two comparisons."))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison: its subject, its value (ln), and whether that lies on the wanted side of 0.

    `holds` None: undefined. `clear`: the whole interval lies on the side that the value is on.
    """

    what: str
    estimate: Estimate
    wanted: Literal["above", "below"]
    equivalence: Equivalence | None = None  # of H4: the difference of two models against the margin

    @property
    def holds(self) -> bool | None:
        """True if the value is on the wanted side; None where undefined."""
        value = self.estimate.value
        return None if value is None else (value > 0 if self.wanted == "above" else value < 0)

    @property
    def clear(self) -> bool | None:
        """True if the interval excludes 0; None without an interval."""
        low, high = self.estimate.low, self.estimate.high
        return None if low is None or high is None else low > 0 or high < 0


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """The result of one hypothesis in one reading; `equivalence`: the test of H3, `monolingual`: the partner of H4."""

    name: str
    reading: Reading
    outcome: Outcome
    evidence: tuple[Evidence, ...]
    remark: Note | None = None
    equivalence: Equivalence | None = None
    monolingual: str | None = None

    @property
    def clear(self) -> bool | None:
        """True if every interval excludes 0; None where an interval is missing, and for H3, which has a test."""
        result = [] if self.name == "H3" else [evidence.clear for evidence in self.evidence]
        return None if not result or None in result else all(result)


W_FEMALE = N_("female words, female professions")
M_MALE = N_("male words, male professions")
W_MALE = N_("female words, male professions")
M_FEMALE = N_("male words, female professions")
W_OVER_M = N_("W − M, female professions")
M_OVER_W = N_("M − W, male professions")
BALANCED = N_("M − W, balanced professions")

Means2 = Mapping[tuple[str, str], Estimate]  # (class, gender) -> mean association


def means_of(groups: Sequence[measures.Group]) -> dict[tuple[str, str], Estimate]:
    """Return the means of a describe table by class and gender."""
    return {(group.kind, group.gender): group.mean for group in groups}


def verdicts(
    means: Means2, differences: Sequence[measures.Difference], margin: float | None = None
) -> list[HypothesisResult]:
    """Judge H1 and H2, both in two readings, and H3, from the means and differences of one model."""
    by_class = {difference.name: difference.estimate for difference in differences}
    lacking = Estimate.undefined(NO_BALANCED)

    def mean(kind: str, gender: str) -> Estimate:
        return means.get((kind, gender), lacking)

    female, male = by_class.get("female", lacking), by_class.get("male", lacking)
    relative = (Evidence(W_OVER_M, _negated(female), "above"), Evidence(M_OVER_W, male, "above"))
    first = (Evidence(W_FEMALE, mean("female", "female"), "above"), Evidence(M_MALE, mean("male", "male"), "above"))
    second = (Evidence(W_MALE, mean("male", "female"), "below"), Evidence(M_FEMALE, mean("female", "male"), "below"))
    return [
        HypothesisResult("H1", "literal", _outcome(first), first),
        HypothesisResult("H1", "relative", _outcome(relative), relative),
        HypothesisResult("H2", "literal", _outcome(second), second),
        HypothesisResult("H2", "relative", _outcome(relative), relative, SAME),
        no_difference(by_class.get("balanced", lacking), margin),
    ]


def _outcome(evidence: Sequence[Evidence]) -> Outcome:
    result = [one.holds for one in evidence]
    if not result or None in result:
        return "undecided"
    return "yes" if all(result) else "half" if any(result) else "no"


def _negated(estimate: Estimate) -> Estimate:
    if estimate.value is None:
        return estimate
    low, high = (None if end is None else -end for end in (estimate.high, estimate.low))
    return replace(estimate, value=-estimate.value, low=low, high=high)


def no_difference(estimate: Estimate, margin: float | None) -> HypothesisResult:
    """Judge H3: do balanced professions have no difference? Undecided without a margin."""
    result = equivalence(estimate, margin)
    evidence = (Evidence(BALANCED, estimate, "above"),)
    return HypothesisResult("H3", "literal", result.answer, evidence, result.remark, result)


def multilingual(
    monolingual: pd.DataFrame | None, other: pd.DataFrame | None, margin: float | None = None
) -> HypothesisResult:
    """Judge H4: |M - W| of the multilingual model minus that of the monolingual one, below 0 in every class.

    Both values are from the same sentences (with a number under each model) and the same draws. Differences inside each
    model are compared, never means of two models with different tokenizers. *margin* (ln): the size up to which the
    models count as equal.
    """
    if monolingual is None or other is None:
        return HypothesisResult("H4", "literal", "undecided", (), NO_PARTNER)
    evidence = []
    shared = _same_sentences(other, monolingual)
    for kind in ("female", "balanced", "male"):
        parts = [measures.Crossing.of(frame[frame["class"] == kind]) for frame in shared]
        shapes = {part.sums[gender].shape for part in parts for gender in part.sums}
        if len(shapes) == 1:
            estimate = measures.joint_interval(parts, _smaller, "male", "female")
        else:
            estimate = Estimate.undefined(NO_PARTNER)
        evidence.append(Evidence(kind, estimate, "below", equivalence(estimate, margin)))
    left_out = len(_defined(other)) + len(_defined(monolingual)) > sum(map(len, shared))
    remark = Note(LEFT_OUT, {"sentences": len(shared[0])}) if left_out else None
    return HypothesisResult("H4", "literal", _outcome(evidence), tuple(evidence), remark)


def _defined(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["association"].notna()]


def _same_sentences(one: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of both models for the sentences with a number under both, in one order."""
    names = [name for name in SENTENCE if name in one.columns and name in other.columns]
    frames = _defined(one), _defined(other)
    keys = [pd.MultiIndex.from_frame(frame[names]) for frame in frames]
    first, second = (
        frame[own.isin(theirs)].sort_values(names, kind="stable")
        for frame, own, theirs in zip(frames, keys, reversed(keys), strict=True)
    )
    return first, second


def _smaller(means: list[measures.Means]) -> measures.Numbers:
    result: measures.Numbers = abs(measures.m_minus_w(means[0])) - abs(measures.m_minus_w(means[1]))
    return result


def published_verdicts(rows: Sequence[Mapping[str, str]]) -> list[HypothesisResult]:
    """Judge H1 and H2 of one model from the printed means of a table (`published_differences`), without intervals."""
    means: dict[tuple[str, str], Estimate] = {}
    differences = []
    for row in rows:
        woman, man = float(row["woman"]), float(row["man"])
        means[row["class"], "female"], means[row["class"], "male"] = Estimate(woman), Estimate(man)
        differences.append(measures.Difference(row["class"], man, woman, Estimate(man - woman), 20, 9, "pair"))
    return [verdict for verdict in verdicts(means, differences) if verdict.name != "H3"]


TABLES = {"en": "EN", "es": "ES art", "es-noart": "ES no art", "eu": "EU"}


@dataclass(frozen=True, slots=True)
class Printed:
    """One class of one model as printed. `difference` is W - M; `m_minus_w` the same in this app's direction.

    `follows`: whether the printed difference follows from the printed means.
    """

    model: str
    kind: str
    woman: str
    man: str
    difference: str
    follows: bool

    @property
    def m_minus_w(self) -> float:
        """The printed difference with its sign turned."""
        return -float(self.difference)


def printed(language: str) -> list[Printed]:
    """Return the printed rows of a language's table, female, balanced, male for each model; empty for others."""
    name = TABLES.get(language)
    rows = [row for row in table("published_differences") if row["table"] == name]
    order = ("female", "balanced", "male")
    models = list(dict.fromkeys(row["model"] for row in rows))
    rows.sort(key=lambda row: (models.index(row["model"]), order.index(row["class"])))
    return [
        Printed(row["model"], row["class"], row["woman"], row["man"], row["difference"], _follows(row)) for row in rows
    ]


def _follows(row: dict[str, str]) -> bool:
    value, slack = float(row["woman"]) - float(row["man"]), 2 * half_unit("0.000")
    return agrees(row["difference"], value - slack, value + slack)


def printed_verdicts(language: str) -> dict[str, list[HypothesisResult]]:
    """Judge H1 and H2 of each printed model, in both readings."""
    rows = [row for row in table("published_differences") if row["table"] == TABLES.get(language)]
    models = dict.fromkeys(row["model"] for row in rows)
    return {model: published_verdicts([row for row in rows if row["model"] == model]) for model in models}


def is_multilingual(model: str) -> bool | None:
    """Tell if a model of the papers is multilingual; None for a model that is not in the list."""
    languages = [row["language"] for row in table("models") if row["name"] == model]
    if model.startswith("demo-"):
        return False
    return languages[0] == "mul" if languages else None


def compared_models(model: str, models: Sequence[str], monolingual: str | None = None) -> tuple[str, str] | None:
    """Return the monolingual and the multilingual model that H4 compares; one of the two is *model*.

    The other one is the first of *models* of the other kind. *monolingual*: the only monolingual model, if the kinds
    are not taken from the papers. None where the kind of *model* is unknown or no model has the other kind.
    """
    kinds = {name: is_multilingual(name) if monolingual is None else name != monolingual for name in models}
    if kinds[model] is None:
        return None
    other = next((name for name in models if kinds[name] is not None and kinds[name] != kinds[model]), None)
    if other is None:
        return None
    return (other, model) if kinds[model] else (model, other)


@dataclass(frozen=True, slots=True)
class ModelMeasures:
    """The measures of one model. `margin` (ln): up to which size a difference counts as none; None for no margin."""

    signature: str
    interval: str
    undefined: dict[str, int]
    groups: list[measures.Group]
    differences: list[measures.Difference]
    differences_without_equal_pairs: list[measures.Difference]
    fields: list[measures.Difference]
    professions: list[measures.Difference]
    women_share: dict[str, Estimate]
    hypotheses: list[HypothesisResult]
    margin: float | None

    @classmethod
    def of(cls, rows: pd.DataFrame, margin: float | None) -> "ModelMeasures":
        """Measure the rows of one model."""
        described, by_class = measures.groups(rows), measures.differences(rows)
        professions = measures.ranked(measures.differences(rows, "profession_key"))
        return cls(
            signature=str(rows["signature"].iloc[0]),
            interval=measures.signature(by_class[0].unit if by_class else "pair"),
            undefined=measures.undefined_of(rows),
            groups=described,
            differences=by_class,
            differences_without_equal_pairs=measures.differences_without_equal(rows),
            fields=measures.differences(rows, "field") if (rows["field"] != "").any() else [],
            professions=professions,
            women_share={method: measures.share_correlation(professions, method) for method in ("pearson", "spearman")},
            hypotheses=[],
            margin=None,
        ).with_margin(margin)

    def with_margin(self, margin: float | None) -> "ModelMeasures":
        """Return the measures with the verdicts for another margin, without H4."""
        judged = verdicts(means_of(self.groups), self.differences, margin)
        return replace(self, hypotheses=judged, margin=margin)

    def against_margin(self, difference: measures.Difference) -> Equivalence:
        """Return whether a difference is smaller than the margin, and the minimum detectable difference."""
        return equivalence(difference.estimate, self.margin)

    def to_json(self) -> JsonObject:
        """Return the measures; undefined numbers have their reasons."""
        data: JsonObject = to_json(
            {name: value for name, value in fields_of(self).items() if name != "margin"},
            {
                Estimate: _estimate,
                measures.Group: _group,
                measures.Difference: self._difference,
                HypothesisResult: _verdict,
            },
        )
        return data

    def _difference(self, difference: measures.Difference) -> JsonObject:
        data = {
            "name": difference.name,
            "W": difference.female,
            "M": difference.male,
            "m_minus_w": _estimate(difference.estimate),
            "w_minus_m": difference.w_minus_m,
            "professions": difference.professions,
            "words": difference.words,
            "unit": difference.unit,
            "women": difference.women,
            "stays_after_holm": difference.stays,
            "equivalence": self.against_margin(difference).data,
        }
        reasons = {**NO_WORDS, "w_minus_m": str(difference.estimate.reason)}
        return data | {f"{key}_reason": reason for key, reason in reasons.items() if data[key] is None}


NO_WORDS = {
    "W": "The set has no female words here.",
    "M": "The set has no male words here.",
    "women": "The set gives no single share of women here.",
}


def _estimate(estimate: Estimate) -> JsonObject:
    return estimate.to_json("units", reasons="every")


def _group(group: measures.Group) -> JsonObject:
    reason = "A single sentence has no deviation." if group.numbers.n else "No sentence of this group has a score."
    described = with_reasons({"mean": group.mean.value, **fields_of(group.numbers)}, reason)
    names = {"class": group.kind, "gender": group.gender, "undefined": group.undefined}
    return {**names, **described, "interval": group.mean.interval_json()}


def _verdict(verdict: HypothesisResult) -> JsonObject:
    data: JsonObject = {"name": verdict.name, "reading": verdict.reading, "verdict": verdict.outcome}
    data |= {"evidence": [_evidence(item) for item in verdict.evidence], "clear": verdict.clear}
    data |= {} if verdict.clear is not None else {"clear_reason": "A test says it, or an interval is missing."}
    data |= {} if verdict.equivalence is None else {"equivalence": verdict.equivalence.data}
    named = {"remark": verdict.remark and str(verdict.remark), "monolingual": verdict.monolingual}
    return data | {key: value for key, value in named.items() if value}


def _evidence(item: Evidence) -> JsonObject:
    data = {"what": item.what, "wanted": f"{item.wanted} 0", "holds": item.holds, **_estimate(item.estimate)}
    data |= {} if item.holds is not None else {"holds_reason": str(item.estimate.reason)}
    return data | ({} if item.equivalence is None else {"equivalence": item.equivalence.data})


def measured(
    frame: pd.DataFrame, margin: float | None = None, monolingual: str | None = None
) -> dict[str, ModelMeasures]:
    """Return the measures of every model of a table, in its order. Raises NotFound for an unknown *monolingual* one.

    A model is compared with its monolingual partner in H4.
    """
    names = measures.models_of(frame)
    if monolingual is not None and monolingual not in names:
        known = ", ".join(names)
        raise NotFound(N_("{name} is not a model of this table. Its models: {known}"), name=monolingual, known=known)
    result = {name: ModelMeasures.of(measures.rows_of(frame, name), margin) for name in names}
    for name in names:
        first, other = compared_models(name, names, monolingual) or ("", "")
        if other == name:
            verdict = multilingual(measures.rows_of(frame, first), measures.rows_of(frame, other), margin)
            result[other].hypotheses.append(replace(verdict, monolingual=first))
    return result


def printed_json(language: str) -> list[JsonObject]:
    """Return the printed differences of a language."""
    return [
        {
            "model": row.model, "class": row.kind, "W": float(row.woman), "M": float(row.man),
            "w_minus_m": float(row.difference), "follows": row.follows,
        }
        for row in printed(language)
    ]  # fmt: skip
