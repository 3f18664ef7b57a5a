"""How often the intervals of `estimate` hold a planted rate, and how wide they are against those of people alone.

    python -m benchmarks.prediction_powered [--samples 400]
    python -m benchmarks.prediction_powered --differences --samples 300

Prints tables for docs/judges.md. A judge that is right in a share of the items (accuracy), or that besides calls a
fifth of all items 1 (bias). Clusters: contexts of 5 items whose rate differs (beta with the same mean), of which people
labelled one item; the others are among the further items.
"""

import itertools
from collections.abc import Iterator

import click
import numpy as np

from evenhand.core.judges.prediction_powered import Labels, Rates, paired_difference, prediction_powered

ACCURACIES, RATES, PEOPLE, FURTHER = (0.55, 0.7, 0.85, 0.99), (0.1, 0.3), (50, 100, 200, 500), (1_000, 100_000)
SIZE = 5  # items of a context
MORE = 0.15  # how far the second of two models lies above the first, of what is left
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


def two_models(rng: np.random.Generator, contexts: int, asked: int, right: float, *, bias: bool, paired: bool) -> Rates:
    """The difference of two models, of which the second misgenders more; *paired*: in the same contexts."""
    lean, found = rng.beta(1.2, 2.8, contexts), []
    for number, more in enumerate((0.0, MORE)):
        of_model = lean if paired else rng.beta(1.2, 2.8, contexts)
        names = np.repeat(np.arange(contexts), SIZE)
        truth = rng.random(len(names)) < np.clip(of_model * (1 - more) + more, 0, 1)[names]
        judge = np.where(rng.random(len(names)) < right, truth, ~truth)
        if bias:
            judge = judge | (rng.random(len(names)) < 0.2)
        some = rng.permutation(len(names))[:asked]
        rest = np.ones(len(names), dtype=bool)
        rest[some] = False
        of = "" if paired else str(number)
        found.append(
            Labels(truth[some], judge[some], judge[rest],  # type: ignore[arg-type]
                   [f"{of}{name}" for name in names[some]], [f"{of}{name}" for name in names[rest]])
        )  # fmt: skip
    return paired_difference(*found)


def print_differences(samples: int) -> None:
    """The table of differences between two models."""
    rng, truth = np.random.default_rng(1), 0.3 - (0.3 * (1 - MORE) + MORE)
    print("| contexts | paired | labelled texts | judge | held | held by people alone | error ratio |")
    print("|---|---|---|---|---|---|---|")
    for paired, (contexts, asked) in itertools.product((True, False), ((60, 60), (60, 150), (200, 100), (200, 300))):
        for right, bias in ((0.55, False), (0.7, True), (0.9, False), (0.9, True), (0.99, False)):
            held, alone, ratio = 0, 0, []
            for _ in range(samples):
                found = two_models(rng, contexts, asked, right, bias=bias, paired=paired)
                both, people = found.both, found.people
                held += both.low is not None and both.low <= truth <= both.high  # type: ignore[operator]
                alone += people.low is not None and people.low <= truth <= people.high  # type: ignore[operator]
                ratio += [both.se / people.se] if both.se and people.se else []
            print(f"| {contexts} | {'yes' if paired else 'no'} | {asked} | {right}{', biased' if bias else ''} |"
                  f" {held / samples:.3f} | {alone / samples:.3f} | {np.mean(ratio):.3f} |", flush=True)  # fmt: skip


@click.command()
@click.option("--differences", is_flag=True, help="The differences between two models instead.")
@click.option("--contexts-only", is_flag=True, help="Leave out the table of items without clusters.")
@click.option("--samples", default=400, show_default=True, help="Samples a cell.")
def main(samples: int, *, contexts_only: bool, differences: bool) -> None:
    """Print the tables."""
    if differences:
        print_differences(samples)
        return
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
