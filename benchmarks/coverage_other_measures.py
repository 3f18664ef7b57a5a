"""How often the intervals of measures of others hold the truth: `python -m benchmarks.coverage_other_measures`.

Made-up answers with a known truth: shares of CrowS-Pairs whose writers differ, ss and lms of StereoSet whose target
terms differ, the gap of WinoBias where people differ. Intervals are made by the functions that the app calls.
"""

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from evenhand.core.other_measures.asking import gap_figures, stereoset_figures
from evenhand.core.other_measures.stereoset import Item
from evenhand.core.other_measures.winobias import Sentence, Twins
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.statistics.posterior import share_of_rows

NOTHING = Note("no pair")
WRITERS = (52, 31, 17, 16, 15, 13, 9, 9, 9, 7, *[3] * 24, *[2] * 6)  # as of the 262 pairs about gender
Sample = Callable[[np.random.Generator], tuple[Estimate, float]]


def share_of_pairs(share: float, sizes: Sequence[int], spread: float, over_writers: bool) -> Sample:
    """Writers of *sizes* pairs whose own shares have the deviation *spread*; the truth is the share over writers."""

    def sample(random: np.random.Generator) -> tuple[Estimate, float]:
        own = np.clip(random.normal(share, spread, len(sizes)), 0, 1)
        units = np.repeat(np.arange(len(sizes)), sizes)
        hits = random.random(len(units)) < own[units]
        if over_writers:
            return share_of_rows(hits.tolist(), [f"w{unit}" for unit in units], nothing=NOTHING), share
        return wilson(int(hits.sum()), len(hits), nothing=NOTHING), share

    return sample


def of_terms(quantity: str, share: float, spread: float, terms: int = 10, items: int = 25) -> Sample:
    """StereoSet: *terms* whose own shares have the deviation *spread*."""

    def sample(random: np.random.Generator) -> tuple[Estimate, float]:
        made, scores = [], dict[str, float]()
        for term in range(terms):
            own = float(np.clip(random.normal(share, spread), 0, 1))
            for number in range(items):
                ids = tuple(f"{term}-{number}-{part}" for part in range(3))
                wins, known = random.random() < own, random.random(2) < own
                base = (1.0, 0.9) if wins else (0.9, 1.0)
                values = [one - 0.5 * (not there) for one, there in zip(base, known, strict=True)]
                values = list(base) if quantity == "ss" else values
                scores |= dict(zip(ids, (*values, 0.7), strict=True))
                made.append(Item(str(term), (ids[0], ids[1], ids[2])))
        figures = {one.quantity: one.estimate for one in stereoset_figures(made, scores, "model")}
        return figures[quantity], 100 * share

    return sample


def of_twins(gap: float, spread: float, people: int = 40, count: int = 396) -> Sample:
    """WinoBias: both shares move with who is meant and who else is there, each by the deviation *spread*."""

    def sample(random: np.random.Generator) -> tuple[Estimate, float]:
        meant, other = (random.normal(0, spread, people) for _side in range(2))
        pairs = random.integers(0, people, (count, 2))
        lean = meant[pairs[:, 0]] + other[pairs[:, 1]]
        right = [random.random(count) < np.clip(0.6 + sign * (gap + lean) / 2, 0, 1) for sign in (1, -1)]
        made = []
        for first, second in pairs:
            one = Sentence("", "he", f"p{first}", f"p{second}")
            made.append(Twins(one, one, True))
        answers = [(bool(a), bool(b)) for a, b in zip(*right, strict=True)]
        return gap_figures(made, answers, "model")[0].estimate, 100 * gap

    return sample


CELLS: dict[str, Sample] = {
    "CrowS share, writers alike, Wilson": share_of_pairs(0.5, WRITERS, 0.0, False),
    "CrowS share, writers alike, over writers": share_of_pairs(0.5, WRITERS, 0.0, True),
    "CrowS share, .6, writers apart by .1, Wilson": share_of_pairs(0.6, WRITERS, 0.1, False),
    "CrowS share, .6, writers apart by .1, over writers": share_of_pairs(0.6, WRITERS, 0.1, True),
    "CrowS share, .6, writers apart by .2, over writers": share_of_pairs(0.6, WRITERS, 0.2, True),
    "CrowS share, 40 control pairs, .5, Wilson": share_of_pairs(0.5, [1] * 40, 0.0, False),
    "ss, 10 terms, .5 apart by .05": of_terms("ss", 0.5, 0.05),
    "ss, 10 terms, .6 apart by .15": of_terms("ss", 0.6, 0.15),
    "ss, 40 terms of 6, .6 apart by .1": of_terms("ss", 0.6, 0.1, 40, 6),
    "lms, 10 terms, .7 apart by .1": of_terms("lms", 0.7, 0.1),
    "lms, 10 terms, .9 apart by .05": of_terms("lms", 0.9, 0.05),
    "gap, 396 twins, 0, people alike": of_twins(0.0, 0.0),
    "gap, 396 twins, .1, people apart by .1": of_twins(0.1, 0.1),
    "gap, 396 twins, .2, people apart by .2": of_twins(0.2, 0.2),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| interval | holds | no interval | mean width |\n|---|---|---|---|")
    for place, (name, sample) in enumerate(CELLS.items()):
        random = np.random.default_rng((options.seed, place))
        held, withheld, widths = 0, 0, list[float]()
        for _number in range(options.samples):
            found, truth = sample(random)
            if found.low is None or found.high is None:
                withheld += 1
                continue
            held += found.low <= truth <= found.high
            widths.append(found.high - found.low)
        known = max(1, options.samples - withheld)
        print(f"| {name} | {held / known:.1%} | {withheld / options.samples:.1%} | {np.mean(widths):.3g} |", flush=True)


if __name__ == "__main__":
    main()
