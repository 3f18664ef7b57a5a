"""How far two annotators marked the same characters: F1 over code points, per kind of mark.

F1 = 2 |A and B| / (|A| + |B|), with A and B the sets of marked code points: 0 = nothing in common, 1 = the same. It is
symmetric, so nobody need be the reference. Where neither marked anything it is undefined, and such generations do not
count: agreement on "nothing to mark" is that of the labels.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.human_vs_rule.means_over_contexts import codes_of
from evenhand.core.statistics import Estimate, Note, Resampling
from evenhand.core.statistics.intervals import over_units
from evenhand.core.statistics.resampling import Numbers

Marks = Iterable[tuple[int, int, str]]  # half-open code points and a kind

NONE_MARKED = Note(N_("Neither of two annotators marked anything."))
NO_TWO = Note(N_("No generation has marks by two annotators to compare."))


def characters(marks: Marks, kind: str) -> frozenset[int]:
    """The code points that marks of *kind* cover."""
    return frozenset(i for start, end, of in marks if of == kind for i in range(start, end))


def f1(a: Marks, b: Marks, kind: str) -> tuple[float | None, Note | None]:
    """F1 of two annotators' marks on one text, 0 to 1; (None, reason) where neither marked anything."""
    one, other = characters(a, kind), characters(b, kind)
    if not one and not other:
        return None, NONE_MARKED
    return 2 * len(one & other) / (len(one) + len(other)), None


@dataclass(frozen=True, slots=True)
class MarkAgreement:
    """Marks of one kind over all generations.

    `pooled`: 2 sum |A and B| / sum (|A| + |B|) over every two annotators of every generation, with its interval over
    contexts; `mean`: the mean of the F1 of single generations and pairs; `pairs`: how many pairs have a mark; `both`:
    in how many of them both marked something; `same`: in how many exactly the same.
    """

    kind: str
    pooled: Estimate
    mean: float | None
    pairs: int
    both: int
    same: int
    json_names: ClassVar = {
        "kind": None, "pooled": "f1", "mean": "mean_f1", "pairs": "pairs_with_a_mark", "both": "both_marked",
        "same": "same_marks",
    }  # fmt: skip
    also_in_json: ClassVar = ("mean_f1_reason",)

    @property
    def mean_f1_reason(self) -> Note | None:
        """Why there is no mean F1."""
        return self.pooled.reason if self.mean is None else None


def agreement(
    items: Mapping[Hashable, Sequence[Sequence[tuple[int, int, str]]]],
    clusters: Mapping[Hashable, Hashable],
    kind: str,
    resampling: Resampling | None = None,
) -> MarkAgreement:
    """Agreement on marks of *kind*. *items*: generation -> marks of each annotator; *clusters*: -> its unit."""
    rows = []
    for item, said in items.items():
        for a, b in combinations([characters(marks, kind) for marks in said], 2):
            if a or b:
                rows.append((clusters[item], 2 * len(a & b), len(a) + len(b), bool(a and b), a == b))
    if not rows:
        return MarkAgreement(kind, Estimate.undefined(NO_TWO), None, 0, 0, 0)
    units, count = codes_of([row[0] for row in rows])
    above = np.bincount(units, weights=[row[1] for row in rows], minlength=count)
    below = np.bincount(units, weights=[row[2] for row in rows], minlength=count)

    def measures(weights: Numbers) -> dict[str, Numbers]:
        # Every unit here has a mark, so a draw is never empty; leaving out the only unit is not asked for.
        return {"f1": (weights @ above) / (weights @ below)}

    pooled = over_units(resampling or Resampling(), measures, count, {"f1": (0.0, 1.0)})["f1"]
    mean = float(np.mean([row[1] / row[2] for row in rows]))
    return MarkAgreement(kind, pooled, mean, len(rows), sum(r[3] for r in rows), sum(r[4] for r in rows))
