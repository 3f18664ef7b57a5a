"""What models that know nothing look like in the measures: `python -m benchmarks.nulls [SENTENCES] [OPTIONS]`.

Tiny BERTs with random weights, each with a seed of its own, are asked the same sentences: own ones (every keyword pair
in its neutral contexts), or a random part of a file that is given and not kept. They have no gender bias to be found
and nothing in common with each other, so 5 of 100 tests should find something, and 5 of 100 intervals should leave out
0: counted as the app did it until now (sentences as units) and as it does it (stems). `--out docs/nulls.md` writes the
document.
"""

import argparse
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from transformers import AutoModelForMaskedLM

from evenhand.annotations.files.project_texts import file_input
from evenhand.core.model_bias import (
    correlation,
    null_band,
    paired_differences,
    prior_corrected,
    read_scores,
    shuffled_sides,
    sign_agreement,
    summarise,
)
from evenhand.core.models.catalogue import RANDOM
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.resources import keyword_pairs, quotas, stem_of
from evenhand.core.ruler.own_model import built_in_items
from evenhand.core.scoring.rows import COLUMNS, ScoreItem, score_items

Numbers = NDArray[np.float64]

TINY = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
SIDES = ("male", "female")
TWO_SIDED = 1.959964
SIZES = (100, 400, 1600)  # sentences of the correlations, up to what there are
NAMES = {
    "signed_mean": "signed mean", "side_difference": "Bias_man - Bias_woman", "side_auc": "side AUC",
    "mean_abs": "mean size", "model_bias": "Model_bias", "bias_man": "Bias_man",
}  # fmt: skip
NOT_BEFORE = ("Bias_man - Bias_woman, p < .05", "side AUC, p < .05")  # not counted by sentence here
QUICK = 200  # draws of the interval over sentences that the app had


def untrained(models: int, shape: Mapping[str, int] = TINY) -> Iterator[MaskedScorer]:
    """Scorers of random weights: the vocabulary of the reference `random-zh`, its shape but for *shape*."""
    reference = load_masked(RANDOM)
    kind = type(reference.model.config)
    config = kind(**{**reference.model.config.to_dict(), **shape})
    for seed in range(models):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model: Any = AutoModelForMaskedLM.from_config(config)
        loaded = LoadedModel(
            f"untrained-{seed}", model.eval().requires_grad_(False), reference.tokenizer, f"{seed:08d}", "fp32", ""
        )
        yield MaskedScorer(loaded)


def scores_of(items: Sequence[ScoreItem], scorers: Iterator[MaskedScorer]) -> pd.DataFrame:
    """The score file of all models on these sentences."""
    rows = [row.values() for scorer in scorers for row in score_items(items, scorer, model=scorer.loaded.name)]
    return read_scores(pd.DataFrame(rows, columns=list(COLUMNS)))


def items_of(path: Path | None, most: int, seed: int = 0) -> list[ScoreItem]:
    """At most *most* sentences of a file, drawn at random; without one the built-in ones."""
    if path is None:
        return built_in_items()
    known = [item for item in file_input(path).items() if item.probe is not None]
    chosen = np.sort(np.random.default_rng(seed).permutation(len(known))[:most])
    return [known[place] for place in chosen]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: what was asked, how often something was found with sentences and with stems as units."""

    name: str
    cases: int
    by_sentence: float | None
    by_stem: float


def without_neutral(low: Any, high: Any, neutral: float = 0.0) -> bool:
    """Whether an interval leaves out the neutral value."""
    return low is not None and not math.isnan(low) and not low <= neutral <= high


def of_models(frames: Mapping[str, pd.DataFrame]) -> list[Line]:
    """One model at a time: the tests and the intervals of the signed mean and the side AUC."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for rows in frames.values():
        summary = summarise(rows, unit="sentence", resamples=QUICK)
        nulls = shuffled_sides(rows)
        values = rows["bias_log10"].to_numpy(float)
        flipped = abs(values.sum()) / np.sqrt((values**2).sum())  # as normal: the flips of thousands of sentences are
        for name, z in (("signed_mean", flipped), ("side_difference", math.nan), ("side_auc", math.nan)):
            if nulls[name].p is not None:
                found.setdefault(f"{NAMES[name]}, p < .05", []).append((z > TWO_SIDED, bool(nulls[name].p < 0.05)))
        for name, neutral in (("signed_mean", 0.0), ("side_auc", 0.5)):
            both = (summary.fixed_pairs[name], getattr(summary, name))
            if both[1].low is not None:
                found.setdefault(f"{NAMES[name]}, interval without {neutral:g}", []).append(
                    tuple(without_neutral(one.low, one.high, neutral) for one in both)  # type: ignore[arg-type]
                )
    lines = lines_of(found)
    return [replace(line, by_sentence=None) if line.name in NOT_BEFORE else line for line in lines]


def lines_of(found: Mapping[str, Sequence[tuple[bool, bool]]]) -> list[Line]:
    """The shares of the cases in which sentences, and stems, found something."""
    return [Line(name, len(cases), *map(float, np.mean(cases, axis=0))) for name, cases in found.items()]


def of_differences(frames: Mapping[str, pd.DataFrame]) -> list[Line]:
    """Two models at a time (each in one pair of models only): intervals of the paired differences."""
    names = list(frames)
    found: dict[str, list[tuple[bool, bool]]] = {}
    for a, b in zip(names[::2], names[1::2], strict=False):
        both = pd.concat([frames[a], frames[b]])
        sentence = paired_differences(both, a, b, unit="sentence", resamples=QUICK)
        stem = paired_differences(both, a, b)
        for name in ("signed_mean", "mean_abs", "model_bias", "bias_man", "side_auc"):
            pair = (without_neutral(one[name].low, one[name].high) for one in (sentence, stem))
            if stem[name].low is None:
                continue
            found.setdefault(name, []).append(tuple(pair))  # type: ignore[arg-type]
    return lines_of({f"difference of {NAMES[name]}, interval without 0": cases for name, cases in found.items()})


def of_correlations(frames: Mapping[str, pd.DataFrame], most: int, seed: int = 0) -> list[Line]:
    """*most* pairs of models: correlations, raw and prior-corrected, and the share outside the null band."""
    pairs = list(itertools.combinations(frames, 2))
    drawn = [pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))[:most]]
    found: dict[str, list[tuple[bool, bool]]] = {}
    for a, b in drawn:
        both = pd.concat([frames[a], frames[b]])
        for corrected in (False, True):
            row = correlation(both, corrected=corrected).iloc[1]
            fisher = abs(np.arctanh(row["value"])) * np.sqrt(row["n"] - 3) > TWO_SIDED
            found.setdefault(f"correlation, {row['kind']}, interval without 0", []).append(
                (bool(fisher), without_neutral(row["low"], row["high"]))
            )
        signs = sign_agreement(both).iloc[1]
        wilson = sign_agreement(both, unit="sentence").iloc[1]
        found.setdefault("same side, interval without chance", []).append(
            tuple(without_neutral(one["low"], one["high"], one["chance"]) for one in (wilson, signs))  # type: ignore[arg-type]
        )
    return lines_of(found)


def band_lines(frames: Mapping[str, pd.DataFrame], sizes: Sequence[int] = SIZES, seed: int = 0) -> list[str]:
    """By number of sentences: where 95 of 100 correlations of two models lie, and the band that the app draws."""
    first = next(iter(frames.values()))
    order = np.random.default_rng(seed).permutation(len(first))
    lines = []
    for size in dict.fromkeys(min(size, len(first)) for size in sizes):
        chosen = np.sort(order[:size])
        pairs = first["pair"].iloc[chosen]
        raw, corrected = (
            np.stack([values(rows.iloc[chosen]) for rows in frames.values()])
            for values in (lambda rows: rows["bias_log10"].to_numpy(), lambda rows: prior_corrected(rows).to_numpy())
        )
        known = ~np.isnan(corrected).any(axis=0)
        upper = np.triu_indices(len(frames), 1)
        of_raw, of_corrected = (np.corrcoef(values)[upper] for values in (raw, corrected[:, known]))
        ranks = pd.DataFrame(corrected[:, known]).rank(axis=1).to_numpy()
        band = null_band(int(known.sum()), pairs[known].nunique())
        ends = [np.quantile(np.abs(r), 0.95) for r in (of_raw, of_corrected, np.corrcoef(ranks)[upper])]
        outside = np.mean(np.abs(of_corrected) > band)
        cells = [f"{size:,}", *(f"±{end:.2f}" for end in ends), f"±{band:.2f}", f"{outside:.1%}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def planted_lines(samples: int = 300, seed: int = 0) -> list[str]:
    """Planted correlations of the contexts of two models: how often the interval holds what was planted.

    1,000 sentences in the shares of the released file; each stem has a correlation of its own around the planted one
    (Fisher's z, standard deviation 0, or 0.2), each pair a lean of its own in each model.
    """
    weights = np.array([sum(quotas("released")[pair.name, side] for side in SIDES) for pair in keyword_pairs()], float)
    counts = np.maximum(2, np.round(weights / weights.sum() * 1000)).astype(int)
    pairs = np.repeat([pair.name for pair in keyword_pairs()], counts)
    stems, codes = np.unique([stem_of(name) for name in pairs], return_inverse=True)
    place = np.unique(pairs, return_inverse=True)[1]
    random = np.random.default_rng(seed)
    lines = []
    for r, spread in itertools.product((0.0, 0.5, 0.9), (0.0, 0.2)):
        held = []
        for _ in range(samples):
            own = np.tanh(np.arctanh(r) + spread * random.standard_normal(len(stems)))[codes]
            first, noise = random.standard_normal((2, len(pairs)))
            leans = random.standard_normal((2, len(counts)))[:, place]
            frame = _frame(pairs, (first + leans[0], own * first + np.sqrt(1 - own**2) * noise + leans[1]))
            row = correlation(frame).iloc[1]
            reach = TWO_SIDED / np.sqrt(row["n"] - 3)
            truth = _planted_truth(r, spread)
            held.append(
                (abs(np.arctanh(row["value"]) - np.arctanh(truth)) <= reach, row["low"] <= truth <= row["high"])
            )
        fisher, over_stems = np.mean(held, axis=0)
        lines.append(f"| {r:g} | {spread:g} | {fisher:.1%} | {over_stems:.1%} |")
    return lines


def _planted_truth(r: float, spread: float) -> float:
    """The mean correlation of stems that are drawn so."""
    drawn = np.random.default_rng(1).standard_normal(200_000)
    return float(np.tanh(np.arctanh(r) + spread * drawn).mean())


def _frame(pairs: Sequence[str], values: Sequence[Numbers]) -> pd.DataFrame:
    """Score rows of models a and b with these values of Bias_c."""
    rows = {"row": range(len(pairs)), "sentence": [str(row) for row in range(len(pairs))], "pair": pairs}
    return pd.concat(
        [pd.DataFrame(rows | {"model": name, "bias_log10": x}) for name, x in zip("ab", values, strict=True)]
    )


def table(lines: Sequence[Line]) -> list[str]:
    """The lines as a table in Markdown."""
    rows = [
        f"| {line.name} | {line.cases:,} | {'—' if line.by_sentence is None else f'{line.by_sentence:.1%}'} |"
        f" {line.by_stem:.1%} |"
        for line in lines
    ]
    return ["| found | cases | sentences as units | stems as units |", "|---|---|---|---|", *rows]


HEAD = """# What models that know nothing look like

Untrained models have no gender bias that a test could find, and two of them have nothing in common. This page says
what the measures find in them all the same: once with each sentence taken as a unit, as the app did before, and once
with the stems of the word pairs as units, as it does now (see [model_bias.md](model_bias.md)). 5 of 100 is right; 2 to
8 is what this project asks of 200 models. Written by

    {command}

{models} BERTs with random weights ({shape}; vocabulary of the reference `random-zh`; seeds 0 to {last}), on {sentences}
{source}, {pairs} word pairs of {stems} stems. Standard error of a share of 5%: {error:.1%} ({models} models), and
{error_pairs:.1%} (differences, each model in one); the pairs of models of a correlation are not independent.

"""
EXPLAINED = """
The numbers by sentence are wrong because all sentences of a pair share what its two words lean by themselves: a random
model prefers 男 or 女 wherever it is asked, so thousands of sentences are one draw. The test over stems turns the two
words of all sentences of a stem at once, in all ways that there are, and the interval is what that test does not
refuse (values of subsets, Hartigan 1969). Two assumptions are left: stems are independent (爷爷 and 姥爷 share a
character, 儿子 and 女儿 hold 子 and 女, so this is nearly true), and a lean is as likely to one side as to the other
when nothing is there.

## Correlations of two models

Where 95 of 100 pairs of untrained models lie (absolute value), by number of sentences, and the null band that the app
draws: 1.96 * sqrt(1.7 / (sentences - pairs) + 0.016), fitted to such tables of two architectures (this one on 60 to
1,600 sentences, and the shape of `random-zh` itself, 40 models on 60 to 800). The band does not shrink to 0: any model
responds to length and position, which two models share. Other architectures may share more or less.

| sentences | raw | prior-corrected, Pearson | prior-corrected, Spearman | null band | Pearson outside it |
|---|---|---|---|---|---|"""


PLANTED = """
## Planted correlations

How often the interval of the prior-corrected correlation holds a planted one (1,000 sentences of 12 stems in the
shares of the released file, made of numbers; 300 samples, standard error 1.3%). *spread*: the correlation differs
from stem to stem, by this standard deviation of Fisher's z. Fisher's z with sentences as units is what the app had.

| planted | spread | Fisher's z, sentences | over stems |
|---|---|---|---|"""


def document(frame: pd.DataFrame, models: int, command: str, source: str, pairs_of_models: int) -> str:
    """The whole page."""
    frames = {str(name): rows.reset_index(drop=True) for name, rows in frame.groupby("model", sort=False)}
    first = next(iter(frames.values()))
    summary = summarise(first, resamples=100)
    head = HEAD.format(
        command=command,
        models=models,
        shape=f"{TINY['num_hidden_layers']} layers, width {TINY['hidden_size']}",
        last=models - 1,
        sentences=f"{len(first):,}",
        source=source,
        pairs=first["pair"].nunique(),
        stems=summary.stems,
        error=math.sqrt(0.05 * 0.95 / models),
        error_pairs=math.sqrt(0.05 * 0.95 / max(1, models // 2)),
    )
    lines = [*of_models(frames), *of_differences(frames), *of_correlations(frames, pairs_of_models)]
    parts = [head.rstrip() + "\n", *table(lines), EXPLAINED, *band_lines(frames), PLANTED, *planted_lines()]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Print the document, or write it to a file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("sentences", nargs="?", type=Path)
    options.add_argument("--models", type=int, default=200)
    options.add_argument("--most", type=int, default=1000, help="sentences of the file")
    options.add_argument("--pairs-of-models", type=int, default=400, help="for the intervals of correlations")
    options.add_argument("--out", type=Path)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    began = time.monotonic()
    items = items_of(chosen.sentences, chosen.most)
    frame = scores_of(items, untrained(chosen.models))
    command = f"python -m benchmarks.nulls {'FILE ' if chosen.sentences else ''}--models {chosen.models}"
    source = "sentences of this project"
    if chosen.sentences:
        command, source = f"{command} --most {chosen.most}", f"sentences drawn from `{chosen.sentences.name}`"
    text = document(frame, chosen.models, command, source, chosen.pairs_of_models)
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
