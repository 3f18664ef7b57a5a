"""The four hypotheses of the thesis, read literally and relatively, each with its verdict and what it rests on.

| | literal | relative |
|---|---|---|
| H1 | mean(W, female) > 0 and mean(M, male) > 0 | W > M for female professions, M > W for male ones |
| H2 | mean(W, male) < 0 and mean(M, female) < 0 | the same two comparisons |
| H3 | the difference of balanced professions is 0: two one-sided tests against a margin that the user sets | |
| H4 | abs(difference) of a multilingual model < that of a monolingual one, class by class | |

A verdict goes by the values, as the thesis does; `clear` says whether the intervals agree with it (SPEC 2.7).

The printed Tables 4.5 to 4.8 of the thesis, to stand beside a user's own; never on one axis with them.

Means of models with different tokenizers do not compare, and the printed ones come from code that lets padding be
attended and cuts long sentences (SPEC 2.5): a correct run does not reproduce their decimals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from evenhand.core.association.measures import Crossing, Difference, Group, Means, Numbers, joint_interval, m_minus_w
from evenhand.core.errors import N_
from evenhand.core.published.claims import agrees, half_unit
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import Equivalence, equivalence

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
NO_BALANCED = Note(N_("The set has no balanced professions, or no difference for them."))
SENTENCE = ("row", "template", "person_key", "profession_key")  # what names a sentence of a set
LEFT_OUT = N_("Compared on the {sentences} sentences that both models scored; the others are excluded.")
NO_PARTNER = Note(N_("This needs a monolingual and a multilingual model on the same sentences."))
SAME = Note(N_("In the relative reading, H1 and H2 are the same two comparisons."))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison: what is compared, its value (ln), and whether it lies on the wanted side of 0.

    `holds` None: undefined. `clear`: the whole interval lies on the side that the value is on.
    """

    what: str
    estimate: Estimate
    wanted: Literal["above", "below"]
    equivalence: Equivalence | None = None  # of H4: the difference of two models against the margin

    @property
    def holds(self) -> bool | None:
        """Whether the value is on the wanted side."""
        value = self.estimate.value
        return None if value is None else (value > 0 if self.wanted == "above" else value < 0)

    @property
    def clear(self) -> bool | None:
        """Whether the interval excludes 0; None without an interval."""
        low, high = self.estimate.low, self.estimate.high
        return None if low is None or high is None else low > 0 or high < 0


@dataclass(frozen=True, slots=True)
class Verdict:
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
        """Whether every interval agrees; None where one lacks, and for H3, whose test says it."""
        found = [] if self.name == "H3" else [one.clear for one in self.evidence]
        return None if not found or None in found else all(found)


W_FEMALE = N_("female words, female professions")
M_MALE = N_("male words, male professions")
W_MALE = N_("female words, male professions")
M_FEMALE = N_("male words, female professions")
W_OVER_M = N_("W − M, female professions")
M_OVER_W = N_("M − W, male professions")
BALANCED = N_("M − W, balanced professions")

Means2 = Mapping[tuple[str, str], Estimate]  # (class, gender) -> mean association


def means_of(found: Sequence[Group]) -> dict[tuple[str, str], Estimate]:
    """The means of a describe table by class and gender."""
    return {(one.kind, one.gender): one.mean for one in found}


def verdicts(means: Means2, found: Sequence[Difference], margin: float | None = None) -> list[Verdict]:
    """H1 and H2 in both readings and H3, from the means and differences of one model."""
    by_class = {one.name: one.estimate for one in found}
    lacking = Estimate.undefined(NO_BALANCED)

    def mean(kind: str, gender: str) -> Estimate:
        return means.get((kind, gender), lacking)

    female, male = by_class.get("female", lacking), by_class.get("male", lacking)
    relative = (Evidence(W_OVER_M, _negated(female), "above"), Evidence(M_OVER_W, male, "above"))
    first = (Evidence(W_FEMALE, mean("female", "female"), "above"), Evidence(M_MALE, mean("male", "male"), "above"))
    second = (Evidence(W_MALE, mean("male", "female"), "below"), Evidence(M_FEMALE, mean("female", "male"), "below"))
    return [
        Verdict("H1", "literal", _outcome(first), first),
        Verdict("H1", "relative", _outcome(relative), relative),
        Verdict("H2", "literal", _outcome(second), second),
        Verdict("H2", "relative", _outcome(relative), relative, SAME),
        no_difference(by_class.get("balanced", lacking), margin),
    ]


def _outcome(evidence: Sequence[Evidence]) -> Outcome:
    found = [one.holds for one in evidence]
    if not found or None in found:
        return "undecided"
    return "yes" if all(found) else "half" if any(found) else "no"


def _negated(one: Estimate) -> Estimate:
    if one.value is None:
        return one
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return replace(one, value=-one.value, low=low, high=high)


def no_difference(estimate: Estimate, margin: float | None) -> Verdict:
    """H3: is the difference of balanced professions none? Not decided without a margin."""
    found = equivalence(estimate, margin)
    evidence = (Evidence(BALANCED, estimate, "above"),)
    return Verdict("H3", "literal", found.answer, evidence, found.remark, found)


def multilingual(monolingual: pd.DataFrame | None, other: pd.DataFrame | None, margin: float | None = None) -> Verdict:
    """H4: |M - W| of the multilingual model less that of the monolingual one, below 0 in every class.

    Both are on the same sentences, those for which each has a number, and drawn alike. It compares differences inside
    each model, never means of two models with different tokenizers. *margin* (ln): up to which size they do not differ.
    """
    if monolingual is None or other is None:
        return Verdict("H4", "literal", "undecided", (), NO_PARTNER)
    evidence = []
    shared = _same_sentences(other, monolingual)
    for kind in ("female", "balanced", "male"):
        parts = [Crossing.of(frame[frame["class"] == kind]) for frame in shared]
        shapes = {one.sums[gender].shape for one in parts for gender in one.sums}
        if len(shapes) == 1:
            estimate = joint_interval(parts, _smaller, "male", "female")
        else:
            estimate = Estimate.undefined(NO_PARTNER)
        evidence.append(Evidence(kind, estimate, "below", equivalence(estimate, margin)))
    left_out = len(_defined(other)) + len(_defined(monolingual)) > sum(map(len, shared))
    remark = Note(LEFT_OUT, {"sentences": len(shared[0])}) if left_out else None
    return Verdict("H4", "literal", _outcome(evidence), tuple(evidence), remark)


def _defined(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["association"].notna()]


def _same_sentences(one: pd.DataFrame, other: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of both models for the sentences that have a number under each, in one order."""
    names = [name for name in SENTENCE if name in one.columns and name in other.columns]
    frames = _defined(one), _defined(other)
    keys = [pd.MultiIndex.from_frame(frame[names]) for frame in frames]
    first, second = (
        frame[own.isin(theirs)].sort_values(names, kind="stable")
        for frame, own, theirs in zip(frames, keys, reversed(keys), strict=True)
    )
    return first, second


def _smaller(means: list[Means]) -> Numbers:
    found: Numbers = abs(m_minus_w(means[0])) - abs(m_minus_w(means[1]))
    return found


def published_verdicts(rows: Sequence[Mapping[str, str]]) -> list[Verdict]:
    """H1 and H2 of one model from the printed means of a table (`published_differences`), without intervals."""
    means: dict[tuple[str, str], Estimate] = {}
    found = []
    for row in rows:
        woman, man = float(row["woman"]), float(row["man"])
        means[row["class"], "female"], means[row["class"], "male"] = Estimate(woman), Estimate(man)
        found.append(Difference(row["class"], man, woman, Estimate(man - woman), 20, 9, "pair"))
    return [one for one in verdicts(means, found) if one.name != "H3"]


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
    """The printed rows of a language's table: classes female, balanced, male for each model; empty for others."""
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


def printed_verdicts(language: str) -> dict[str, list[Verdict]]:
    """H1 and H2 of each printed model, in both readings."""
    rows = [row for row in table("published_differences") if row["table"] == TABLES.get(language)]
    models = dict.fromkeys(row["model"] for row in rows)
    return {model: published_verdicts([row for row in rows if row["model"] == model]) for model in models}


def is_multilingual(model: str) -> bool | None:
    """Whether a model of the papers is multilingual; None for one that the list does not know."""
    languages = [row["language"] for row in table("models") if row["name"] == model]
    if model.startswith("demo-"):
        return False
    return languages[0] == "mul" if languages else None


def compared_models(model: str, models: Sequence[str], monolingual: str | None = None) -> tuple[str, str] | None:
    """Return the monolingual and the multilingual model that H4 compares for *model*, one of them itself.

    The other one is the first of *models* of the other kind. *monolingual*: the one monolingual model, where the kinds
    are not those of the papers. None where a kind is unknown or there is no other model.
    """
    kinds = {name: is_multilingual(name) if monolingual is None else name != monolingual for name in models}
    if kinds[model] is None:
        return None
    other = next((name for name in models if kinds[name] is not None and kinds[name] != kinds[model]), None)
    if other is None:
        return None
    return (other, model) if kinds[model] else (model, other)
