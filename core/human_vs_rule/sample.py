"""Choose the generations that people should judge, distinct contexts first, and compare the designs.

Generations of one context resemble each other: five of one context tell less than one each of five contexts. The
published cells are 5 contexts x 5 generations (docs/human_vs_rule.md#labels-of-generations); the same 25 labels on 25
contexts have a standard error that is smaller by the root of the design effect, 1 + (m - 1) rho (Kish 1965, Survey
Sampling, 5.4), where m is the number of generations per context and rho the intra-class correlation of the labels
within contexts.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evenhand.core.errors import N_, Refused
from evenhand.core.statistics.estimate import Note

Row = TypeVar("Row")

NO_REPEATS = Note(N_("No context has two labelled generations, so their correlation is unknown."))
ONE_CONTEXT = Note(N_("The pilot has only one context; at least two are needed."))
ALL_EQUAL = Note(N_("All labels of the pilot are the same: there is no variance to decompose."))


@dataclass(frozen=True, slots=True)
class Correlation:
    """The likeness of the labels of one context.

    `value`: the intra-class correlation, -1 / (k - 1) to 1; 0 = as alike as labels of other contexts, 1 = all
    labels of a context equal. None with `reason` where undefined. `mean`: the mean label; `contexts`, `labels`: how
    many there are; `per_context`: k, labels per context (for unequal numbers the average of the formula).
    """

    value: float | None
    mean: float | None
    contexts: int
    labels: int
    per_context: float | None = None
    reason: Note | None = None


def intra_class(groups: Mapping[Hashable, Mapping[Hashable, Sequence[float]]]) -> Correlation:
    """Return the one-way intra-class correlation of labels within contexts, pooled over strata.

    *groups*: stratum -> context -> labels (0/1 or any number). With c_s contexts and N_s labels in stratum s, MSB =
    sum n_i (mean_i - mean_s)^2 / sum (c_s - 1), MSW = sum (y - mean_i)^2 / sum (N_s - c_s), k = sum (N_s -
    sum n_i^2 / N_s) / sum (c_s - 1), and the correlation is (MSB - MSW) / (MSB + (k - 1) MSW): Fisher's estimator by
    analysis of variance (Donner 1986, Int. Stat. Rev. 54, eq. 2.2); with one stratum it is the usual one. The sample
    is drawn separately from each stratum (a model with a pronoun), so differences between strata do not count as
    similarity within contexts.
    """
    contexts, labels, total = 0, 0, 0.0
    between = within = spread = 0.0
    between_free = within_free = 0
    for stratum in groups.values():
        values = [list(found) for found in stratum.values() if len(found)]
        if not values:
            continue
        number = sum(map(len, values))
        mean = sum(map(sum, values)) / number
        contexts, labels, total = contexts + len(values), labels + number, total + sum(map(sum, values))
        for found in values:
            own = sum(found) / len(found)
            between += len(found) * (own - mean) ** 2
            within += sum((value - own) ** 2 for value in found)
        spread += number - sum(len(value) ** 2 for value in values) / number
        between_free, within_free = between_free + len(values) - 1, within_free + number - len(values)
    average = total / labels if labels else None
    reason = ONE_CONTEXT if not between_free else NO_REPEATS if not within_free else None
    if reason is not None:
        return Correlation(None, average, contexts, labels, None, reason)
    k = spread / between_free
    msb, msw = between / between_free, within / within_free
    below = msb + (k - 1) * msw
    if below <= 0:
        return Correlation(None, average, contexts, labels, k, ALL_EQUAL)
    return Correlation((msb - msw) / below, average, contexts, labels, k)


@dataclass(frozen=True, slots=True)
class Design:
    """A sample of one cell and its effective size.

    `se`: the expected standard error of the cell's rate, in the unit of the label (0 to 0.5 for a share); `effect`:
    the variance against as many independent labels (1 = none lost); `independent`: how many independent labels it is
    worth. None where the correlation or the mean is not known.
    """

    contexts: int
    per_context: int
    se: float | None
    effect: float | None
    independent: float | None

    @property
    def labels(self) -> int:
        """The number of labelled generations."""
        return self.contexts * self.per_context


def design(contexts: int, per_context: int, share: float | None, correlation: float | None) -> Design:
    """Return the expected standard error of a share from *contexts* x *per_context* labels.

    se = sqrt(p (1 - p) / n x (1 + (m - 1) rho)), n = contexts x m. A negative *correlation* counts as 0: if contexts
    are less alike than chance in one sample, they need not be in the next. Raises Refused for a design without labels.
    """
    if contexts < 1 or per_context < 1:
        raise Refused(N_("A sample needs at least one context with one generation."))
    number = contexts * per_context
    if correlation is None:
        return Design(contexts, per_context, None, None, None)
    effect = 1 + (per_context - 1) * min(1.0, max(0.0, correlation))
    se = None if share is None else math.sqrt(share * (1 - share) / number * effect)
    return Design(contexts, per_context, se, effect, number / effect)


def designs(labels: int, share: float | None, correlation: float | None) -> list[Design]:
    """Return every way to spend *labels* on whole contexts, distinct contexts first: 25 x 1, 5 x 5, 1 x 25."""
    divisors = [m for m in range(1, labels + 1) if labels % m == 0]
    return [design(labels // m, m, share, correlation) for m in divisors]


def distinct_first(
    rows: Iterable[Row],
    number: int,
    *,
    cell: Callable[[Row], Hashable],
    context: Callable[[Row], Hashable],
    identity: Callable[[Row], str],
    seed: int,
) -> list[Row]:
    """Return up to *number* rows of every cell in the order of *rows*, each context once before any twice.

    Which contexts, and which generation of each, is drawn by a hash of *seed* and *identity* (which must tell rows
    apart): the same for the same rows in any order. A cell with fewer rows gives what it has. Raises Refused for a
    number below 1.
    """
    if number < 1:
        raise Refused(N_("A sample needs at least one context with one generation."))
    kept = list(rows)
    cells: dict[Hashable, dict[Hashable, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(kept):
        cells[cell(row)][context(row)].append((_random_place(seed, identity(row)), place))
    chosen: list[int] = []
    for stratum, contexts in cells.items():
        # (round, draw of the context, place): the n-th generations of all contexts before any n+1-th
        order = [
            (turn, _random_place(seed, f"{stratum!r}\0{name!r}"), place)
            for name, found in contexts.items()
            for turn, (_, place) in enumerate(sorted(found))
        ]
        chosen += [place for _, _, place in sorted(order)[:number]]
    return [kept[place] for place in sorted(chosen)]


def _random_place(seed: int, text: str) -> int:
    """Return a number that depends only on the seed and the text: the same on any machine."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=str(seed).encode()).digest(), "big")
