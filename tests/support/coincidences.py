"""Krippendorff's alpha by its definition, in fractions: slow, and independent of the code under test."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

Distance = Callable[[int, int, Counter[int]], Fraction]


def nominal(a: int, b: int, _totals: Counter[int]) -> Fraction:
    """Return 1 for two different categories."""
    return Fraction(a != b)


def ordinal(a: int, b: int, totals: Counter[int]) -> Fraction:
    """Return the squared number of values between *a* and *b*, half of each end included."""
    low, high = min(a, b), max(a, b)
    between = sum(totals[value] for value in range(low, high + 1))
    return (between - Fraction(totals[low] + totals[high], 2)) ** 2


def alpha(units: Sequence[Sequence[int]], distance: Distance = nominal) -> float:
    """Return 1 - observed / expected disagreement of *units*, each the values that its annotators gave.

    Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": coincidences are ordered pairs of values within a
    unit, each divided by the unit's number of values less one; units with one value are left out.
    """
    coincidences: Counter[tuple[int, int]] = Counter()
    for values in units:
        for a, b in permutations(values, 2):
            coincidences[a, b] += Fraction(1, len(values) - 1)
    totals: Counter[int] = Counter()
    for (a, _), count in coincidences.items():
        totals[a] += count
    n = sum(totals.values())
    observed = sum(count * distance(a, b, totals) for (a, b), count in coincidences.items()) / n
    expected = sum(totals[a] * totals[b] * distance(a, b, totals) for a in totals for b in totals) / (n * (n - 1))
    return float(1 - observed / expected)
