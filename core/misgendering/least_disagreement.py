"""How often the two ways must disagree, from the probabilities at the slot alone (004 appendix E; SPEC 4.8)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import N_, Refused
from core.statistics import Note

NOTHING = Note(N_("All four probabilities are 0, so none is preferred."))


@dataclass(frozen=True, slots=True)
class Theory:
    """`delta`: the chance, 0 to 1, that a pronoun drawn at the slot is not the one the probability-based way prefers.

    `delta_star`: the least that any preference could reach, with the likeliest pronoun. None with `reason` where all
    probabilities are 0. `shares`: the probabilities scaled to sum to 1.
    """

    delta: float | None
    delta_star: float | None
    shares: dict[str, float]
    reason: Note | None = None


def theory(probabilities: Mapping[str, float], preferred: str) -> Theory:
    """delta = 1 - Pr(preferred | context) / sum of Pr over the forms; delta* with the largest in its place.

    *probabilities* of the forms of one case given what stands before the slot; they need not sum to 1 (only their
    ratios count). *preferred*: the form that the whole sentence makes likeliest (two-sided). Raises Refused for a
    negative or infinite probability or a *preferred* that is not among them.
    """
    for name, value in probabilities.items():
        if not math.isfinite(value) or value < 0:
            raise Refused(N_("{value} is no probability of {name}."), value=value, name=name)
    if preferred not in probabilities:
        raise Refused(N_("{name} is not among the pronouns."), name=preferred)
    most = max(probabilities.values())
    if most == 0:
        return Theory(None, None, {}, NOTHING)
    scaled = {name: value / most for name, value in probabilities.items()}  # no overflow, no underflow of the sum
    total = math.fsum(scaled.values())
    return Theory(
        delta=1 - scaled[preferred] / total,
        delta_star=1 - 1 / total,
        shares={name: value / total for name, value in scaled.items()},
    )
