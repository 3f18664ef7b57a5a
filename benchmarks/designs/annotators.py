"""Annotators and judges: comparisons of texts, groups of whom one accepts more, rates of people and judges, quotas."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.coverage_loop import Cell, Design, Random
from evenhand.core.sampling.designs import (
    SHARE,
    SIZED,
    deviations,
    disagreement,
    draw,
    equal_strata,
    probabilities,
    rates_of,
    to_close_quotas,
)
from evenhand.core.sampling.weights import Drawn, Frame, weights
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.bradley_terry import Comparisons, Preferences, bradley_terry
from evenhand.core.statistics.intervals import difference_of_shares
from evenhand.core.statistics.paired_likelihood import maximised
from evenhand.core.statistics.prediction_powered import (
    Labels,
    Rates,
    paired_difference,
    prediction_powered,
    rate_of_people,
)

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
STRONGEST, LEFT = 0.8, 0.2  # the weakest is -0.8; log-odds of the left side
OF_CONTEXT, OF_ANNOTATOR = 1.0, 0.6  # standard deviations of what a model is worth in one context, to one annotator
CIRCLES = "no circles found"  # the test of fit at 0.05 lets pass what follows the model
PAIRS = 4  # of models in a context, 3 where these are all
LEVELS = {
    "models": (3, 8), "contexts": (10, 30, 150), "annotators": (3, 12), "labels": (1, 3), "ties": (0.0, 0.25),
    "leaning": (0, 1),
}  # fmt: skip


def _strengths(cell: Cell) -> Numbers:
    return np.linspace(STRONGEST, -STRONGEST, int(cell["models"]))


def _tau(cell: Cell) -> float:
    """Return the log weight of a tie: of two equal models so many tie."""
    ties = float(cell["ties"])
    return math.log(2 * ties / (1 - ties)) if ties else -math.inf


@cache
def _these(models: int) -> Numbers:
    """Return what each model is worth to three annotators who are always the same, apart from its strength."""
    return np.random.default_rng(models).standard_normal((3, models)) * OF_ANNOTATOR


def _sample(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw pairs of models in contexts, each judged by some of the annotators; the left text is drawn at random."""
    models, contexts, labels = int(cell["models"]), int(cell["contexts"]), int(cell["labels"])
    pool, leaning = int(cell["annotators"]), int(cell["leaning"])
    pairs = np.array([(a, b) for a in range(models) for b in range(a + 1, models)])
    of_context = random.standard_normal((contexts, models)) * OF_CONTEXT * leaning
    fixed = _these(models) if pool == 3 else random.standard_normal((pool, models)) * OF_ANNOTATOR
    of_annotator = fixed * leaning
    each = min(PAIRS, len(pairs))
    chosen = np.concatenate([random.choice(len(pairs), each, replace=False) for _ in range(contexts)])
    context = np.repeat(np.repeat(np.arange(contexts), each), labels)
    one, two = np.repeat(pairs[chosen], labels, axis=0).T
    who = np.concatenate([random.choice(pool, labels, replace=False) for _ in chosen])
    side = random.choice([-1, 1], len(context))
    worth = _strengths(cell) + of_context[context] + of_annotator[who]
    at = np.arange(len(context))
    eta = (worth[at, one] - worth[at, two] + LEFT * side) / 2
    weights = np.exp(np.stack([eta, -eta, np.full(len(eta), _tau(cell))], axis=1))
    ends = (weights / weights.sum(axis=1, keepdims=True)).cumsum(axis=1)
    preferred = (random.random(len(eta))[:, None] > ends[:, :2]).sum(axis=1)
    names = tuple(map(str, range(models)))
    person = np.unique(who, return_inverse=True)[1]
    return _measures(bradley_terry(Comparisons(names, one, two, preferred, side, context, person)))


def _measures(preferences: Preferences) -> dict[str, Estimate]:
    last = len(preferences.models) - 1
    ranks = [Estimate(float(low), low, high) for low, high in preferences.ranks]
    p = preferences.fit.p
    made = {
        "strength of the first": preferences.strengths[0],
        "first less last": preferences.difference(0, last),
        "first less second": preferences.difference(0, 1),
        "left": preferences.left,
        "rank of the second": ranks[1],
        CIRCLES: Estimate(None) if p is None else Estimate(p, float(p < 0.05), float(p < 0.05)),
    }
    return made | ({} if preferences.tie.value is None else {"tie": preferences.tie})


def _truth(cell: Cell) -> dict[str, float]:
    """Return what infinitely many contexts (and annotators, where they are drawn) would give: the maximum of the
    likelihood at the expected shares, since a mixture of preferences is none of the family itself."""
    models, strengths = int(cell["models"]), _strengths(cell)
    pairs = np.array([(a, b, side) for a in range(models) for b in range(a + 1, models) for side in (-1, 1)])
    leaning, few = int(cell["leaning"]), int(cell["annotators"]) == 3
    spread = leaning * math.sqrt(2 * (OF_CONTEXT**2 + (0.0 if few else OF_ANNOTATOR**2)))
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    people = _these(models) * leaning if few else np.zeros((1, models))
    worth = strengths + people
    apart = worth[:, pairs[:, 0]] - worth[:, pairs[:, 1]] + LEFT * pairs[:, 2]
    eta = (apart[:, :, None] + spread * points) / 2
    logs = np.stack([eta, -eta, np.full_like(eta, _tau(cell))], axis=-1)
    chances = np.exp(logs) / np.exp(logs).sum(axis=-1, keepdims=True)
    expected = np.einsum("acpo,p->co", chances, weights / weights.sum()) / len(people)
    basis = np.linalg.svd(np.ones((1, models)))[2][1:].T
    design = np.concatenate([basis[pairs[:, 0]] - basis[pairs[:, 1]], pairs[:, 2:]], axis=1) / 2
    top = maximised(expected[None] * 1000, design).values[0]
    limit = basis @ top[: models - 1]
    rank = 1.0 + float((limit > limit[1]).sum())
    truth = {
        "strength of the first": limit[0], "first less last": limit[0] - limit[-1],
        "first less second": limit[0] - limit[1], "left": 1 / (1 + math.exp(-top[-2])), "rank of the second": rank,
    }  # fmt: skip
    if not (leaning and few):  # three people who differ have no common strength of a model
        truth[CIRCLES] = 0.0
    if cell["ties"]:
        truth["tie"] = 1 / (1 + 2 * math.exp(-top[-1]))
    return {name: float(entry) for name, entry in truth.items()}


PREFERENCES = Design(
    "Preferences between models",
    "Pairs of texts of one context, four pairs a context, each judged by so many *labels* of so many *annotators*."
    " Three annotators are the same in every sample and the truth is that of these three; twelve are drawn each time."
    f" *leaning* 1: what a model is worth varies between contexts (standard deviation {OF_CONTEXT:g}) and annotators"
    f" ({OF_ANNOTATOR:g}). Strengths from {STRONGEST:g} to -{STRONGEST:g}; *ties*: of two equal models.",
    LEVELS, _sample, _truth,
)  # fmt: skip


SHIFT = 0.4  # of the second group, in standard deviations of a label
GROUP_LEVELS = {
    "people": (5, 10, 25),
    "items": (20, 100),
    "accept": (0.5, 0.8),
    "annotator": (0.0, 0.2),
    "item": (0.0, 0.4),
}


def _groups(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw a normal value of variance 1 a label, cut: annotators and items have their shares of the variance."""
    people, items = int(cell["people"]), int(cell["items"])
    of_annotator, of_item = float(cell["annotator"]), float(cell["item"])
    annotator, item = (places.ravel() for places in np.indices((2 * people, items)))
    there = random.random(annotator.size) < 0.7  # each label is missing with a chance of .3
    annotator, item = annotator[there], item[there]
    value = (
        math.sqrt(of_annotator) * random.standard_normal(2 * people)[annotator]
        + math.sqrt(of_item) * random.standard_normal(items)[item]
        + math.sqrt(1 - of_annotator - of_item) * random.standard_normal(len(item))
    )
    second = annotator >= people
    chosen = value < _cut(cell) + SHIFT * second
    return {"difference of groups": difference_of_shares(chosen, second, annotator, item)}


def _cut(cell: Cell) -> float:
    return float(norm.ppf(float(cell["accept"])))


def _groups_truth(cell: Cell) -> dict[str, float]:
    return {"difference of groups": float(cell["accept"]) - float(norm.cdf(_cut(cell) + SHIFT))}


GROUPS = Design(
    "Groups of annotators",
    "Two groups of equally many people label the same items, three of ten labels are missing; the second group accepts"
    " more. *annotator*, *item*: their shares of the variance of a normal value that is cut.",
    GROUP_LEVELS, _groups, _groups_truth,
)  # fmt: skip


SIZE = 5  # items of a context
MORE = 0.15  # how far the second of two models lies above the first, of what is left
RATES = ((0.05, 0.1, 0.2, 0.45), (0.2, 0.3, 0.4, 0.5))  # of the strata
LOW_RATES = tuple(tuple(mean * times for times in (0.4, 0.8, 1.2, 1.6)) for mean in (0.01, 0.03, 0.05, 0.1))
ITEMS = 6_000
QUOTA_ITEMS, QUOTA, KEPT = 2_000, 100, 0.4  # candidates, sentences wanted of each of four cells, share that is kept
LEAN = 0.6  # by how much of what is possible the rate of a context lies above or below that of its stratum
NAN = float("nan")


def _both(rates: Rates) -> dict[str, Estimate]:
    """Return both rates, and as values without an interval the ratio of their errors and what the judge was worth."""
    made = {"both": rates.both, "people alone": rates.people}
    if rates.both.se and rates.people.se:
        made |= {"error ratio": Estimate(rates.both.se / rates.people.se), "worth": Estimate(rates.worth)}
    return made


def _judge(random: Random, truth: np.ndarray, cell: Cell) -> np.ndarray:
    """Return a judge's labels, right in a share of the items, and one who besides calls a fifth of all items 1."""
    judge = np.where(random.random(len(truth)) < float(cell["accuracy"]), truth, ~truth)
    return judge | (random.random(len(truth)) < 0.2) if cell["biased"] else judge


def _split(random: Random, cell: Cell, truth: np.ndarray, values: np.ndarray, names: Any) -> Labels:
    """Return the labels of *values* items by people and judge, and those of the others by the judge alone."""
    judge, rest = _judge(random, truth, cell), np.ones(len(truth), dtype=bool)
    rest[values] = False
    clusters = (None, None) if names is None else (names[values].tolist(), names[rest].tolist())
    return Labels(truth[values], judge[values], judge[rest], *clusters)


def _powered(cell: Cell, random: Random) -> dict[str, Estimate]:
    people, further, rate = int(cell["people"]), int(cell["further"]), float(cell["rate"])
    if not cell["contexts"]:
        truth = random.random(people + further) < rate
        return _both(prediction_powered(_split(random, cell, truth, random.permutation(len(truth))[:people], None)))
    groups = max(people, -(-(people + further) // SIZE))
    names = np.repeat(np.arange(groups), SIZE)
    truth = random.random(len(names)) < random.beta(3 * rate, 3 * (1 - rate), groups)[names]
    return _both(prediction_powered(_split(random, cell, truth, random.permutation(groups)[:people] * SIZE, names)))


def _two_models(cell: Cell, random: Random) -> dict[str, Estimate]:
    contexts, models = int(cell["contexts"]), []
    lean = random.beta(1.2, 2.8, contexts)
    for number, more in enumerate((0.0, MORE)):
        of_model = lean if cell["paired"] else random.beta(1.2, 2.8, contexts)
        places = np.repeat(np.arange(contexts), SIZE)
        truth = random.random(len(places)) < np.clip(of_model * (1 - more) + more, 0, 1)[places]
        names = places if cell["paired"] else places + number * contexts
        models.append(_split(random, cell, truth, random.permutation(len(places))[: int(cell["labelled"])], names))
    return _both(paired_difference(*models))


@dataclass(frozen=True)
class Population:
    """Items with what people would say, what three judges say, their stratum and context."""

    truth: np.ndarray
    votes: np.ndarray
    strata: np.ndarray
    contexts: np.ndarray


def population(random: Random, cell: Cell) -> Population:
    """Draw a population in four strata, a quarter each; contexts are single items, of one to nine, or 80 in all."""
    strata, names = np.arange(ITEMS) % 4, np.arange(ITEMS)
    mean = np.asarray((RATES + LOW_RATES)[int(cell["rates"])])[strata]
    if cell["contexts"] != "single":
        names = np.repeat(names, random.integers(1, 10, ITEMS))[:ITEMS] if cell["contexts"] == "1 to 9" else names % 80
        names = random.permutation(names)
        mean = mean + np.where(random.random(ITEMS) < 0.5, 1, -1)[names] * LEAN * np.minimum(mean, 1 - mean)
    truth, wrong = random.random(ITEMS) < mean, 1 - float(cell["accuracy"])
    hard = random.random(ITEMS) < 0.3  # judges err on the same items
    errs = random.random((ITEMS, 3)) < np.where(hard, min(0.5, 2.2 * wrong), 0.5 * wrong)[:, None]
    return Population(truth, np.where(errs, ~truth[:, None], truth[:, None]), strata, names)


def sizes_of(design: str, of: Population) -> tuple[np.ndarray, list[Any] | None]:
    """Return the size of each item, and the groups of the list that is drawn from."""
    votes = of.votes.astype(float)
    if design == "stratified":
        return equal_strata(of.strata.tolist()), of.strata.tolist()
    if design == "clusters":
        return np.ones(ITEMS), of.contexts.tolist()
    if design == "disagreement":
        return disagreement(votes), None
    if design == "variance":
        most = votes.mean(axis=1) > 0.5
        groups = list(zip(of.strata.tolist(), most.tolist(), votes.sum(axis=1).tolist(), strict=True))
        expected = np.abs(votes - most[:, None]).mean(axis=1)
        return deviations(groups, expected, np.full(ITEMS, np.nan)), None
    return np.ones(ITEMS), None


def _drawn(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw a sample by a design, label it in full, and estimate the rate of the population."""
    of = population(random, cell)
    sizes, groups = sizes_of(str(cell["design"]), of)
    chances = probabilities(sizes, int(cell["labelled"]), SHARE)
    mine = draw(chances, groups, random.permutation(ITEMS), float(random.random()))
    strata = [str(group) for group in groups] if groups is not None and cell["design"] != "clusters" else [""] * ITEMS
    asked = [Drawn(1, 1, float(chances[i]), strata[i]) for i in np.flatnonzero(mine)]
    weighed = weights(asked, [True] * len(asked), {(1, 1): Frame(ITEMS, len(asked))})
    judge, clusters = of.votes[:, 0].astype(float), cell["contexts"] != "single"
    labels = Labels(
        of.truth[mine].astype(float).tolist(), judge[mine].tolist(), judge[~mine].tolist(),
        of.contexts[mine].tolist() if clusters else None, of.contexts[~mine].tolist() if clusters else None,
        weights=weighed.tolist(), strata=[item.stratum or None for item in asked],
    )  # fmt: skip
    rates = prediction_powered(labels)
    return {"both": rates.both, "people alone": rates.people, "design effect": Estimate(rates.effect)}


def _mean_rate(cell: Cell) -> dict[str, float]:
    rate = float(np.mean((RATES + LOW_RATES)[int(cell["rates"])]))
    return {"both": rate, "people alone": rate, "design effect": NAN}


def _quotas(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Close quotas of four cells by two samples, the second by what the first has shown."""
    cells, count, share = np.arange(QUOTA_ITEMS) % 4, QUOTA_ITEMS, float(cell["random part"])
    truth = random.random(count) < KEPT
    judge = np.where(random.random(count) < float(cell["accuracy"]), truth, ~truth).astype(float)
    drawn_in, chances, frames = np.zeros(count, dtype=int), np.zeros(count), {}
    for number in (1, 2):
        left = drawn_in == 0
        kept = [int((truth & (drawn_in > 0) & (cells == place)).sum()) for place in range(4)]
        least = 0 if number == 1 else 5  # what is missing by chance: every cell is drawn from again
        missing = {place: max(least, QUOTA - kept[place]) for place in range(4)}
        seen = np.where(drawn_in > 0, truth.astype(float), np.nan)
        rates = rates_of([f"{c}{j}" for c, j in zip(cells, judge, strict=True)], judge, seen)
        found = to_close_quotas(rates[left], cells[left].tolist(), missing, share)
        rows = np.flatnonzero(left)
        mine = draw(found, cells[rows].tolist(), random.permutation(len(rows)), float(random.random()))
        drawn_in[rows[mine]], chances[rows[mine]] = number, found[mine]
        frames[number, 1] = Frame(len(rows), int(mine.sum()))
    rows = np.flatnonzero(drawn_in)
    asked = [Drawn(int(drawn_in[at]), 1, float(chances[at]), int(cells[at])) for at in rows]
    weighed = weights(asked, [True] * len(asked), frames)
    labels, strata = truth[rows].astype(float).tolist(), [(item.sample, item.stratum) for item in asked]
    rate, _effect = rate_of_people(Labels(labels, labels, [], weights=weighed.tolist(), strata=strata))
    numbers = {"plain share": np.mean(labels), "labelled": len(rows), "kept": sum(labels)}
    return {"rate kept": rate} | {name: Estimate(float(number)) for name, number in numbers.items()}


# With one label a context further items add what they can in the first 1,000.
RANDOM_LABELS = [
    {"biased": biased, "accuracy": accuracy, "rate": rate, "people": people, "further": further, "contexts": contexts}
    for contexts, biased, accuracy, rate, people, further in product(
        (0, 1), (0, 1), (0.55, 0.7, 0.85, 0.99), (0.1, 0.3), (50, 100, 200, 500), (1_000, 100_000)
    )
    if further == 1_000 or not contexts
]
MODELS = [
    {"paired": paired, "contexts": contexts, "labelled": labelled, "accuracy": accuracy, "biased": biased}
    for paired, (contexts, labelled), (accuracy, biased) in product(
        (1, 0), ((60, 60), (60, 150), (200, 100), (200, 300)), ((0.55, 0), (0.7, 1), (0.9, 0), (0.9, 1), (0.99, 0))
    )
]
DRAWN = {
    "contexts": ("single", "1 to 9", "80 in all"), "design": SIZED, "rates": (0, 1), "accuracy": (0.7, 0.9, 0.97),
    "labelled": (50, 100, 200, 500),
}  # fmt: skip
DRAWN_LOW = {
    "contexts": ("single",), "design": SIZED, "rates": (2, 3, 4, 5), "accuracy": (0.9, 0.95, 0.99),
    "labelled": (30, 60, 150, 300),
}  # fmt: skip
OF_QUOTAS = {"accuracy": (0.7, 0.9), "random part": (0.2, 0.3, 0.5)}
RATE = {"both": "rate", "people alone": "rate", "error ratio": NAN, "worth": NAN}
LESS = 0.3 - (0.3 * (1 - MORE) + MORE)
QUOTAS = {"rate kept": KEPT, "plain share": NAN, "labelled": NAN, "kept": NAN}
JUDGES = {
    "judges": Design("judges", "", {}, _powered, RATE, RANDOM_LABELS),
    "judges-differences": Design(
        "judges-differences", "", {}, _two_models, {"both": LESS, "people alone": LESS, "error ratio": NAN}, MODELS
    ),
    "sampling": Design("sampling", "", DRAWN, _drawn, _mean_rate),
    "sampling-low": Design("sampling-low", "", DRAWN_LOW, _drawn, _mean_rate),
    "sampling-quotas": Design("sampling-quotas", "", OF_QUOTAS, _quotas, QUOTAS),
}
