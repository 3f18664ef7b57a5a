"""Annotators who differ: comparisons of texts with planted strengths of models, and groups of whom one accepts more."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.coverage_loop import Cell, Design, Random
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.bradley_terry import Comparisons, Preferences, bradley_terry
from evenhand.core.statistics.intervals import difference_of_shares
from evenhand.core.statistics.paired_likelihood import maximised

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
STRONGEST, LEFT = 0.8, 0.2  # the weakest is -0.8; log-odds of the left side
OF_CONTEXT, OF_ANNOTATOR = 1.0, 0.6  # standard deviations of what a model is worth in one context, to one annotator
CIRCLES = "no circles found"  # the test of fit at 0.05 lets pass what follows the model
PAIRS = 4  # of models in a context, 3 where there are no more
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


def _measures(found: Preferences) -> dict[str, Estimate]:
    last = len(found.models) - 1
    ranks = [Estimate(float(low), low, high) for low, high in found.ranks]
    p = found.fit.p
    made = {
        "strength of the first": found.strengths[0],
        "first less last": found.difference(0, last),
        "first less second": found.difference(0, 1),
        "left": found.left,
        "rank of the second": ranks[1],
        CIRCLES: Estimate(None) if p is None else Estimate(p, float(p < 0.05), float(p < 0.05)),
    }
    return made | ({} if found.tie.value is None else {"tie": found.tie})


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
    if not (leaning and few):  # three people who differ are no one strength a model
        truth[CIRCLES] = 0.0
    if cell["ties"]:
        truth["tie"] = 1 / (1 + 2 * math.exp(-top[-1]))
    return {name: float(one) for name, one in truth.items()}


PREFERENCES = Design(
    "Preferences between models",
    "Pairs of texts of one context, four pairs a context, each judged by so many *labels* of so many *annotators*."
    " Three annotators are the same in every sample and the truth is that of these three; twelve are drawn anew."
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
