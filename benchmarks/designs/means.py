"""Samples of a model's numbers with a known truth: means and shares.

In each design the rows of a unit (article, template, name, profession, occupation, context) resemble each other, and
the function that the app calls makes the estimates.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks.coverage_loop import Cell, Design, Random
from evenhand.core.association.measures import difference
from evenhand.core.association.run import COLUMNS
from evenhand.core.audit.leak_rates import Judged, compare_labels
from evenhand.core.human_vs_rule.means_over_contexts import context_means
from evenhand.core.misgendering.agreement import by_units
from evenhand.core.misgendering.metrics import NO_VERDICT, mean_by_units, variation
from evenhand.core.model_bias import paired_differences, read_scores
from evenhand.core.model_bias.means import BOUNDS, STEM_MEASURES, over_stems, sizes, weighted
from evenhand.core.nli.measure import measured
from evenhand.core.nli.types import Prediction
from evenhand.core.statistics import Estimate, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.statistics.units import Clusters, units_of

Numbers = NDArray[np.float64]
STEM_WORDS = {name: f"{name}, these pairs" for name in STEM_MEASURES}


def _noise(shape: str, size: int, random: Random) -> Numbers:
    """Return noise with mean 0 and variance 1."""
    return random.standard_normal(size) if shape == "normal" else random.exponential(size=size) - 1


@dataclass(frozen=True, slots=True)
class Articles:
    """Of each sentence its article, its Bias_c, and whether its source had the male word."""

    article: NDArray[np.int64]
    values: Numbers
    male: NDArray[np.bool_]


def articles_of(cell: Cell, articles: int, random: Random) -> Articles:
    """Draw Bias_c of sentences of so many articles, or as many sentences."""
    sizes = random.integers(1, 13, articles) if cell["unit"] == "source" else np.ones(articles, dtype=np.int64)
    article = np.repeat(np.arange(articles), sizes)
    male = random.random(len(article)) < 0.5
    return Articles(article, _biases(cell, article, male, random), male)


def _biases(cell: Cell, article: NDArray[np.int64], male: NDArray[np.bool_], random: Random) -> Numbers:
    """Return Bias_c of sentences: an offset, the article's part of the variance, 0.2 more of male sources."""
    between, shape = float(cell["between"]), str(cell["shape"])
    of_article, own = _noise(shape, article[-1] + 1, random)[article], _noise(shape, len(article), random)
    return float(cell["offset"]) + np.sqrt(between) * of_article + np.sqrt(1 - between) * own + 0.2 * male


@cache
def _frame(rows: int) -> pd.DataFrame:
    """Return a score table of so many rows, to be filled: reading takes longer than measuring."""
    return read_scores(
        pd.DataFrame(
            {
                "row": range(1, rows + 1), "sentence": [f"他看见了第{i}只鸟。" for i in range(rows)], "pair": "他/她",
                "keyword": "他", "model": "m", "p_male": 0.2, "p_female": 0.1, "bias_log10": 0.0,
                "source": [f"article {i}" for i in range(rows)],
                "signature": "masked|m|weights:00000000|independent|fp32|v1",
            }
        )
    )  # fmt: skip


def scores_of(made: Articles, model: str = "m") -> pd.DataFrame:
    """Return the same as a score table."""
    whole = _frame(1500)
    return whole.iloc[: len(made.values)].assign(
        bias_log10=made.values,
        side=np.where(made.male, "male", "female"),
        source=whole["source"].to_numpy()[made.article],
        model=model,
    )


def _summary(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Make the intervals as `summarise` does, which works out much besides (a test compares them)."""
    rows = scores_of(articles_of(cell, int(cell["units"]), random))
    units = units_of(rows, str(cell["unit"]))  # type: ignore[arg-type]
    result = over_units(Resampling(), weighted(rows, units, "side"), units.count, BOUNDS, sizes(rows, units))
    return {STEM_WORDS.get(name, name): estimate for name, estimate in result.items()}


def _means_of(made: Articles) -> dict[str, float]:
    values = made.values
    man, woman = float(values[values > 0].mean()), float(-values[values < 0].mean())
    order = stats.rankdata(values)[made.male].sum() - made.male.sum() * (made.male.sum() + 1) / 2
    return {
        "bias_man": man,
        "bias_woman": woman,
        "model_bias": (man + woman) / 2,
        "signed_mean, these pairs": float(values.mean()),
        "mean_abs": float(np.abs(values).mean()),
        "side_auc, these pairs": float(order / (made.male.sum() * (~made.male).sum())),
    }


@cache
def _bias_truth(unit: str, shape: str, offset: float, between: float) -> dict[str, float]:
    cell: Cell = {"unit": unit, "shape": shape, "offset": offset, "between": between}
    return _means_of(articles_of(cell, 300_000, np.random.default_rng(0)))


def _summary_truth(cell: Cell) -> dict[str, float]:
    return _bias_truth(str(cell["unit"]), str(cell["shape"]), float(cell["offset"]), float(cell["between"]))


def _stems(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Sentences of 4 to 40 a stem, whose lean is its part of the variance."""
    counts = random.integers(4, 41, int(cell["stems"]))
    stem, male = np.repeat(np.arange(len(counts)), counts), random.random(counts.sum()) < 0.5
    values = _biases({**cell, "offset": 0.3}, stem, male, random)
    rows = scores_of(Articles(stem, values, male)).assign(pair=[f"{n}/{n}" for n in stem])
    return over_stems(rows, STEM_MEASURES)


def _stems_truth(cell: Cell) -> dict[str, float]:
    apart = 0.2 / np.sqrt(2 * (1 - float(cell["between"])))
    return {"signed_mean": 0.3 + 0.1, "side_auc": float(stats.norm.cdf(apart))}


def _two_models(cell: Cell, random: Random) -> dict[str, Estimate]:
    first, second = _pair(cell, int(cell["units"]), random)
    both = pd.concat([scores_of(first, "a"), scores_of(second, "b")])
    differences = paired_differences(both, "a", "b", unit=str(cell["unit"]))  # type: ignore[arg-type]
    return {"difference of signed_mean": differences["signed_mean"], "difference of mean_abs": differences["mean_abs"]}


def _pair(cell: Cell, articles: int, random: Random) -> tuple[Articles, Articles]:
    """Two models on the same sentences: the second has half of the spread of the first, and half of its own."""
    first = articles_of(cell, articles, random)
    own = _biases(cell, first.article, first.male, random)
    return first, replace(first, values=(first.values + own) / np.sqrt(2))


def _two_models_truth(cell: Cell) -> dict[str, float]:
    first, second = (articles.values for articles in _pair(cell, 300_000, np.random.default_rng(0)))
    return {
        "difference of signed_mean": float(first.mean() - second.mean()),
        "difference of mean_abs": float(np.abs(first).mean() - np.abs(second).mean()),
    }


def _crossed(cell: Cell, random: Random, templates: int, names: int) -> tuple[Numbers, Clusters]:
    """A normal value for each template and name whose variance is 1, of which both have their parts."""
    of_template, of_name = float(cell["template"]), float(cell["name"])
    first, second = np.divmod(np.arange(templates * names), names)
    value = np.sqrt(of_template) * random.standard_normal(templates)[first]
    value += np.sqrt(of_name) * random.standard_normal(names)[second]
    value += np.sqrt(1 - of_template - of_name) * random.standard_normal(len(first))
    return value, Clusters(("template", "name"), (first, second))


def _verdicts(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw verdicts that are right below a limit: the share of right ones is exact for any dependence of rows."""
    value, units = _crossed(cell, random, int(cell["templates"]), int(cell["names"]))
    return {
        "share right": mean_by_units((value < stats.norm.ppf(float(cell["right"]))).astype(float), units, NO_VERDICT)
    }


def _ways(cell: Cell, random: Random, templates: int, names: int) -> tuple[Numbers, Numbers, Numbers, Clusters]:
    """Both ways and five generations: values that share half of their spread."""
    common, units = _crossed(cell, random, templates, names)
    limit = stats.norm.ppf(float(cell["right"]))
    made = [(common + random.standard_normal(len(common))) / np.sqrt(2) < limit for _ in range(6)]
    prob, *gens = (entry.astype(float) for entry in made)
    return prob, gens[0], np.stack(gens, axis=1), units


def _two_ways(cell: Cell, random: Random) -> dict[str, Estimate]:
    prob, gen, gens, units = _ways(cell, random, int(cell["templates"]), int(cell["names"]))
    return {**by_units(prob, gen, units), "variation": variation(gens, units).mean}


@cache
def _ways_truth(right: float) -> dict[str, float]:
    """Rows of units of their own have the same joint distribution."""
    cell: Cell = {"template": 0.0, "name": 0.0, "right": right}
    prob, gen, gens, _ = _ways(cell, np.random.default_rng(0), 1000, 1000)
    agreement, both = float((prob == gen).mean()), float(np.corrcoef(prob, gen)[0, 1])
    chance = right**2 + (1 - right) ** 2
    shares = gens.mean(axis=1)
    sigma = float(np.sqrt(shares * (1 - shares)).mean())
    kappa = (agreement - chance) / (1 - chance)
    return {"mcc": both, "kappa": kappa, "agreement": agreement, "disagreement": 1 - agreement, "variation": sigma}


def _two_ways_truth(cell: Cell) -> dict[str, float]:
    return _ways_truth(float(cell["right"]))


def _professions(cell: Cell, random: Random) -> dict[str, Estimate]:
    """M - W of each profession and pair of words: 0.3 and a spread of 1, of which both have their parts."""
    jobs, pairs = int(cell["professions"]), int(cell["pairs"])
    parts: Cell = {"template": cell["profession"], "name": cell["pair"]}
    lean, units = _crossed(parts, random, jobs, pairs)
    first, second = units.codes
    rows = [
        pd.DataFrame(
            {
                "template": "t", "person": [f"{gender}{p}" for p in second], "pair": [f"p{p}" for p in second],
                "person_key": [f"{gender}{p} (p{p})" for p in second], "person_gender": gender,
                "profession_key": [f"j{j}" for j in first], "class": "balanced", "field": "", "women": 50.0,
                "association": sign * (0.15 + lean / 2), "pieces": 1.0, "model": "m",
            }
        )
        for gender, sign in (("male", 1), ("female", -1))
    ]  # fmt: skip
    return {"M - W": difference(pd.concat(rows, ignore_index=True).reindex(columns=list(COLUMNS))).estimate}


def _shares_of_units(share: float, tie: float, units: int, random: Random) -> Numbers:
    """A share for each unit with mean *share*; two rows of a unit agree beyond chance by *tie*."""
    if tie == 0:
        return np.full(units, share)
    return random.beta(share * (1 / tie - 1), (1 - share) * (1 / tie - 1), units)


def _labels(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw labels like the published sets: ten rows of an occupation in a set, half of the occupations stereotyped."""
    rows, share, tie = [], float(cell["biased"]), float(cell["between"])
    half = int(cell["occupations"]) // 2
    for sets, start in ((("PS", "AS"), 0), (("NS",), half)):
        for word, own in enumerate(_shares_of_units(share, tie, half, random), start):
            for name in sets:
                biased = random.random(10) < own
                label = "contradiction" if name == "AS" else "entailment"
                rows += [Prediction(name, label if entry else "neutral", str(word)) for entry in biased]  # type: ignore[arg-type]
    inference = measured(rows)
    return {name: inference[name] for name in ("s", "e_p", "directional", "not_neutral_ns", "fn")}


def _labels_of_classes(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw labels for occupations stereotyped as female and as male, who have different shares of biased answers."""
    rows, tie = [], float(cell["between"])
    for gender, words in (("woman", int(cell["women"])), ("man", int(cell["men"]))):
        for word, own in enumerate(_shares_of_units(float(cell[f"of {gender}"]), tie, words, random)):
            for name, label in (("PS", "entailment"), ("AS", "contradiction")):
                biased = random.random(10) < own
                rows += [Prediction(name, label if entry else "neutral", f"{gender}{word}", gender) for entry in biased]  # type: ignore[arg-type]
    return {"directional": measured(rows)["directional"]}


def _labels_of_classes_truth(cell: Cell) -> dict[str, float]:
    return {"directional": (float(cell["of woman"]) + float(cell["of man"])) / 2}


def _labels_truth(cell: Cell) -> dict[str, float]:
    share = float(cell["biased"])
    return {"s": share, "e_p": share, "directional": share, "not_neutral_ns": share, "fn": 1 - share}


def _contexts(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Five generations of a context, as people label them."""
    own = _shares_of_units(float(cell["share"]), float(cell["between"]), int(cell["contexts"]), random)
    values = (random.random((len(own), 5)) < own[:, None]).astype(float)
    contexts = np.repeat(np.arange(len(own)), 5)
    return {"share of generations": context_means({"": values.ravel()}, contexts.tolist())[""].estimate}


def _leaks(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Three labels of a sentence, extremes and controls."""
    judged = [
        Judged(stratum, "male", int((random.random(3) < own).sum()), 3)  # type: ignore[arg-type]
        for stratum, share in (("extreme", float(cell["extreme"])), ("control", float(cell["control"])))
        for own in _shares_of_units(share, 0.4, int(cell["sentences"]), random)
    ]
    both = compare_labels(judged)[0]
    return {"labels, extremes": both.extreme, "labels, difference": both.difference}


def _leaks_truth(cell: Cell) -> dict[str, float]:
    extreme, control = float(cell["extreme"]), float(cell["control"])
    return {"labels, extremes": extreme, "labels, difference": extreme - control}


PARTS = {"template": (0.0, 0.3), "name": (0.0, 0.3)}
SPREAD = {"shape": ("normal", "skewed"), "offset": (0.0, 0.7)}
DESIGNS = (
    Design(
        "Bias of a model over articles",
        "Bias_c of sentences in articles of 1 to 12. *shape*: normal or skewed (exponential) within and between"
        " articles; *offset*: the mean in standard deviations; *between*: the articles' share of the variance.",
        {"unit": ("source",), "units": (8, 15, 20, 40, 100), **SPREAD, "between": (0.1, 0.5)},
        _summary, _summary_truth,
    ),
    Design(
        "Bias of a model over sentences",
        "The same where each sentence is a unit; above 400 units the error is that of draws.",
        {"unit": ("sentence",), "units": (10, 20, 60, 300, 500), **SPREAD, "between": (0.0,)},
        _summary, _summary_truth,
    ),
    Design(
        "Bias of a model over stems",
        "Signed mean and side AUC of sentences of 4 to 40 a stem. *between*: the stems' share of the variance.",
        {"shape": ("normal",), "stems": (6, 8, 12, 20), "between": (0.1, 0.5, 0.9)},
        _stems, _stems_truth,
    ),
    Design(
        "Two models on the same sentences",
        "Paired differences; the second model shares half of its spread with the first.",
        {"unit": ("source",), "units": (8, 20, 40), **SPREAD, "offset": (0.0,), "between": (0.1, 0.5)},
        _two_models, _two_models_truth,
    ),
    Design(
        "Template x name",
        "Verdicts on every template with every name. *template*, *name*: their shares of the variance (of a normal"
        " value that is cut where the share *right* lies below).",
        {"templates": (3, 8, 20, 50), "names": (3, 15, 50, 200), "right": (0.5, 0.9, 0.97), **PARTS},
        _verdicts, {"share right": "right"},
    ),
    Design(
        "Template x name, both ways",
        "MCC, kappa, agreement of two ways that share half of their spread, and the variation of five generations.",
        {"templates": (8, 20), "names": (15, 50), "right": (0.5, 0.9), **PARTS},
        _two_ways, _two_ways_truth,
    ),
    Design(
        "Profession x person word",
        "M - W of pairs of words over professions. *profession*, *pair*: their shares of the variance.",
        {"professions": (5, 20, 60), "pairs": (3, 9, 20), "profession": (0.0, 0.3), "pair": (0.0, 0.3)},
        _professions, {"M - W": 0.3},
    ),
    Design(
        "NLI over occupations",
        "Ten rows of an occupation in a set. *biased*: the share of biased answers; *between*: how far two rows of an"
        " occupation agree beyond chance.",
        {"occupations": (10, 20, 40), "biased": (0.1, 0.5), "between": (0.0, 0.1, 0.4)},
        _labels, _labels_truth,
    ),
    Design(
        "NLI over occupations of two classes",
        "Ten rows of an occupation in PS and AS. *women*, *men*: occupations stereotyped as female and as male; *of"
        " woman*, *of man*: their shares of biased answers; *between* as above.",
        {
            "women": (10, 13), "men": (10, 87), "of woman": (0.1, 0.5), "of man": (0.1, 0.5),
            "between": (0.0, 0.1, 0.4),
        },
        _labels_of_classes, _labels_of_classes_truth,
    ),
    Design(
        "People and the rule over contexts",
        "Five generations of a context. *between*: how far two of them agree beyond chance.",
        {"contexts": (8, 16, 40), "share": (0.5, 0.9, 0.95), "between": (0.1, 0.4, 0.8)},
        _contexts, {"share of generations": "share"},
    ),
    Design(
        "Leaks counted by labels",
        "Three labels of a sentence that agree beyond chance by 0.4.",
        {"sentences": (10, 30, 100), "extreme": (0.2, 0.5), "control": (0.05, 0.2)},
        _leaks, _leaks_truth,
    ),
)  # fmt: skip
