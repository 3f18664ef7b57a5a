"""The number of items that each label of a drawn item stands for, from one or several samples of one population.

One sample: 1 / probability. A later sample is drawn from the remaining items, and its probabilities may depend on
labels of the earlier samples. Each sample then gives its own unbiased estimate: the items drawn before count once, and
the items that it drew count 1 / probability for the others (Des Raj 1956, Some estimators in sampling with varying
probabilities without replacement). The mean of these estimates, weighted by the exactness a_r of each sample, gives an
item that sample r drew the weight

    a_r / probability + a_(r+1) + a_(r+2) + ...

Items that were added between two samples are a separate population, which only the later samples represent. In a
sample that is not labelled in full, the labels of a stratum stand for the missing ones.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
NONE_LEFT = 1e-9


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that was drawn. `sample`: the number of its sample, 1, 2, ...; `population`: the number of the first
    sample that could draw it; `stratum`: the part of the list from which its sample drew separately."""

    sample: int
    population: int
    probability: float
    stratum: Hashable = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The items of one population that a sample was drawn from: their number, and how many the sample drew."""

    items: int
    drawn: int


def weights(drawn: Sequence[Drawn], labelled: Sequence[bool], frames: Mapping[tuple[int, int], Frame]) -> Numbers:
    """Return the number of items that each label stands for, above 0; NaN for an item without label.

    *frames*: (sample, population) -> its frame. Labels of items that were all drawn alike have equal weights.
    """
    values: dict[tuple[int, Hashable], int] = {}
    answered: dict[tuple[int, Hashable], int] = {}
    for one, known in zip(drawn, labelled, strict=True):
        place = (one.sample, one.stratum)
        values[place] = values.get(place, 0) + 1
        answered[place] = answered.get(place, 0) + bool(known)
    shares = shares_of_samples(frames, _answered(values, answered))
    later = {
        (sample, of): sum(share for (other, also), share in shares.items() if also == of and other > sample)
        for sample, of in shares
    }
    result = np.full(len(drawn), np.nan)
    for at, (one, known) in enumerate(zip(drawn, labelled, strict=True)):
        if known:
            own, place = (one.sample, one.population), (one.sample, one.stratum)
            result[at] = (shares[own] / one.probability + later[own]) * values[place] / answered[place]
    return result


def _answered(
    asked: Mapping[tuple[int, Hashable], int], answered: Mapping[tuple[int, Hashable], int]
) -> dict[int, float]:
    """Return the share of each sample that is labelled."""
    sums: dict[int, list[int]] = {}
    for (sample, stratum), number in asked.items():
        one = sums.setdefault(sample, [0, 0])
        one[0], one[1] = one[0] + answered[sample, stratum], one[1] + number
    return {sample: some / every for sample, (some, every) in sums.items()}


def shares_of_samples(
    frames: Mapping[tuple[int, int], Frame], labelled: Mapping[int, float]
) -> dict[tuple[int, int], float]:
    """Return the weight of each sample for each population: the inverse of its variance if all items were drawn alike.

    So the weights depend on counts only, not on probabilities, which may depend on labels. *labelled*: the share of
    each sample that has labels. The weights of a population sum to 1, or are 0 without labels.
    """
    shares: dict[tuple[int, int], float] = {}
    for population in {of for _, of in frames}:
        spread = {
            sample: frame.items * (frame.items / (frame.drawn * labelled[sample]) - 1)
            for (sample, of), frame in frames.items()
            if of == population and frame.drawn and labelled.get(sample, 0) > 0
        }
        whole = [sample for sample, value in spread.items() if value <= NONE_LEFT * frames[sample, population].items]
        exact = {max(whole): 1.0} if whole else {sample: 1 / value for sample, value in spread.items()}
        total = sum(exact.values())
        for sample, of in frames:
            if of == population:
                shares[sample, of] = exact.get(sample, 0.0) / total if total else 0.0
    return shares
