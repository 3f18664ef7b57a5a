"""bf16 with a safety net: whatever lies within its error of a decision is scored again in fp32. Knows nothing of torch.

bf16 has 8 bits of precision; over the layers of a BERT the log ratio of two words drifts by some hundredths. That
changes no mean by much, but it decides signs, "obvious" and who is among the extremes. So a sample is scored both ways,
the largest difference is the error, and every sentence that this error could carry over a decision gets its fp32 value
(and the signature of it). Those differences are measured too; where one is larger than the error so far, the error
grows and more sentences are scored again, until nothing changes.

The error is the largest difference *seen*. It is no bound: a sentence that was scored in bf16 only may differ by more.
"""

import heapq
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.sentence_bias.bias import OBVIOUS, bias_of
from core.types import MaskedSentence, Score, Scorer

SAMPLE = 200
EXTREMES = 100

Decision = Literal["sign", "obvious", "extreme"]


@dataclass(frozen=True, slots=True)
class Rescored:
    """Scores in which no decision rests on bf16.

    `scores`: in the order of the probes; those compared in fp32 hold the fp32 value and signature. `error`: the
    largest difference of Bias_c (log10) between bf16 and fp32 among `compared` sentences, of which `sampled` were drawn
    at random (`sample_error` is the largest among these); None where none has a Bias_c. `rescored`: how many
    were scored again because they lie near a decision, the sample not counted; `near`: how many lie near
    which decision (a sentence near two counts for the first of sign, obvious, extreme).
    """

    scores: list[Score]
    error: float | None
    sample_error: float | None
    sampled: int
    rescored: int
    compared: int
    near: dict[Decision, int] = field(default_factory=dict)


def near_decision(
    biases: Sequence[float | None], error: float, *, threshold: float = OBVIOUS, extremes: int = EXTREMES
) -> dict[int, Decision]:
    """Which values could fall on the other side of a decision if each may be wrong by *error* (same unit, >= 0).

    Decisions: the sign; |value| against *threshold*; the *extremes* largest and smallest values and their order.
    A value outside the extremes could be one of them if it lies within twice the error of the last of them: both may
    be wrong. Undefined values are near nothing; infinite ones are extreme.
    """
    defined = {i: value for i, value in enumerate(biases) if value is not None and not math.isnan(value)}
    found: dict[int, Decision] = {}
    if extremes and defined:
        last_high = heapq.nlargest(extremes, defined.values())[-1]
        last_low = heapq.nsmallest(extremes, defined.values())[-1]
        ends = (i for i, value in defined.items() if value >= last_high - 2 * error or value <= last_low + 2 * error)
        found.update(dict.fromkeys(ends, "extreme"))
    found.update({i: "obvious" for i, value in defined.items() if abs(abs(value) - threshold) <= error})
    found.update({i: "sign" for i, value in defined.items() if abs(value) <= error})
    return dict(sorted(found.items()))


def drawn_sample(count: int, *, sample: int = SAMPLE, seed: int = 0) -> list[int]:
    """*sample* of the numbers 0 ... *count* - 1 (all where there are fewer), in order, the same for one seed."""
    return sorted(random.Random(seed).sample(range(count), min(sample, count)))  # noqa: S311


def rescored(
    probes: Sequence[MaskedSentence],
    scores: Sequence[Score],
    exact: Scorer,
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    threshold: float = OBVIOUS,
    extremes: int = EXTREMES,
) -> Rescored:
    """Score again with *exact* (the same model in fp32) what bf16 *scores* cannot decide.

    Bias_c is that of the first two options (male, female), log10. A sentence that is undefined in bf16 stays as it
    is, unless the sample or a decision had it scored again.
    """
    net = _Net(probes, scores, exact)
    drawn = drawn_sample(len(probes), sample=sample, seed=seed)
    sample_error = net.compare(drawn)
    near: dict[int, Decision] = {}
    error = sample_error
    while error is not None:
        near = near_decision(net.rough, error, threshold=threshold, extremes=extremes)
        if not (fresh := [i for i in near if i not in net.known]):
            break
        found = net.compare(fresh)
        error = max(error, found or 0.0)
    return Rescored(
        scores=net.final,
        error=error,
        sample_error=sample_error,
        sampled=len(drawn),
        rescored=len(net.known) - len(drawn),
        compared=len(net.known),
        near=dict(Counter(near.values())),
    )


class _Net:
    """Rough and exact values side by side."""

    def __init__(self, probes: Sequence[MaskedSentence], scores: Sequence[Score], exact: Scorer) -> None:
        self.probes, self.exact, self.final = probes, exact, list(scores)
        self.rough = [bias_of(score) if len(score.logprobs) > 1 else None for score in scores]
        self.known: set[int] = set()

    def compare(self, numbers: Sequence[int]) -> float | None:
        """Put the exact scores of these sentences in place; the largest difference of their Bias_c, if any has one."""
        differences = []
        for i, score in zip(numbers, self.exact.score([self.probes[i] for i in numbers]), strict=True):
            self.final[i] = score
            self.known.add(i)
            rough, value = self.rough[i], bias_of(score) if len(score.logprobs) > 1 else None
            if rough is not None and value is not None and math.isfinite(rough) and math.isfinite(value):
                differences.append(abs(rough - value))
        return max(differences, default=None)
