"""How often intervals from a sampling design hold a planted rate, and how wide they are against simple sampling.

    python -m benchmarks.sampling [--samples 400]
    python -m benchmarks.sampling --quotas --samples 200

Prints the tables of docs/sampling.md. A population of generations in four strata whose rates differ (a model each);
contexts whose rate differs, of one to nine items or 80 in all, so that many items of one are labelled; three judges,
right in a share of items (accuracy). Every sample is drawn, weighed and estimated by the functions that the app calls.
"""

import itertools
from dataclasses import dataclass

import click
import numpy as np

from evenhand.core.judges.prediction_powered import Labels, Rates, prediction_powered, rate_of_people
from evenhand.core.sampling.designs import (
    SHARE,
    SIZED,
    Design,
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

RATES = ((0.05, 0.1, 0.2, 0.45), (0.2, 0.3, 0.4, 0.5))  # of the strata
ACCURACIES, NUMBERS = (0.7, 0.9, 0.97), (50, 100, 200, 500)
ITEMS = 6_000
QUOTA_ITEMS, QUOTA, KEPT = 2_000, 100, 0.4  # candidates, sentences wanted of each of four cells, share that is kept
MANY, FEW_CONTEXTS = "of 1 to 9", 80
CONTEXTS = ("", MANY, f"{FEW_CONTEXTS} in all")
LEAN = 0.6  # by how much of what is possible the rate of a context lies above or below that of its stratum


@dataclass(frozen=True)
class Population:
    """Items with what people would say, what three judges say, their stratum and context."""

    truth: np.ndarray
    votes: np.ndarray
    strata: np.ndarray
    contexts: np.ndarray


def population(rng: np.random.Generator, rates: tuple[float, ...], right: float, contexts: str) -> Population:
    """One population; its items come from all strata alike."""
    strata = np.arange(ITEMS) % len(rates)
    names = np.arange(ITEMS)
    mean = np.asarray(rates)[strata]
    if contexts:
        names = np.repeat(names, rng.integers(1, 10, ITEMS))[:ITEMS] if contexts == MANY else names % FEW_CONTEXTS
        names = rng.permutation(names)
        mean = mean + np.where(rng.random(ITEMS) < 0.5, 1, -1)[names] * LEAN * np.minimum(mean, 1 - mean)
    truth = rng.random(ITEMS) < mean
    hard = rng.random(ITEMS) < 0.3  # judges err on the same items
    wrong = rng.random((ITEMS, 3)) < np.where(hard, min(0.5, 2.2 * (1 - right)), 0.5 * (1 - right))[:, None]
    return Population(truth, np.where(wrong, ~truth[:, None], truth[:, None]), strata, names)


def sizes_of(design: Design, of: Population) -> tuple[np.ndarray, list[object] | None]:
    """The size of each item, and the groups of the list that is drawn from."""
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


def drawn(
    rng: np.random.Generator, of: Population, design: Design, number: int, share: float, *, clusters: bool
) -> Rates:
    """One sample of *number* items, labelled in full."""
    sizes, groups = sizes_of(design, of)
    found = probabilities(sizes, number, share)
    mine = draw(found, groups, rng.permutation(ITEMS), float(rng.random()))
    strata = [str(one) for one in groups] if groups is not None and design != "clusters" else [""] * ITEMS
    asked = [Drawn(1, 1, float(found[i]), strata[i]) for i in np.flatnonzero(mine)]
    stands = weights(asked, [True] * len(asked), {(1, 1): Frame(ITEMS, len(asked))})
    judge = of.votes[:, 0].astype(float)
    labels = Labels(
        of.truth[mine].astype(float).tolist(), judge[mine].tolist(), judge[~mine].tolist(),
        of.contexts[mine].tolist() if clusters else None, of.contexts[~mine].tolist() if clusters else None,
        weights=stands.tolist(), strata=[one.stratum or None for one in asked],
    )  # fmt: skip
    return prediction_powered(labels)


def holds(found: Estimate, truth: float) -> bool:
    """Whether an interval is there and holds the truth."""
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def two_samples(rng: np.random.Generator, right: float, share: float) -> tuple[Estimate, float, int, int, int]:
    """Quotas of four cells closed by two samples, the second by what the first has shown.

    The rate kept with its interval, the plain share kept of what was labelled, how many items were labelled, how many
    of a quarter of these in random order would have been needed, how many sentences were kept.
    """
    cells, count = np.arange(QUOTA_ITEMS) % 4, QUOTA_ITEMS
    truth = rng.random(count) < KEPT
    judge = np.where(rng.random(count) < right, truth, ~truth).astype(float)
    drawn_in, chances = np.zeros(count, dtype=int), np.zeros(count)
    frames, wanted_at_random = {}, 0
    for sample in (1, 2):
        left = drawn_in == 0
        kept = [int((truth & (drawn_in > 0) & (cells == cell)).sum()) for cell in range(4)]
        missing = {cell: max(0, QUOTA - kept[cell]) for cell in range(4)}
        seen = np.where(drawn_in > 0, truth.astype(float), np.nan)
        rates = rates_of([f"{c}{j}" for c, j in zip(cells, judge, strict=True)], judge, seen)
        if sample == 2:  # what is missing by chance: every cell is drawn from again
            missing = {cell: max(5, one) for cell, one in missing.items()}
        found = to_close_quotas(rates[left], cells[left].tolist(), missing, share)  # type: ignore[arg-type]
        rows = np.flatnonzero(left)
        mine = draw(found, cells[rows].tolist(), rng.permutation(len(rows)), float(rng.random()))
        drawn_in[rows[mine]], chances[rows[mine]] = sample, found[mine]
        frames[sample, 1] = Frame(len(rows), int(mine.sum()))
        wanted_at_random += round(QUOTA / KEPT) * 4 if sample == 1 else 0
    rows = np.flatnonzero(drawn_in)
    asked = [Drawn(int(drawn_in[at]), 1, float(chances[at]), int(cells[at])) for at in rows]
    stands = weights(asked, [True] * len(asked), frames)
    said = truth[rows].astype(float).tolist()
    strata = [(one.sample, one.stratum) for one in asked]
    rate, _effect = rate_of_people(Labels(said, said, [], weights=stands.tolist(), strata=strata))
    return rate, float(np.mean(said)), len(rows), wanted_at_random, int(sum(said))


def print_quotas(samples: int) -> None:
    """The table of quotas."""
    print("| judge | random part | labelled | in random order | kept of 400 wanted | rate held | mean | plain share |")
    print("|---|---|---|---|---|---|---|---|")
    for right, share in itertools.product((0.7, 0.9), (0.2, 0.3, 0.5)):
        rng = np.random.default_rng([int(100 * right), int(100 * share)])
        found = [two_samples(rng, right, share) for _ in range(samples)]
        held = np.mean([holds(rate, KEPT) for rate, *_ in found])
        mean = np.mean([rate.value or 0.0 for rate, *_ in found])
        plain, labelled, at_random, kept = (np.mean([one[at] for one in found]) for at in (1, 2, 3, 4))
        print(f"| {right} | {share} | {labelled:.0f} | {at_random:.0f} | {kept:.0f} | {held:.3f} | {mean:.3f} |"
              f" {plain:.3f} |", flush=True)  # fmt: skip


@click.command()
@click.option("--quotas", is_flag=True, help="Quotas that two samples close instead.")
@click.option("--samples", default=400, show_default=True, help="Samples a cell.")
@click.option("--only", multiple=True, type=click.Choice(SIZED), help="Such designs.")
@click.option("--number", "numbers", multiple=True, type=int, default=NUMBERS, help="Such sizes.")
@click.option("--cells", is_flag=True, help="Each cell too.")
@click.option("--share", default=SHARE, show_default=True, help="The random share.")
def main(
    samples: int, *, quotas: bool, share: float, cells: bool, only: tuple[Design, ...], numbers: tuple[int, ...]
) -> None:
    """Print the tables."""
    if quotas:
        print_quotas(samples)
        return
    print("| design | contexts | cells | both: pooled | lowest | highest | people: pooled | lowest | highest |"
          " error of both against simple | design effect |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    usual: dict[tuple[object, ...], float] = {}
    for contexts, design in itertools.product(CONTEXTS, only or SIZED):
        both, people, ratio, effect = [], [], [], []
        for rates, right, number in itertools.product(RATES, ACCURACIES, numbers):
            rng = np.random.default_rng([number, int(100 * right), int(100 * rates[0]), CONTEXTS.index(contexts)])
            held, alone, error = 0, 0, []
            for _ in range(samples):
                of = population(rng, rates, right, contexts)
                found, truth = drawn(rng, of, design, number, share, clusters=bool(contexts)), float(np.mean(rates))
                held, alone = held + holds(found.both, truth), alone + holds(found.people, truth)
                error.append(((found.both.value or 0.0) - truth) ** 2)
                effect += [found.effect] if found.effect is not None else []
            both.append(held / samples)
            if cells:
                print(design, contexts, rates, right, number, held / samples, alone / samples, flush=True)
            people.append(alone / samples)
            usual.setdefault((contexts, rates, right, number), float(np.mean(error)) ** 0.5)
            ratio.append(float(np.mean(error)) ** 0.5 / usual[contexts, rates, right, number])
        print(f"| {design} | {contexts or 'none'} | {len(both)} | {np.mean(both):.3f} | {min(both):.3f} |"
              f" {max(both):.3f} | {np.mean(people):.3f} | {min(people):.3f} | {max(people):.3f} |"
              f" {np.mean(ratio):.2f} | {np.mean(effect):.2f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
