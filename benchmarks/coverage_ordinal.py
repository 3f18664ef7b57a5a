"""How often the interval of Krippendorff's alpha for a scale holds the truth: `python -m benchmarks.coverage_ordinal`.

Labels of `benchmarks.coverage_agreement`: a label repeats an earlier one of its item with the planted chance and is new
otherwise, so alpha is the planted kappa whatever lies between two points.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

from benchmarks.coverage_agreement import Measures, Planted, _of_tally, simulated
from evenhand.core.statistics import many_raters

ALPHA = "alpha, ordinal"


@dataclass(frozen=True, slots=True)
class Scale(Planted):
    """Labels on a scale of `categories` points."""

    def measures(self) -> Measures:
        """Only what has an order."""
        measures: Mapping[str, tuple[object, object]] = {
            ALPHA: (lambda planted: planted.kappa, partial(_of_tally, many_raters.ordinal_alpha))
        }
        return measures  # type: ignore[return-value]


def truths() -> list[Scale]:
    """24 cells: few and many items, two and three annotators, an even and a lopsided scale of 5 and of 11 points."""
    return [
        Scale(items, raters, accept, kappa, points)
        for items, raters, kappa in product((24, 80, 200), (2, 3), (0.4, 0.8))
        for accept, points in ((0.3, 5), (0.7, 11))
    ]


def main() -> None:
    """Print a row for each cell and the coverage of all together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = simulated(truths(), asked.samples, asked.draws, asked.seed, again=0)
    for one in found:
        cell = one.planted
        print(
            f"items {cell.items} raters {cell.raters} points {cell.categories} alpha {cell.kappa}:"
            f" {one.share:.1%} of {one.printed}, withheld {one.withheld}, mean width {one.width:.3f}"
        )
    known = [one for one in found if one.printed]
    share = sum(one.held for one in known) / sum(one.printed for one in known)
    print(f"all together {share:.1%}, lowest cell {min(one.share for one in known):.1%}")


if __name__ == "__main__":
    main()
