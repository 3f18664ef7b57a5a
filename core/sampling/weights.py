"""What each label of a drawn item stands for, from one sample or several of one population.

One sample: 1 / probability. A later sample is drawn from what is left, and its probabilities may depend on labels of
the earlier ones. Each sample then gives an unbiased estimate of its own: the items drawn before as they are, and for
the others those that it drew, by 1 / probability (Des Raj 1956, Some estimators in sampling with varying probabilities
without replacement). Their mean, each sample by how exact it is, gives an item that sample r drew the weight

    a_r / probability + a_(r+1) + a_(r+2) + ...

Items that were added between two samples are a population of their own, which the later samples alone represent. Of a
sample that is not labelled in full, the labels of a stratum stand for those that are missing.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
NONE_LEFT = 1e-9


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that was drawn. `sample`: by which, 1, 2, ...; `population`: the number of the first sample that it could
    be drawn by; `stratum`: what its sample was drawn from separately."""

    sample: int
    population: int
    probability: float
    stratum: Hashable = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The items of one population that a sample was drawn from: how many, and how many of them it drew."""

    items: int
    drawn: int


def weights(drawn: Sequence[Drawn], labelled: Sequence[bool], frames: Mapping[tuple[int, int], Frame]) -> Numbers:
    """How many items each label stands for, above 0; NaN for an item without label.

    *frames*: (sample, population) -> its frame. Labels that were all drawn alike have equal weights.
    """
    asked: dict[tuple[int, Hashable], int] = {}
    answered: dict[tuple[int, Hashable], int] = {}
    for one, known in zip(drawn, labelled, strict=True):
        place = (one.sample, one.stratum)
        asked[place] = asked.get(place, 0) + 1
        answered[place] = answered.get(place, 0) + bool(known)
    shares = shares_of_samples(frames, _answered(asked, answered))
    later = {
        (sample, of): sum(share for (other, also), share in shares.items() if also == of and other > sample)
        for sample, of in shares
    }
    found = np.full(len(drawn), np.nan)
    for at, (one, known) in enumerate(zip(drawn, labelled, strict=True)):
        if known:
            own, place = (one.sample, one.population), (one.sample, one.stratum)
            found[at] = (shares[own] / one.probability + later[own]) * asked[place] / answered[place]
    return found


def _answered(
    asked: Mapping[tuple[int, Hashable], int], answered: Mapping[tuple[int, Hashable], int]
) -> dict[int, float]:
    """The share of each sample that is labelled."""
    sums: dict[int, list[int]] = {}
    for (sample, stratum), number in asked.items():
        one = sums.setdefault(sample, [0, 0])
        one[0], one[1] = one[0] + answered[sample, stratum], one[1] + number
    return {sample: some / every for sample, (some, every) in sums.items()}


def shares_of_samples(
    frames: Mapping[tuple[int, int], Frame], labelled: Mapping[int, float]
) -> dict[tuple[int, int], float]:
    """By how much each sample counts for each population: the inverse of its variance if all items were drawn alike.

    So they hang on numbers only, not on probabilities, which may depend on labels. *labelled*: of each sample the share
    that has labels. The shares of a population sum to 1, or are 0 without labels.
    """
    found: dict[tuple[int, int], float] = {}
    for population in {of for _, of in frames}:
        spread = {
            sample: frame.items * (frame.items / (frame.drawn * labelled[sample]) - 1)
            for (sample, of), frame in frames.items()
            if of == population and frame.drawn and labelled.get(sample, 0) > 0
        }
        whole = [sample for sample, one in spread.items() if one <= NONE_LEFT * frames[sample, population].items]
        exact = {max(whole): 1.0} if whole else {sample: 1 / one for sample, one in spread.items()}
        total = sum(exact.values())
        for sample, of in frames:
            if of == population:
                found[sample, of] = exact.get(sample, 0.0) / total if total else 0.0
    return found
