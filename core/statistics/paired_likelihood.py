"""The likelihood of comparisons with ties and sides, for many weightings of the same labels at once.

Labels are counted in cells: two models and the side of the first. In a cell the logs of the weights of first, second
and tie are eta, -eta and tau; eta is linear in the strengths (and in the advantage of a side), tau is one number. That
is an exponential family, so the likelihood has one maximum at most, which Newton's method finds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FIRST, SECOND, TIE = 0, 1, 2
ROUNDS, LONGEST_STEP, AT_REST = 60, 2.0, 1e-9
FLAT = 1e-4  # information in a direction; where there is a maximum it is about that of one label, at least
ALONE = 1e-6  # share of the information that no other unit has
ROOM = 2_000_000  # numbers held at a time

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Maximum:
    """`values`: the parameters of each weighting (weightings x parameters, tau last, -inf without a tie); `settled`:
    whether there is a maximum; `information`: its second derivatives, negated; `height`: the log-likelihood."""

    values: Numbers
    settled: Mask
    information: Numbers
    height: Numbers


def maximised(counts: Numbers, design: Numbers) -> Maximum:
    """Maximise the likelihood of *counts*, weightings x cells x (first, second, tie); *design*: cells x parameters.

    Without a maximum the values run away, and `height` is what they come near to.
    """
    most = max(1, ROOM // (design.size + counts[0].size))
    parts = [_maximised(counts[at : at + most], design) for at in range(0, len(counts), most)]
    columns = zip(*((part.values, part.settled, part.information, part.height) for part in parts), strict=True)
    return Maximum(*map(np.concatenate, columns))


def _maximised(counts: Numbers, design: Numbers) -> Maximum:
    size = design.shape[1] + 1
    values = np.zeros((len(counts), size))
    tied = counts[..., TIE].sum(axis=1) > 0
    going = np.ones(len(counts), dtype=bool)
    information = np.zeros((len(counts), size, size))
    least = np.zeros(len(counts))
    for _ in range(ROUNDS):
        slope, information[going] = _slopes(counts[going], design, values[going], tied[going])
        sizes, ways = np.linalg.eigh(information[going])
        least[going] = sizes[:, 0]
        along = np.einsum("bpq,bp->bq", ways, slope) / np.maximum(sizes, 1e-12)
        step = np.einsum("bpq,bq->bp", ways, along)
        longest = np.abs(step).max(axis=1, keepdims=True)
        values[going] += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        going[going] = longest[:, 0] > AT_REST
        if not going.any():
            break
    height = _height(counts, design, values, tied)
    decided = counts[..., :TIE].sum(axis=(1, 2)) > 0
    settled = ~going & (least > FLAT) & decided
    values[~tied, -1] = -np.inf
    return Maximum(values, settled, information, height)


def chances(design: Numbers, values: Numbers, tied: Mask) -> Numbers:
    """Return the chances of first, second and tie in each cell, weightings x cells x 3."""
    logs = _logs(design, values, tied)
    weights = np.exp(logs - logs.max(axis=2, keepdims=True))
    result: Numbers = weights / weights.sum(axis=2, keepdims=True)
    return result


def _logs(design: Numbers, values: Numbers, tied: Mask) -> Numbers:
    eta = values[:, :-1] @ design.T
    tau = np.where(tied, values[:, -1], -np.inf)
    return np.stack([eta, -eta, np.broadcast_to(tau[:, None], eta.shape)], axis=2)


def _slopes(counts: Numbers, design: Numbers, values: Numbers, tied: Mask) -> tuple[Numbers, Numbers]:
    """Return first and negated second derivatives. Without ties tau is not a parameter: its row is that of 1."""
    found = chances(design, values, tied)
    number = counts.sum(axis=2)
    ahead, tie = found[..., FIRST] - found[..., SECOND], found[..., TIE]
    slope = np.empty_like(values)
    slope[:, :-1] = (counts[..., FIRST] - counts[..., SECOND] - number * ahead) @ design
    slope[:, -1] = np.where(tied, (counts[..., TIE] - number * tie).sum(axis=1), 0.0)
    size = design.shape[1]
    information = np.empty((len(counts), size + 1, size + 1))
    spread = number * (1 - tie - ahead**2)
    information[:, :size, :size] = (design.T * spread[:, None, :]) @ design
    information[:, :size, size] = information[:, size, :size] = -(number * ahead * tie) @ design
    information[:, size, size] = np.where(tied, (number * tie * (1 - tie)).sum(axis=1), 1.0)
    return slope, information


def _height(counts: Numbers, design: Numbers, values: Numbers, tied: Mask) -> Numbers:
    logs = _logs(design, values, tied)
    top = logs.max(axis=2, keepdims=True)
    logs = logs - top - np.log(np.exp(logs - top).sum(axis=2, keepdims=True))
    height: Numbers = np.where(counts > 0, counts * np.where(counts > 0, logs, 0.0), 0.0).sum(axis=(1, 2))
    return height


def scores(outcome: NDArray[np.int64], cell: NDArray[np.int64], design: Numbers, values: Numbers) -> Numbers:
    """Return what each label adds to the first derivatives at *values*: labels x parameters, sum 0 at the maximum."""
    tied = np.isfinite(values[-1:])
    found = chances(design, np.where(np.isfinite(values), values, 0.0)[None], tied)[0]
    ahead = (outcome == FIRST) * 1.0 - (outcome == SECOND) - (found[:, FIRST] - found[:, SECOND])[cell]
    tie = (outcome == TIE) - found[cell, TIE]
    added: Numbers = np.concatenate([ahead[:, None] * design[cell], tie[:, None]], axis=1)
    return added


def derivatives(counts: Numbers, design: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return first and negated second derivatives of each weighting, all at the same *values*."""
    most = max(1, ROOM // (design.size + counts[0].size))
    where, tied = np.where(np.isfinite(values), values, 0.0), np.isfinite(values[-1:])
    parts = [
        _slopes(part, design, np.tile(where, (len(part), 1)), np.broadcast_to(tied, len(part)))
        for part in (counts[at : at + most] for at in range(0, len(counts), most))
    ]
    return np.concatenate([slope for slope, _ in parts]), np.concatenate([more for _, more in parts])


def corrected(information: Numbers, slopes: Numbers, shares: Numbers, wanted: Numbers) -> Numbers:
    """Return how far each unit moves each of *wanted* (wanted x parameters): units x wanted. Squares sum to variances.

    *slopes*, *shares*: what each unit adds to the first derivatives and to *information*. A unit pulls the maximum
    towards itself, which hides a part of its error; the correction of Kauermann and Carroll (2001) restores that part.
    NaN where a wanted value would not be determined without the unit.
    """
    sizes, ways = np.linalg.eigh(information)
    root = ways / np.sqrt(sizes) @ ways.T
    parts, along = np.linalg.eigh(root @ shares @ root)
    alone = parts >= 1 - ALONE
    turned = np.einsum("upq,up->uq", along, slopes @ root) / np.sqrt(np.where(alone, 1.0, 1 - parts))
    asked = wanted @ root
    moved: Numbers = np.einsum("upq,uq->up", along, turned) @ asked.T
    for unit in np.flatnonzero(alone.any(axis=1)):
        hangs = np.abs(asked @ along[unit][:, alone[unit]]).max(axis=1) > ALONE * np.abs(asked).max()
        moved[unit, hangs] = np.nan
    return moved
