"""How often the intervals of `estimate` hold a planted rate, and how wide they are against those of people alone.

    python -m benchmarks.prediction_powered [--samples 400]

Prints tables for docs/judges.md. A judge that is right in a share of the items (accuracy), or that besides calls a
fifth of all items 1 (bias). Clusters: contexts of 5 items whose rate differs (beta with the same mean), of which people
labelled one item; the others are among the further items.
"""

import itertools
from collections.abc import Iterator

import click
import numpy as np

from core.judges.prediction_powered import Labels, Rates, prediction_powered

ACCURACIES, RATES, PEOPLE, FURTHER = (0.55, 0.7, 0.85, 0.99), (0.1, 0.3), (50, 100, 200, 500), (1_000, 100_000)
SIZE = 5  # items of a context
HEAD = "\n| judge | accuracy | rate | people | further | held | held by people alone | error ratio | worth |"


def drawn(
    rng: np.random.Generator, n: int, further: int, rate: float, right: float, *, bias: bool, contexts: bool
) -> Rates:
    """One sample of *n* items that people labelled and *further* ones."""
    groups = max(n, -(-(n + further) // SIZE)) if contexts else n + further
    lean = rng.beta(3 * rate, 3 * (1 - rate), groups) if contexts else np.full(groups, rate)
    names = np.repeat(np.arange(groups), SIZE) if contexts else np.arange(groups)
    truth = rng.random(len(names)) < lean[names]
    judge = np.where(rng.random(len(names)) < right, truth, ~truth)
    if bias:
        judge |= rng.random(len(names)) < 0.2
    asked = rng.permutation(groups)[:n] * (SIZE if contexts else 1)
    rest = np.ones(len(names), dtype=bool)
    rest[asked] = False
    clusters = (names[asked].tolist(), names[rest].tolist()) if contexts else (None, None)
    return prediction_powered(Labels(truth[asked], judge[asked], judge[rest], *clusters))  # type: ignore[arg-type]


def cells(samples: int, *, contexts: bool) -> Iterator[tuple[object, ...]]:
    """Of each cell: how often both and people alone hold the rate, the ratio of their widths, what they were worth."""
    for bias, right, rate, n, further in itertools.product((False, True), ACCURACIES, RATES, PEOPLE, FURTHER):
        if contexts and further > 1_000:
            continue  # with one label a context the further items add what they can in the first 1,000
        rng = np.random.default_rng([n, further, int(right * 100), int(rate * 100), bias, contexts])
        held, alone, ratio, worth = 0, 0, [], []
        for _ in range(samples):
            found = drawn(rng, n, further, rate, right, bias=bias, contexts=contexts)
            both, people = found.both, found.people
            held += both.low is not None and both.low <= rate <= both.high  # type: ignore[operator]
            alone += people.low is not None and people.low <= rate <= people.high  # type: ignore[operator]
            if both.se and people.se:
                ratio.append(both.se / people.se)
                worth.append(found.worth or n)
        yield (
            bias,
            right,
            rate,
            n,
            further,
            held / samples,
            alone / samples,
            float(np.mean(ratio)),
            float(np.mean(worth)),
        )


@click.command()
@click.option("--contexts-only", is_flag=True, help="Leave out the table of items without clusters.")
@click.option("--samples", default=400, show_default=True, help="Samples a cell.")
def main(samples: int, *, contexts_only: bool) -> None:
    """Print the tables."""
    for contexts in (True,) if contexts_only else (False, True):
        found = list(cells(samples, contexts=contexts))
        print(f"\n{'contexts' if contexts else 'items'}: {len(found)} cells of {samples} samples")
        for name, at in (("both", 5), ("people alone", 6)):
            shares = [float(cell[at]) for cell in found]  # type: ignore[arg-type]
            low = sum(share < 0.92 for share in shares)
            span = f"lowest {min(shares):.3f}, highest {max(shares):.3f}"
            print(f"{name}: pooled {np.mean(shares):.3f}, {span}, below .92: {low}")
        print(f"largest error against people alone: {max(float(cell[7]) for cell in found):.3f}")  # type: ignore[arg-type]
        print(HEAD)
        print("|---|---|---|---|---|---|---|---|---|")
        for bias, right, rate, n, further, held, alone, ratio, worth in found:
            print(f"| {'biased' if bias else 'fair'} | {right} | {rate} | {n} | {further:,} | {held:.3f} | {alone:.3f}"
                  f" | {ratio:.3f} | {worth:,.0f} |")  # fmt: skip


if __name__ == "__main__":
    main()
