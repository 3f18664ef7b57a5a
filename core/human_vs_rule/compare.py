"""People compared with the rule: cells with intervals over contexts, the confusion matrix, weighted rates.

Bins sort the generations over which a person and the rule differ, so that a reader can check the reasons.

The rule sees only the first pronoun (docs/human_vs_rule.md#why-they-differ). The bin follows from the person's label,
tags and marks, and from the place of the first pronoun. It is a first sorting, not a finding. In this order:

person: misgendering, rule: correct
    unknown_form    the text has no form that the data set counts (themselves; hers in RUFF)
    later_pronoun   the first pronoun is right, a later one is wrong: it is marked, or it is a form of another set
person: no misgendering, rule: misgendering
    not_person      the pronoun does not refer to a person: the tag "talks about pronouns", a pronoun in quotation
                    marks or next to a slash, a form of it, or they after a plural of things
    plural_they     the label is plural they
    other_referent  the first pronoun is wrong for the person of the text, so it refers to another person
all other cases
    other
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.apply_rule import CHOICES, STRATUM, beside_labels, binary, with_verdicts
from evenhand.core.human_vs_rule.means_over_contexts import (
    NOTHING,
    Mean,
    Weighted,
    codes_of,
    context_means,
    signature,
    weighted,
)
from evenhand.core.resources import table
from evenhand.core.statistics import Estimate, Note, Resampling, cohen_kappa
from evenhand.core.statistics.prediction_powered import VERSION as RATES_VERSION
from evenhand.core.statistics.prediction_powered import Labels, Rates, prediction_powered, rate_of_people
from evenhand.core.text.pronouns import RuleResult, names_of, sets
from evenhand.core.text.repetition import Repeated, Variant, full_text, repetitiveness, summary

Bin = Literal["later_pronoun", "other_referent", "plural_they", "not_person", "unknown_form", "other"]

BINS: dict[Bin, str] = {
    "later_pronoun": N_("Later pronoun"),
    "other_referent": N_("Other referent"),
    "plural_they": N_("Plural they"),
    "not_person": N_("Not a person"),
    "unknown_form": N_("Form not covered"),
    "other": N_("Something else"),
}
MEANT: dict[Bin, str] = {
    "later_pronoun": N_("The first pronoun is correct; a wrong one follows later."),
    "other_referent": N_("The first pronoun refers to someone else."),
    "plural_they": N_("They refers to more than one person."),
    "not_person": N_("The pronoun refers to a thing, or is mentioned rather than used."),
    "unknown_form": N_("The text contains no pronoun form that the data set covers."),
    "other": N_("None of these."),
}
THINGS = frozenset({"it", "its", "itself"})
QUOTES = "\"'“”‘’"
_PLURAL = re.compile(
    r"\b(?:the|these|those|some|many|several|all|most|few|both|two|three|of|his|her|their|xyr|xir|its|my|our|your)\s+"
    r"(?:[\w-]+\s+)?([a-z]{3,}s|children|people|men|women|staff)\b"
)
_WORD = re.compile(r"\w+")


def bin_of(
    choice: str,
    tags: Collection[str],
    marks: Iterable[tuple[int, int, str]],
    text: str,
    own: Sequence[str],
    dataset: str,
    rule: RuleResult,
) -> Bin | None:
    """Return the bin of one person's label against the rule; None where both agree or the rule has no verdict."""
    said = binary(choice)
    if rule.correct is None or said == rule.correct:
        return None
    if said == 0:
        if rule.pronoun is None:
            return "unknown_form"
        after = rule.end or 0
        if any(kind == "pronoun" and start >= after for start, _end, kind in marks):
            return "later_pronoun"
        later = (word.group().lower() for word in _WORD.finditer(text, after))
        wrong = any((names := names_of(form, dataset)) and not set(names) & set(own) for form in later)
        return "later_pronoun" if wrong else "other"
    if _no_person(tags, choice, text, dataset, rule):
        return "not_person"
    if choice == "plural_they":
        return "plural_they"
    return "other_referent" if rule.pronoun is not None else "other"


def _no_person(tags: Collection[str], choice: str, text: str, dataset: str, rule: RuleResult) -> bool:
    if rule.pronoun is None or rule.start is None or rule.end is None:
        return False
    before, after = text[max(0, rule.start - 1) : rule.start], text[rule.end : rule.end + 1]
    spoken_about = "/" in (before, after) or (before in QUOTES and after in QUOTES and bool(before and after))
    if "meta_pronouns" in tags or spoken_about or rule.pronoun in THINGS:
        return True
    is_they = "they" in names_of(rule.pronoun, dataset) or rule.pronoun in sets("own")["they"].forms
    return is_they and choice != "plural_they" and _things_before(text[: rule.start])


def _things_before(text: str) -> bool:
    """Tell if the last plural after a word such as *the* or *some* is missing from the list of words for people."""
    plurals = [match.group(1) for match in _PLURAL.finditer(text.lower())]
    return bool(plurals) and plurals[-1] not in _people()


@cache
def _people() -> frozenset[str]:
    return frozenset(word for row in table("people_words") for word in row["words"].split())


ONE_ANSWER = Note(
    N_(
        "The annotators or the rule gave the same answer for every text, so kappa is 0 by definition and"
        " has no interval."
    )
)
VERSION = 3  # of the method: raise it when a number may change
MEASURES = ("agreement", *CHOICES, "extraneous", "rule_misgendering", "rule_no_pronoun")
BY = ("model", "pronoun", "setting")
FEWEST_FURTHER = 30  # generations without labels, from which their rate says nothing of a single one


@dataclass(frozen=True, slots=True)
class Cell:
    """A model with a pronoun set and a setting, or any other group: `key` holds one value per column of *by*.

    `means`: measure of MEASURES -> its mean over generations. `counts`: how often each of the four labels was given.
    """

    key: tuple[str, ...]
    generations: int
    counts: dict[str, int]
    means: dict[str, Mean]


@dataclass(frozen=True, slots=True)
class AnnotatorLabel:
    """The label of one annotator on a generation, with its marks."""

    annotator: str
    choice: str
    extraneous: bool | None
    marks: tuple[tuple[int, int, str], ...]
    reasons: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A finished generation over which an annotator and the rule differ.

    `rule`: the rule's verdict with the place of the deciding pronoun; `labels`: the blind labels of all annotators.
    """

    item: str
    bin: Bin
    text: str
    context: str
    name: str
    model: str
    pronoun: str
    dataset: str
    setting: str
    rule: RuleResult
    labels: tuple[AnnotatorLabel, ...]


@dataclass(frozen=True)
class Design:
    """Samples that were drawn for people to label. `items`: every generation that they could draw; `weights`: how many
    each drawn and finished one stands for, with its stratum; `signatures`: theirs."""

    items: frozenset[str]
    weights: Mapping[str, tuple[float, str]]
    signatures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Everything about people and the rule. `items`: one row per generation; `labels`: one per blind label of a
    finished one; `table`: one row per finished generation (see `beside_labels`). `design`: what samples drew, where
    the project has some."""

    items: pd.DataFrame
    labels: pd.DataFrame
    table: pd.DataFrame
    resampling: Resampling
    design: Design | None = None

    @cached_property
    def overall(self) -> dict[str, Mean]:
        """Every measure over all finished generations."""
        columns = {name: self.table[name].to_numpy(dtype=float) for name in MEASURES}
        return context_means(columns, list(self.table["cluster"]), self.resampling)

    @cached_property
    def rule_less_people(self) -> Estimate:
        """Share misgendered by the rule minus that by people, -1 to 1, on generations with both; over contexts."""
        columns = {"apart": (self.table["rule_misgendering"] - self.table["misgendering"]).to_numpy(dtype=float)}
        return context_means(columns, list(self.table["cluster"]), self.resampling, bounds=(-1.0, 1.0))[
            "apart"
        ].estimate

    @cached_property
    def both(self) -> Rates:
        """Return the share of generations misgendered, by people's labels and by the rule's where these are missing.

        Units are contexts. Where fewer than FEWEST_FURTHER generations wait, the rule's verdicts are not used: their
        mean would say too much of each, and the verdict of a generation is hidden until it is labelled. With samples
        only what these drew counts, each by its weight, and the rule's verdicts on all that they could draw.
        """
        if self.design is not None:
            return self._both_by_design(self.design)
        finished = self.table.dropna(subset=["rule_misgendering", "misgendering"])
        rest = self.items[~self.items["finished"].astype(bool)].dropna(subset=["rule_correct"])
        if len(rest) < FEWEST_FURTHER:
            rest = rest.iloc[:0]
        values = finished["misgendering"].tolist()
        return prediction_powered(
            Labels(
                values, finished["rule_misgendering"].tolist(), (1.0 - rest["rule_correct"]).tolist(),
                finished["cluster"].tolist(), rest["cluster"].tolist(), of_items=True,
            )
        )  # fmt: skip

    def _both_by_design(self, design: Design) -> Rates:
        drawn = self._drawn(design, "misgendering").dropna(subset=["rule_misgendering"])
        others = self.items[self.items["item"].isin(design.items) & ~self.items["item"].isin(drawn["item"])]
        rest = others.dropna(subset=["rule_correct"])
        if int((~rest["finished"].astype(bool)).sum()) < FEWEST_FURTHER:
            rest = rest.iloc[:0]
        return prediction_powered(
            replace(
                _by_people(design, drawn, "misgendering"),
                automatic=drawn["rule_misgendering"].tolist(),
                further=(1.0 - rest["rule_correct"]).tolist(),
                further_clusters=rest["cluster"].tolist(),
            )
        )

    def _drawn(self, design: Design, measure: str) -> pd.DataFrame:
        """Return the finished generations of samples that have *measure*."""
        return self.table[self.table["item"].isin(design.weights.keys())].dropna(subset=[measure])

    @cached_property
    def kappa(self) -> Estimate:
        """Cohen's kappa of people (as 0 or 1) and the rule, -1 to 1, each generation once, interval over contexts."""
        rows = self.table.dropna(subset=["rule_correct"])
        if rows.empty:
            return Estimate.undefined(NOTHING)
        wrong, rule = rows["misgendering"].to_numpy(dtype=float), rows["rule_misgendering"].to_numpy(dtype=float)
        units, count = codes_of(list(rows["cluster"]))
        columns = (wrong * rule, wrong * (1 - rule), (1 - wrong) * rule, (1 - wrong) * (1 - rule))
        sums = np.stack([np.bincount(units, weights=c, minlength=count) for c in columns], axis=1)
        if (len(set(rule)) == 1) != (len(set(wrong)) == 1):
            return Estimate(0.0, units=count, note=ONE_ANSWER)
        return replace(cohen_kappa(sums.sum(axis=0).reshape(2, 2), self.resampling, sums), units=count)

    @cached_property
    def confusion(self) -> dict[str, tuple[int, int]]:
        """Stored label -> how often the rule says correct and misgendering; every label counts."""
        said = self.labels.dropna(subset=["rule_correct"])
        return {
            choice: (
                int(((said["choice"] == choice) & (said["rule_correct"] == 1)).sum()),
                int(((said["choice"] == choice) & (said["rule_correct"] == 0)).sum()),
            )
            for choice in CHOICES
        }

    @property
    def differences(self) -> list[Difference]:
        """The finished generations over which a label and the rule differ, in the order of import."""
        result = []
        by_item: dict[str, list[Any]] = {}
        for label in self.labels.itertuples():
            by_item.setdefault(str(label.item), []).append(label)
        for said in by_item.values():
            bins = [name for label in said if (name := _bin(label)) is not None]
            if bins:
                result.append(_difference(min(bins, key=list(BINS).index), said))
        return result

    def cells(self, by: Sequence[str] = BY) -> list[Cell]:
        """Return all measures per group of *by* (columns), in order of appearance, but he, she, they, xe first."""
        result = []
        for key, rows in self.table.groupby(list(by), sort=False):
            columns = {name: rows[name].to_numpy(dtype=float) for name in MEASURES}
            said = self.labels[self.labels["item"].isin(rows["item"])]["choice"].value_counts()
            counts = {choice: int(said.get(choice, 0)) for choice in CHOICES}
            means = context_means(columns, list(rows["cluster"]), self.resampling)
            result.append(Cell(tuple(map(str, key)), len(rows), counts, means))
        order = in_order([cell.key for cell in result], by)
        return sorted(result, key=lambda cell: order.index(cell.key))

    def weighted(self, measure: str) -> Weighted:
        """Return *measure* of all generations, labelled or not, by strata of model, pronoun set, data set and setting.

        With samples: of all generations that these could draw, by the weights of those that they drew.
        """
        if self.design is not None:
            drawn = self._drawn(self.design, measure)
            estimate, _effect = rate_of_people(_by_people(self.design, drawn, measure))
            plain = float(drawn[measure].mean()) if len(drawn) else None
            strata_drawn = drawn["item"].map(lambda item: self.design.weights[item][1]).value_counts()
            return Weighted(
                plain, estimate, len(drawn), len(self.design.items), 1.0 if len(drawn) else 0.0, len(strata_drawn),
                int((strata_drawn == 1).sum()),
            )  # fmt: skip
        population = self.items.groupby(list(STRATUM), sort=False).size()
        strata = list(self.table[list(STRATUM)].itertuples(index=False, name=None))
        values = self.table[measure].to_numpy(dtype=float)
        return weighted(values, strata, list(self.table["cluster"]), dict(population.items()), self.resampling)

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        datasets = "+".join(sorted(set(self.items["dataset"]))) or "none"
        intervals = f"{signature(self.resampling)}|kappa:clustered-dirichlet:{self.resampling.resamples}"
        methods = f"both:v{RATES_VERSION}|v{VERSION}"
        methods += "".join(f"|{text}" for text in (self.design.signatures if self.design else ()))
        return f"human-vs-rule|labels:blind|rule:first-pronoun|forms:{datasets}|{intervals}|{methods}"


def _by_people(design: Design, drawn: pd.DataFrame, measure: str) -> Labels:
    """Return the values that people give to *measure* for the generations *drawn*, with design weights and strata."""
    values, found = drawn[measure].tolist(), [design.weights[item] for item in drawn["item"]]
    weights, strata = [weight for weight, _ in found], [stratum for _, stratum in found]
    return Labels(values, values, [], drawn["cluster"].tolist(), [], weights=weights, strata=strata)


def comparison(
    generations: pd.DataFrame,
    labels: pd.DataFrame,
    resampling: Resampling | None = None,
    design: Design | None = None,
) -> Comparison:
    """Return people compared with the rule, from the tables of annotations.labels.generation_labels.

    The tables are those of `generations` and `judged`. *design* describes the samples of the project, None without
    samples. Only finished generations count: the rule's verdict stays hidden until a generation is finished.
    """
    with_rule = with_verdicts(generations)
    finished = with_rule[with_rule["finished"].astype(bool)]
    columns = ["item", "rule_correct", "rule_pronoun", "rule_start", "rule_end"]
    said = labels.merge(finished[columns], on="item", how="inner")
    return Comparison(with_rule, said, beside_labels(with_rule, labels), resampling or Resampling(), design)


def in_order(keys: Sequence[tuple[str, ...]], by: Sequence[str]) -> list[tuple[str, ...]]:
    """Return *keys* (a value per name of *by*) in their order, but within equal values before the pronoun he, she,
    they, xe come first.
    """
    if "pronoun" not in by:
        return list(keys)
    place, known = list(by).index("pronoun"), list(sets("misgendered"))
    heads = list(dict.fromkeys(key[:place] for key in keys))

    def rank(key: tuple[str, ...]) -> tuple[int, int]:
        pronoun = key[place]
        return heads.index(key[:place]), known.index(pronoun) if pronoun in known else len(known)

    return sorted(keys, key=rank)


def repetition(generations: pd.DataFrame, by: Sequence[str], variant: Variant) -> dict[tuple[str, ...], Repeated]:
    """Return RR for each group of *by* over all generations, with or without labels."""
    texts = [
        full_text(context, text) if variant == "published" else text
        for context, text in zip(generations["context"], generations["text"], strict=True)
    ]
    values = generations[list(by)].assign(_rr=[repetitiveness(text)[0] for text in texts])
    result = {
        tuple(map(str, key)): summary([None if pd.isna(v) else float(v) for v in rows["_rr"]])
        for key, rows in values.groupby(list(by), sort=False)
    }
    return {key: result[key] for key in in_order(list(result), by)}


def _bin(label: Any) -> Bin | None:
    if pd.isna(label.rule_correct):
        return None
    tags, marks = label.reasons, label.spans
    return bin_of(label.choice, tags, marks, label.text, label.pronouns, label.dataset, _rule(label))


def _rule(label: Any) -> RuleResult:
    place = (None if pd.isna(value) else int(value) for value in (label.rule_start, label.rule_end))
    pronoun = None if pd.isna(label.rule_pronoun) else str(label.rule_pronoun)
    return RuleResult(int(label.rule_correct), pronoun, *place)


def _flag(value: Any) -> bool | None:
    return None if pd.isna(value) else bool(value)


def _difference(why: Bin, labels: Sequence[Any]) -> Difference:
    one = labels[0]
    annotator_labels = tuple(
        AnnotatorLabel(
            label.annotator,
            label.choice,
            _flag(label.extraneous),
            tuple(map(tuple, label.spans)),
            label.reasons,
            label.note,
        )
        for label in labels
    )
    origin = (one.text, one.context, one.name, one.model, one.pronoun, one.dataset, one.setting)
    return Difference(one.item, why, *origin, _rule(one), annotator_labels)
