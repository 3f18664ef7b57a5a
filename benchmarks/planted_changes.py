"""How often before and after finds a planted change, and how often it finds one where there is none.

    python -m benchmarks.planted_changes [--tuned 40] [--draws 2000] [--steps 120] [--rate 0.02]

planted:+1 leans to the male word by 1 (log10) everywhere. It is trained further on sentences in which the male word
stands three times as often: swapped by CDS (which plants a change: the lean goes) and unswapped (the placebo, which
moves it too). Some seeds are drawn and compared with the placebos of these seeds, the seed being the unit, many
times; and placebos with other placebos, where nothing is to be found.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from evenhand.core.before_after.compare import against_placebos, over_runs
from evenhand.core.before_after.run import built_in_source
from evenhand.core.before_after.verdict import finding
from evenhand.core.models import open_scorer
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.resources import keyword_pairs
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.sentence_bias.bias import bias_of
from evenhand.core.sentence_bias.prior import neutral_contexts
from evenhand.core.swap.word_tables import word_table
from evenhand.core.tune.run import tune
from evenhand.core.tune.texts import Swap, training_texts

BASE = "planted:+1"
SEEDS = (3, 4, 5)
KINDS: dict[str, Swap] = {"planted change": "cds", "placebo against placebo": "none"}
MALE = 3  # of four sentences have the male word


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tuned", type=int, default=40)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.02)
    given = parser.parse_args()
    items = list(built_in_source().items())
    torch.set_num_threads(1)  # sums in one order: the same figures again
    began = time.perf_counter()
    sizes: dict[Swap, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("cds", "none"):
            sizes[kind] = [
                _size(kind, seed, Path(folder), items, given.steps, given.rate) for seed in range(given.tuned)
            ]
    print(f"{2 * given.tuned} models tuned in {time.perf_counter() - began:.0f} s")
    for kind, values in sizes.items():
        print(f"{kind}: mean size {np.mean(values):.3f}, sd over seeds {np.std(values, ddof=1):.3f} (before: 1.000)")
    print(f"correlation of seeds with their placebos: {np.corrcoef(*sizes.values())[0, 1]:+.2f}")
    draw = random.Random(1)
    for seeds in SEEDS:
        for name, kind in KINDS.items():
            found = [_verdicts(sizes, kind, seeds, draw) for _ in range(given.draws)]
            for rule, verdicts in zip(("Welch", "pairs of seeds"), zip(*found, strict=True), strict=True):
                shares = {verdict: f"{100 * n / given.draws:.1f}" for verdict, n in Counter(verdicts).items()}
                print(f"{name}, {seeds} seeds, {rule}: of 100 comparisons {shares}")


def _verdicts(sizes: dict[Swap, list[float]], kind: Swap, seeds: int, draw: random.Random) -> tuple[str, str]:
    """The verdict on seeds of a kind, drawn anew, against placebos; and what it would be of pairs of equal seeds."""
    chosen = draw.sample(range(len(sizes[kind])), 2 * seeds)
    # A changed model has the placebo of its own seed; a placebo that of another, or it would be itself.
    others = chosen[:seeds] if kind == "cds" else chosen[seeds:]
    after, placebo = [sizes[kind][one] for one in chosen[:seeds]], [sizes["none"][one] for one in others]
    paired = over_runs([one - other for one, other in zip(after, placebo, strict=True)])
    found = (against_placebos(after, placebo), paired)
    one, other = (finding(each, [], margin=None, placebo=True, seeds=seeds).verdict for each in found)
    return one, other


def _texts() -> list[str]:
    draw = random.Random(0)
    return [
        context.replace("{word}", pair.male if draw.randrange(4) < MALE else pair.female)
        for pair in keyword_pairs()
        for context in neutral_contexts(pair.name)
    ]


def _size(kind: Swap, seed: int, folder: Path, items: list[ScoreItem], steps: int, rate: float) -> float:
    texts = training_texts(_texts(), "sentences", swap=kind, words=word_table("zh"), share=0.1, seed=seed)
    tuning = Tuning(steps=steps, batch=32, rate=rate, every=steps, patience=0, seed=seed)
    place = folder / f"{kind}-{seed}"
    tune(BASE, texts, tuning, place, device="cpu")
    scores = open_scorer(str(place), device="cpu").score([item.probe for item in items])
    return float(np.mean([abs(value) for score in scores if (value := bias_of(score)) is not None]))


if __name__ == "__main__":
    main()
