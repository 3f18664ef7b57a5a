"""Planted truths: two runs, measures of others, the plan `stop`, correlations, and models that know nothing."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import torch
from transformers import AutoModelForMaskedLM

from benchmarks.coverage_loop import Cell, Design, Random
from evenhand.core.before_after.compare import compare
from evenhand.core.before_after.two_runs import MEASURED
from evenhand.core.model_bias import correlation, paired_differences, read_scores, shuffled_sides, summarise
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.nli.measure import changes
from evenhand.core.nli.types import SETS, Prediction
from evenhand.core.other_measures.questions import gap_values, stereoset_values
from evenhand.core.other_measures.stereotypes import Item
from evenhand.core.other_measures.winobias import Sentence, Twins
from evenhand.core.resources import keyword_pairs, quotas, stem_of
from evenhand.core.ruler.own_model import built_in_items
from evenhand.core.scoring.rows import COLUMNS, score_items
from evenhand.core.statistics import (
    Estimate,
    Note,
    Resampling,
    Tally,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    wilson,
)
from evenhand.core.statistics.posterior import share_of_rows
from evenhand.core.statistics.units import Units

NOTHING = Note("no pair")
NAN = float("nan")
MANY = 400_000  # draws of units for a truth
WRITERS = (52, 31, 17, 16, 15, 13, 9, 9, 9, 7, *[3] * 24, *[2] * 6)  # as of the 262 pairs about gender
OPINIONS = ((0.28, (0.97, 0.95, 0.93)), (0.36, (0.75, 0.60, 0.45)), (0.36, (0.15, 0.10, 0.05)))  # share, who accepts
TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def _units(cell: Cell) -> tuple[int, int]:
    first, second = str(cell["units"]).split(" x ")
    return int(first), int(second)


def _associations(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw professions and words with normal effects on the model before and on the change."""
    (professions, pairs), change = _units(cell), float(cell["change"])
    of_profession, of_word = random.normal(0, 0.4, (2, professions)), random.normal(0, 0.4, (2, pairs))
    rows = []
    for p, w in product(range(professions), range(pairs)):
        before = of_profession[0, p] + of_word[0, w] + random.normal(0, 0.3)
        moved = change + 0.7 * (of_profession[1, p] + of_word[1, w]) + random.normal(0, 0.3)
        words = {"profession_key": str(p), "person_key": str(w), "pair": f"{w}/", "person_gender": "female"}
        kind = ("female", "male", "balanced")[p % 3]
        rows.append(words | {"class": kind, "text": "", "value": before, "value_after": before + moved})
    return {"associations, female words": MEASURED["associations"](pd.DataFrame(rows)).measures[1].change}


def _nli(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw shares of stereotyped answers of each occupation: logistic-normal, the change a shift with a spread."""
    occupations, templates = _units(cell)
    sides: tuple[list[Prediction], list[Prediction]] = ([], [])
    for o in range(2 * occupations):  # the first half has a stereotype, the others are the neutral occupations
        chances = _chances(random, 1, float(cell["change"]))[:, 0]
        for name in (SETS[:2] if o < occupations else SETS[2:]) * (1 + (o >= occupations)):
            biased = "contradiction" if name == "AS" else "entailment"
            for _ in range(templates):
                for side, chance in zip(sides, chances, strict=True):
                    side.append(Prediction(name, biased if random.random() < chance else "neutral", f"o{o}"))
    result = changes(*sides)[2]
    return {name: result[name] for name in ("directional", "s", "not_neutral_ns")}


def _chances(random: Random, count: int, change: float) -> np.ndarray:
    """Return chances of a stereotyped answer before and after [2, count]."""
    before = random.normal(-1.0, 1.2, count)
    return 1 / (1 + np.exp(-np.stack([before, before + change + random.normal(0, 0.7, count)])))


@cache
def _nli_change(change: float) -> float:
    before, after = _chances(np.random.default_rng(7), MANY, change)
    return float((after - before).mean())


def _nli_truth(cell: Cell) -> dict[str, float]:
    return dict.fromkeys(("directional", "s", "not_neutral_ns"), _nli_change(float(cell["change"])))


def _misgendering(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw right verdicts: logistic with effects of templates and names before, and on the change."""
    templates, names = _units(cell)
    of_template, of_name = random.normal(0, 0.9, (2, templates)), random.normal(0, 0.6, (2, names))
    rows = []
    for t, n in product(range(templates), range(names)):
        before = of_template[0, t] + of_name[0, n]
        after = before + float(cell["change"]) + 0.7 * (of_template[1, t] + of_name[1, n])
        first, second = (float(random.random() < 1 / (1 + np.exp(-value))) for value in (before, after))
        row = {"instance": f"{t}.{n}", "template": str(t), "name": str(n), "pronoun": "she", "text": ""}
        row |= {"by_probability": first, "by_probability_after": second, "value": first, "value_after": second}
        rows.append(row | {"by_writing": np.nan, "by_writing_after": np.nan})
    return {"misgendering, right by probability": MEASURED["misgendering"](pd.DataFrame(rows)).measures[0].change}


@cache
def _verdict_change(change: float) -> float:
    random = np.random.default_rng(8)
    before = random.normal(0, 0.9, MANY) + random.normal(0, 0.6, MANY)
    after = before + change + 0.7 * (random.normal(0, 0.9, MANY) + random.normal(0, 0.6, MANY))
    return float((1 / (1 + np.exp(-after)) - 1 / (1 + np.exp(-before))).mean())


def _misgendering_truth(cell: Cell) -> dict[str, float]:
    return {"misgendering, right by probability": _verdict_change(float(cell["change"]))}


def _stems(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw changes of sentences whose stems have 0.8 of the variance; as many of each stem as in SlguSet, or 20."""
    wanted = dict.fromkeys((stem_of(pair.name) for pair in keyword_pairs()), 0)
    for (name, _side), count in quotas("released").items():
        wanted[stem_of(name)] += count
    shares = np.array(list(wanted.values())) / sum(wanted.values())
    counts = np.maximum(2, np.round(1000 * shares)).astype(int) if cell["stems"] == "SlguSet" else np.full(12, 20)
    codes = np.repeat(np.arange(len(counts)), counts)
    of_stem, own = (_noise(str(cell["shape"]), size, random) for size in (len(counts), len(codes)))
    change = np.sqrt(0.8) * of_stem[codes] + np.sqrt(0.2) * own
    return {"change": compare(np.zeros(len(codes)), change, Units("stem", codes, len(counts))).shift}


def _noise(shape: str, size: int, random: Random) -> np.ndarray:
    """Return noise with mean 0 and variance 1."""
    if shape == "normal":
        return random.standard_normal(size)
    return random.exponential(size=size) - 1


def _crows(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw pairs of writers whose own shares have a deviation; the truth is the share over writers."""
    sizes = WRITERS if cell["writers"] == "of the set" else (1,) * 40
    own = np.clip(random.normal(float(cell["share"]), float(cell["apart"]), len(sizes)), 0, 1)
    units = np.repeat(np.arange(len(sizes)), sizes)
    hits = random.random(len(units)) < own[units]
    over = share_of_rows(hits.tolist(), [f"w{unit}" for unit in units], nothing=NOTHING)
    return {
        "CrowS share, Wilson": wilson(int(hits.sum()), len(hits), nothing=NOTHING),
        "CrowS share, over writers": over,
    }


def _stereoset(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw answers about terms whose own shares have a deviation."""
    terms, items = _units(cell)
    made, scores = [], dict[str, float]()
    for term, number in product(range(terms), range(items)):
        if number == 0:
            own = float(np.clip(random.normal(float(cell["share"]), float(cell["apart"])), 0, 1))
        ids = tuple(f"{term}-{number}-{part}" for part in range(3))
        wins, known = random.random() < own, random.random(2) < own
        values = list((1.0, 0.9) if wins else (0.9, 1.0))
        if cell["quantity"] == "lms":
            values = [value - 0.5 * (not there) for value, there in zip(values, known, strict=True)]
        scores |= dict(zip(ids, (*values, 0.7), strict=True))
        made.append(Item(str(term), ids))
    figures = {figure.quantity: figure.estimate for figure in stereoset_values(made, scores, "model")}
    return {str(cell["quantity"]): figures[str(cell["quantity"])]}


def _stereoset_truth(cell: Cell) -> dict[str, float]:
    return {str(cell["quantity"]): 100 * float(cell["share"])}


def _winobias(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw twins of 40 people: both shares move with who is meant and who else is there."""
    meant, other = (random.normal(0, float(cell["apart"]), 40) for _side in range(2))
    pairs = random.integers(0, 40, (396, 2))
    lean = meant[pairs[:, 0]] + other[pairs[:, 1]]
    right = [random.random(396) < np.clip(0.6 + sign * (float(cell["gap"]) + lean) / 2, 0, 1) for sign in (1, -1)]
    sentences = [Sentence("", "he", f"p{first}", f"p{second}") for first, second in pairs]
    answers = [(bool(a), bool(b)) for a, b in zip(*right, strict=True)]
    return {"gap": gap_values([Twins(text, text, True) for text in sentences], answers, "model")[0].estimate}


def _winobias_truth(cell: Cell) -> dict[str, float]:
    return {"gap": 100 * float(cell["gap"])}


def _stop(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Play the plan `stop` on labels of three people: what agreement on the share is above that of full labelling.

    Outside the share an item ends with its first reject, the annotators coming in a random order. The share is part of
    the whole, so somewhat more than 95 of 100 intervals hold 0.
    """
    items = int(cell["items"])
    rates = np.array([who for _, who in OPINIONS])[random.choice(3, items, p=[share for share, _ in OPINIONS])]
    accepts, shared = random.random((items, 3)) < rates, random.random(items) < float(cell["share"])
    ordered = random.permuted(accepts, axis=1)
    made = np.where(shared | ordered.all(axis=1), 3, ordered.argmin(axis=1) + 1)
    counts = np.stack([accepts.sum(axis=1), 3 - accepts.sum(axis=1)], axis=1)
    estimates = {"labels saved": Estimate(1 - float(made.sum()) / (3 * items))}
    for name, measure in (("kappa", fleiss_kappa), ("alpha", krippendorff_alpha), ("ac1", gwet_ac1)):
        drawn = Resampling(1000, 0)
        full, part = (measure(Tally.of(rows.astype(np.int64)), drawn) for rows in (counts, counts[shared]))
        ends = [None if end is None else end - full.value for end in (part.value, part.low, part.high)]
        estimates[f"{name} of the share less that of all"] = Estimate(*ends)
    return estimates


def _frame(pairs: list[str], values: tuple[np.ndarray, np.ndarray]) -> pd.DataFrame:
    """Return score rows of models a and b with these values of Bias_c."""
    rows = {"row": range(len(pairs)), "sentence": [str(row) for row in range(len(pairs))], "pair": pairs}
    frames = [pd.DataFrame(rows | {"model": name, "bias_log10": x}) for name, x in zip("ab", values, strict=True)]
    return pd.concat(frames)


def _correlation(cell: Cell, random: Random) -> dict[str, Estimate]:
    """Draw contexts of two models with a planted correlation; each stem has its own, each pair a lean in each model."""
    wanted = quotas("released")
    weights = np.array([wanted[pair.name, "male"] + wanted[pair.name, "female"] for pair in keyword_pairs()], float)
    counts = np.maximum(2, np.round(weights / weights.sum() * 1000)).astype(int)
    pairs = np.repeat([pair.name for pair in keyword_pairs()], counts)
    stems, codes = np.unique([stem_of(name) for name in pairs], return_inverse=True)
    place = np.unique(pairs, return_inverse=True)[1]
    z = np.arctanh(float(cell["r"])) + float(cell["spread"]) * random.standard_normal(len(stems))
    first, noise = random.standard_normal((2, len(pairs)))
    leans, own = random.standard_normal((2, len(counts)))[:, place], np.tanh(z)[codes]
    values = (first + leans[0], own * first + np.sqrt(1 - own**2) * noise + leans[1])
    row = correlation(_frame(pairs.tolist(), values)).iloc[1]
    return {"correlation, prior-corrected": Estimate(row["value"], row["low"], row["high"])}


def _correlation_truth(cell: Cell) -> dict[str, float]:
    z = np.arctanh(float(cell["r"])) + float(cell["spread"]) * np.random.default_rng(1).standard_normal(200_000)
    return {"correlation, prior-corrected": float(np.tanh(z).mean())}


def _scores(seed: int) -> pd.DataFrame:
    """Return the scores of the built-in sentences by a tiny BERT with random weights."""
    reference = load_masked(RANDOM)
    config = type(reference.model.config)(**{**reference.model.config.to_dict(), **TINY})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForMaskedLM.from_config(config).eval().requires_grad_(False)
    name = f"untrained-{seed}"
    scorer = MaskedScorer(LoadedModel(name, model, reference.tokenizer, f"{seed:08d}", "fp32", ""))
    rows = [row.values() for row in score_items(built_in_items(), scorer, model=name)]
    return read_scores(pd.DataFrame(rows, columns=list(COLUMNS)))


def _untrained(_: Cell, random: Random) -> dict[str, Estimate]:
    """Ask two models that know nothing: no interval should leave out 0, no test find anything but 5 times in 100."""
    torch.set_num_threads(1)
    a, b = (_scores(int(seed)) for seed in random.integers(0, 10**8, 2))
    names, both, summary = (str(a["model"][0]), str(b["model"][0])), pd.concat([a, b]), summarise(a, resamples=100)
    made = {"signed_mean": summary.signed_mean}
    for name, null in shuffled_sides(a).items():
        if null.p is not None:
            made[f"{name}, p < .05"] = Estimate(null.p, float(null.p < 0.05), float(null.p < 0.05))
    made |= {f"difference of {name}": estimate for name, estimate in paired_differences(both, *names).items()}
    for corrected in (False, True):
        row = correlation(both, corrected=corrected).iloc[1]
        made[f"correlation, {row['kind']}"] = Estimate(row["value"], row["low"], row["high"])
    return made


# The sentences have no side for an AUC.
UNTRAINED = ["signed_mean", *(f"{name}, p < .05" for name in ("signed_mean", "side_difference"))]
UNTRAINED += [f"difference of {name}" for name in ("signed_mean", "mean_abs", "model_bias", "bias_man")]
UNTRAINED += ["correlation, raw", "correlation, prior-corrected"]


def _two_runs(name: str, units: tuple[str, ...], sample: object, truth: object) -> Design:
    return Design(name, "", {"units": units, "change": (0.0, -0.8)}, sample, truth)


CROWS = [("of the set", 0.5, 0.0), ("of the set", 0.6, 0.1), ("of the set", 0.6, 0.2), ("one pair each", 0.5, 0.0)]
OF_TERMS = [("ss", "10 x 25", 0.5, 0.05), ("ss", "10 x 25", 0.6, 0.15), ("ss", "40 x 6", 0.6, 0.1),
            ("lms", "10 x 25", 0.7, 0.1), ("lms", "10 x 25", 0.9, 0.05)]  # fmt: skip
STOP = {"labels saved": NAN} | {f"{name} of the share less that of all": 0.0 for name in ("kappa", "alpha", "ac1")}
DESIGNS = {
    "two-runs": (
        _two_runs("associations", ("10 x 5", "20 x 9", "60 x 9"), _associations,
                  {"associations, female words": "change"}),
        _two_runs("inference", ("10 x 3", "20 x 3", "60 x 3"), _nli, _nli_truth),
        _two_runs("misgendering", ("10 x 5", "20 x 15", "50 x 15"), _misgendering, _misgendering_truth),
    ),
    "before-after": (
        Design("before and after", "", {"stems": ("SlguSet", "20 each"), "shape": ("normal", "skewed")}, _stems,
               {"change": 0.0}),
    ),
    "other-measures": (
        Design("CrowS-Pairs", "", {}, _crows,
               {"CrowS share, Wilson": "share", "CrowS share, over writers": "share"},
               [{"writers": writers, "share": share, "apart": apart} for writers, share, apart in CROWS]),
        Design("StereoSet", "", {}, _stereoset, _stereoset_truth,
               [{"quantity": quantity, "units": units, "share": share, "apart": apart}
                for quantity, units, share, apart in OF_TERMS]),
        Design("WinoBias", "", {}, _winobias, _winobias_truth,
               [{"gap": apart, "apart": apart} for apart in (0.0, 0.1, 0.2)]),
    ),
    "stop": (Design("stop", "", {"items": (2_000,), "share": (0.1,)}, _stop, STOP),),
    "correlations": (
        Design("correlations", "", {"r": (0.0, 0.5, 0.9), "spread": (0.0, 0.2)}, _correlation, _correlation_truth),
    ),
    "untrained": (Design("untrained", "", {"models": (2,)}, _untrained, dict.fromkeys(UNTRAINED, 0.0)),),
}  # fmt: skip
