"""How often before and after finds a planted change, and how often it finds one where there is none.

    python -m benchmarks.planted_changes [--tuned 40] [--draws 100]

planted:+1 leans to the male word by 1 (log10) everywhere. It is trained further on sentences in which the male word
stands three times as often: swapped by CDS (which plants a change: the lean goes) and unswapped (the placebo, which
moves it too). Some seeds are drawn and compared with the placebos of these seeds, the seed being the unit, many
times; and three placebos with three others, where nothing is to be found.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from core.before_after.compare import clusters_of_pairs, compare, over_runs
from core.before_after.run import built_in_source
from core.before_after.verdict import finding
from core.models import open_scorer
from core.models.tuning.settings import Tuning
from core.resources import keyword_pairs
from core.sentence_bias.prior import neutral_contexts
from core.statistics.resampling import Numbers
from core.statistics.units import Units
from core.swap.word_tables import word_table
from core.tune.run import tune
from core.tune.texts import Swap, training_texts

BASE = "planted:+1"
SEEDS = (3, 4, 5)
KINDS: dict[str, Swap] = {"planted change": "cds", "placebo against placebo": "none"}
MALE = 3  # of four sentences have the male word


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tuned", type=int, default=40)
    parser.add_argument("--draws", type=int, default=100)
    given = parser.parse_args()
    import pandas as pd

    items = [item for item in built_in_source().items() if item.row % 10 in (1, 2)]
    clusters = clusters_of_pairs(pd.Series([item.pair for item in items]))
    before = _values(BASE, items)
    began = time.perf_counter()
    kinds: dict[Swap, list[Numbers]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("cds", "none"):
            kinds[kind] = [_tuned(kind, seed, Path(folder), items) for seed in range(given.tuned)]
    print(f"{2 * given.tuned} models tuned in {time.perf_counter() - began:.0f} s")
    draw = random.Random(1)
    for seeds in SEEDS:
        for name, kind in KINDS.items():
            found = Counter(_verdict(before, kinds, kind, seeds, draw, clusters) for _ in range(given.draws))
            print(f"{name}: of {given.draws} comparisons of {seeds} seeds {dict(found)}")
    for kind, values in kinds.items():
        print(f"{kind}: mean size {sum(float(abs(one).mean()) for one in values) / len(values):.3f} (before: 1.000)")


def _verdict(
    before: Numbers, kinds: dict[Swap, list[Numbers]], kind: Swap, seeds: int, draw: random.Random, clusters: Units
) -> str:
    """The verdict on seeds of a kind, drawn anew, against placebos."""
    chosen = draw.sample(range(len(kinds[kind])), 2 * seeds)
    # A changed model has the placebo of its own seed; a placebo that of another, or it would be itself.
    others = chosen[:seeds] if kind == "cds" else chosen[seeds:]
    effects = [
        compare(before, kinds[kind][one], clusters, less=kinds["none"][other]).size.value
        for one, other in zip(chosen[:seeds], others, strict=True)
    ]
    return finding(over_runs(effects), [], margin=None, placebo=True, seeds=seeds).verdict


def _texts() -> list[str]:
    draw = random.Random(0)
    return [
        context.replace("{word}", pair.male if draw.randrange(4) < MALE else pair.female)
        for pair in keyword_pairs()
        for context in neutral_contexts(pair.name)
    ]


def _tuned(kind: Swap, seed: int, folder: Path, items: list) -> Numbers:  # type: ignore[type-arg]
    texts = training_texts(_texts(), "sentences", swap=kind, words=word_table("zh"), share=0.1, seed=seed)
    tuning = Tuning(steps=60, batch=32, rate=0.05, every=60, patience=0, seed=seed)
    place = folder / f"{kind}-{seed}"
    tune(BASE, texts, tuning, place, device="cpu")
    return _values(str(place), items)


def _values(model: str, items: list) -> Numbers:  # type: ignore[type-arg]
    import numpy as np

    from core.sentence_bias.bias import bias_of

    scores = open_scorer(model, device="cpu").score([item.probe for item in items])
    return np.array([np.nan if (value := bias_of(score)) is None else value for score in scores], dtype=float)


if __name__ == "__main__":
    main()
