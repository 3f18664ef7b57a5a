"""A judge against people and against itself: agreement over contexts, confusion, the alternative annotator test, drift.

Only items that people have finished count, each once for any number of labels. Drift: the models that the server names
in its answers, and the labels that the judge gives when it labels again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import choice_codes
from evenhand.annotations.judges.judges import Answered, Judge, answers_by_model, changed_labels, first_labels
from evenhand.annotations.labels.generation_labels import people_labels
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.means_over_contexts import Mean, codes_of, context_means
from evenhand.core.judges.alternative_annotator import AltTestResult, alternative_annotator_test
from evenhand.core.statistics import Estimate, Note, Resampling, cohen_kappa, wilson

if TYPE_CHECKING:
    import pandas as pd


def judge_labels(store: Store, judge: Judge) -> "pd.DataFrame":
    """Return one row per label of a judge (not of a later round): item (public id), judge, judge_flag (1, 0, NaN),
    marks, shares, answered.

    Items that are examples in its own prompt are left out.
    """
    import pandas as pd

    shown = frozenset(judge.spec.settings.get("example_items", ()))
    rows = [
        (
            uid,
            choice,
            float("nan") if flag is None else float(flag),
            _marks(spans),
            json.loads(shares or "{}"),
            answered,
        )
        for uid, choice, flag, spans, shares, answered in first_labels(store, judge)
        if uid not in shown
    ]
    return pd.DataFrame(rows, columns=["item", "judge", "judge_flag", "judge_marks", "shares", "answered"])


def with_judge(table: "pd.DataFrame", labels: "pd.DataFrame", measures: Mapping[str, str]) -> "pd.DataFrame":
    """Return *table* of `item_table` with columns judge_<measure>: 1, 0, or NaN without an answer of the judge."""
    merged = table.merge(labels[["item", "judge", "judge_flag"]], on="item", how="left", validate="one_to_one")
    for measure, choice in measures.items():
        known = merged["judge"].notna()
        values = (merged["judge"] == choice).astype(float).where(known) if choice else merged["judge_flag"]
        merged[f"judge_{measure}"] = values.astype(float)
    return merged


def _marks(spans: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((int(start), int(end), str(kind)) for start, end, kind in json.loads(spans))


if TYPE_CHECKING:
    import pandas as pd

NOBODY = Note(N_("No item has a label by people and by the judge."))
NO_FLAGS = Note(N_("Either this judge or the annotators give no flags for extraneous gendered language."))
NOT_SEVERAL = Note(N_("No compared item has labels by two annotators."))
BY = ("choice", "pronoun", "language", "model", "setting")
VERSION = 1  # of the method: raise it when a number may change


@dataclass(frozen=True, slots=True)
class Group:
    """Items of one kind: how often judge and people say the same of them."""

    key: str
    agreement: Mean
    items: int


@dataclass(frozen=True, slots=True)
class Said:
    """What one annotator said of an item."""

    annotator: str
    choice: str
    extraneous: bool | None
    reasons: tuple[str, ...]
    note: str
    marks: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Disagreed:
    """A finished item on which the judge differs from an annotator.

    `share`: the share of the judge's samples or probabilities for its label; None: it gave one answer.
    """

    item: str
    text: str
    context: str
    model: str
    pronoun: str
    judge: str
    judge_marks: tuple[tuple[int, int, str], ...]
    share: float | None
    people: tuple[Said, ...]


@dataclass(frozen=True)
class AgainstPeople:
    """A judge against people. `pairs`: a row per blind label of a finished item that the judge labelled too;
    `choices`: the codes in their order; `finished`: how many items people have finished."""

    judge: Judge
    pairs: "pd.DataFrame"
    choices: tuple[str, ...]
    finished: int
    resampling: Resampling

    @cached_property
    def items(self) -> int:
        """The number of items with labels of both."""
        return int(self.pairs["item"].nunique())

    @cached_property
    def agreement(self) -> Mean:
        """The rate at which the judge agrees with an annotator, 0 to 1."""
        return Mean(Estimate.undefined(NOBODY), None, 0) if self.pairs.empty else self._mean(self.pairs, "same")

    @cached_property
    def flags(self) -> Mean:
        """The rate of agreement on the flag for extraneous gendered language, 0 to 1."""
        said = self.pairs[self.pairs["flags"].notna()]
        if said.empty:
            return Mean(Estimate.undefined(NO_FLAGS if len(self.pairs) else NOBODY), None, 0)
        return self._mean(said, "flags")

    @cached_property
    def among_people(self) -> Mean:
        """The rate at which an annotator agrees with the others on the same items, 0 to 1."""
        several = self.pairs[self.pairs["others"].notna()]
        return Mean(Estimate.undefined(NOT_SEVERAL), None, 0) if several.empty else self._mean(several, "others")

    def groups(self, by: str) -> list[Group]:
        """Return agreement by a column of BY; "choice" is the choice of people."""
        result = [
            Group(str(key), self._mean(rows, "same"), int(rows["item"].nunique()))
            for key, rows in self.pairs.groupby(by, sort=False)
        ]
        order = {code: place for place, code in enumerate(self.choices)}
        return sorted(result, key=lambda one: order.get(one.key, len(order))) if by == "choice" else result

    @cached_property
    def confusion(self) -> dict[str, dict[str, int]]:
        """Return choice of people -> choice of the judge -> number of labels of people."""
        counts = self.pairs.groupby(["choice", "judge"]).size()
        return {a: {b: int(counts.get((a, b), 0)) for b in self.choices} for a in self.choices}

    @cached_property
    def kappa(self) -> Estimate:
        """Cohen's kappa of people's labels and the judge's, -1 to 1, interval over contexts."""
        import numpy as np

        if self.pairs.empty:
            return Estimate.undefined(NOBODY)
        size, at = len(self.choices), {code: place for place, code in enumerate(self.choices)}
        cells = self.pairs["choice"].map(at).to_numpy() * size + self.pairs["judge"].map(at).to_numpy()
        units, count = codes_of(list(self.pairs["cluster"]))
        sums = np.bincount(units * size**2 + cells, minlength=count * size**2).reshape(count, size**2)
        return cohen_kappa(sums.sum(axis=0).reshape(size, size), self.resampling, sums)

    @cached_property
    def verdict(self) -> AltTestResult | None:
        """The alternative annotator test with the eps that was recorded; None before one is."""
        if self.judge.eps is None:
            return None
        labels = zip(self.pairs["item"], self.pairs["annotator"], self.pairs["choice"], strict=True)
        mine = dict(zip(self.pairs["item"], self.pairs["judge"], strict=True))
        return alternative_annotator_test(labels, mine, self.judge.eps)

    @cached_property
    def disagreements(self) -> list[Disagreed]:
        """Return the items on which the judge differs from an annotator, in the order of import."""
        apart = self.pairs.groupby("item")["same"].transform("min") < 1
        return [_disagreed(list(rows.itertuples())) for _, rows in self.pairs[apart].groupby("item", sort=False)]

    def _mean(self, pairs: "pd.DataFrame", column: str) -> Mean:
        """Return the mean of *column* over items, after the mean over the labels of each item."""
        rows = pairs.groupby("item", sort=False).agg(value=(column, "mean"), cluster=("cluster", "first"))
        return context_means({"all": rows["value"].to_numpy(dtype=float)}, list(rows["cluster"]), self.resampling)[
            "all"
        ]

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        drawn = self.resampling.signature("context")
        return f"judge-against-people|labels:blind|{drawn}|v{VERSION}|{self.judge.spec.signature}"


def against_people(
    store: Store, project: Project, judge: Judge, *, said: "pd.DataFrame | None" = None
) -> AgainstPeople:
    """Compare a judge with the people of its project; *said*: the result of `people_labels`, if already read."""
    labels = people_labels(store, project) if said is None else said
    pairs = labels.merge(judge_labels(store, judge), on="item", how="inner", validate="many_to_one")
    pairs["same"] = (pairs["choice"] == pairs["judge"]).astype(float)
    flags = pairs["extraneous"].map({True: 1.0, False: 0.0}).astype(float)
    pairs["flags"] = (flags == pairs["judge_flag"]).astype(float).where(flags.notna() & pairs["judge_flag"].notna())
    alike = pairs.groupby(["item", "choice"])["choice"].transform("size") - 1
    others = pairs.groupby("item")["choice"].transform("size") - 1
    pairs["others"] = (alike / others).where(others > 0)
    finished = int(labels["item"].nunique())
    return AgainstPeople(judge, pairs, choice_codes(store, project), finished, Resampling())


def agreement_difference(people: AgainstPeople, other: AgainstPeople) -> Mean:
    """Return the first judge's agreement with people minus the second's, -1 to 1, on the items of both."""
    keys = ["item", "annotator"]
    both = people.pairs[[*keys, "cluster", "same"]].merge(
        other.pairs[[*keys, "same"]], on=keys, suffixes=("", "_other")
    )
    both["apart"] = both["same"] - both["same_other"]
    rows = both.groupby("item", sort=False).agg(value=("apart", "mean"), cluster=("cluster", "first"))
    columns = {"apart": rows["value"].to_numpy(dtype=float)}
    return context_means(columns, list(rows["cluster"]), people.resampling, bounds=(-1.0, 1.0))["apart"]


def _disagreed(rows: Sequence[Any]) -> Disagreed:
    one = rows[0]
    people = tuple(
        Said(row.annotator, row.choice, row.extraneous, row.reasons, row.note, tuple(map(tuple, row.spans)))
        for row in rows
    )
    share = one.shares.get(one.judge) if one.shares else None
    return Disagreed(one.item, one.text, one.context, one.model, one.pronoun, one.judge, one.judge_marks, share, people)


NOT_AGAIN = Note(N_("This judge was not run again."))


@dataclass(frozen=True, slots=True)
class Again:
    """One later round: how many of its items have the same label as at first, with Wilson's interval.

    `changed`: (label at first, label now) -> items. `models`: what the server said then, and now.
    """

    round: int
    items: int
    same: Estimate
    changed: dict[tuple[str, str], int]
    models: tuple[tuple[str, ...], tuple[str, ...]]
    json_names: ClassVar = {"changed": None, "models": None}


@dataclass(frozen=True, slots=True)
class Drift:
    """`answered`: by round and model; `rounds`: of each later round."""

    answered: tuple[Answered, ...]
    rounds: tuple[Again, ...]

    @property
    def has_changed_model(self) -> bool:
        """Tell whether the server named more than one model."""
        return len({one.model for one in self.answered}) > 1


def drift(store: Store, judge: Judge) -> Drift:
    """Return how a judge has changed since it began: the models that answered, and labels given again."""
    answered = tuple(answers_by_model(store, judge))
    pairs: dict[int, dict[tuple[str, str], int]] = {}
    for number, first, now, items in changed_labels(store, judge):
        pairs.setdefault(number, {})[first, now] = items
    models = {number: tuple(one.model for one in answered if one.round == number) for number in (0, *pairs)}
    rounds = []
    for number, counts in sorted(pairs.items()):
        items = sum(counts.values())
        same = sum(times for (first, now), times in counts.items() if first == now)
        changed = {pair: times for pair, times in counts.items() if pair[0] != pair[1]}
        rounds.append(
            Again(number, items, wilson(same, items, nothing=NOT_AGAIN), changed, (models[0], models[number]))
        )
    return Drift(answered, tuple(rounds))
