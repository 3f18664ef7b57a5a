"""Do groups of annotators label differently: shares of every choice, and the items on which two groups differ.

Such an item is a candidate for a difference of opinion, not a mistake. A group of fewer than five people who labelled
is never shown, nor is an item that fewer than three of either group labelled: they could be recognised.
"""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenhand.annotations.agreement.measures import compared_labels
from evenhand.annotations.agreement.merged_labels import Way
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.labels.blind_labels import BlindLabels, ItemScope
from evenhand.annotations.projects.consent import Grouping, groups_of
from evenhand.annotations.types import BY_CODE, Choice, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import holm_adjusted
from evenhand.core.statistics.intervals import FEWEST_PEOPLE, difference_of_shares, exact_p

Mask = NDArray[np.bool_]
VERSION = 1  # of the method: raise it when a number may change
FEWEST_ON_ITEM = 3  # labels of each group
TOO_FEW_PEOPLE = Note(
    N_("Groups are compared once two of them have at least {fewest} people with labels; smaller ones are never shown."),
    {"fewest": FEWEST_PEOPLE},
)


@dataclass(frozen=True, slots=True)
class Group:
    """A group that is large enough: how many of its people labelled, and how many labels they gave."""

    name: str
    people: int
    labels: int
    json_names: ClassVar = {"name": "group"}


@dataclass(frozen=True, slots=True)
class ChoiceShares:
    """One choice: its share among the labels of both groups, 0 to 1, and first minus second."""

    choice: Choice
    first: float
    second: float
    difference: Estimate
    written_with: ClassVar = BY_CODE


@dataclass(frozen=True, slots=True)
class OpinionItem:
    """An item (row id) with the counts of every choice in both groups.

    `apart`: half the sum of the differences of shares, 0 to 1; `p` of the exact test, None if it has too many
    labels; `adjusted`: p after Holm's adjustment for all items that were tested.
    """

    row: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    apart: float
    p: float | None
    adjusted: float | None
    json_names: ClassVar = {"row": None}

    @property
    def differs(self) -> bool:
        """True if the groups differ on it beyond chance, at 0.05 over all items."""
        return self.adjusted is not None and self.adjusted <= 0.05


@dataclass(frozen=True, slots=True)
class GroupDifferences:
    """Two groups of a grouping. `small`: how many groups with labels are too small to be shown; `reason`: why nothing
    is compared, else None. `items`: those labelled enough by both groups, the surest difference first."""

    grouping: Grouping
    groups: tuple[Group, ...]
    small: int
    pair: tuple[str, str] | None
    choices: tuple[ChoiceShares, ...]
    items: tuple[OpinionItem, ...]
    reason: Note | None
    signature: str

    @property
    def differing(self) -> int:
        """On how many items the groups differ beyond chance."""
        return sum(item.differs for item in self.items)


@consistent_read
def group_differences(
    store: Store, project: Project, of: Grouping, pair: tuple[str, str] | None = None, *,
    way: Way = "four", version: int | None = None, on: ItemScope | None = None,
) -> GroupDifferences:  # fmt: skip
    """Compare two groups (None: the two with most people) by the labels and arguments of `agreement`.

    Raises Refused for a pair that is not two groups of at least five people, NotFound for an unknown version.
    """
    compared = compared_labels(store, project, way=way, version=version, on=on)
    named = groups_of(store, of)
    labels = compared.labels.only(np.isin(compared.labels.annotator, list(named)))
    value = np.array([named[who] for who in labels.annotator.tolist()], dtype=object)
    people = {name: len(set(labels.annotator[value == name].tolist())) for name in of.options}
    counts = Counter(value.tolist())
    groups = [Group(name, people[name], counts[name]) for name in of.options if people[name] >= FEWEST_PEOPLE]
    small = sum(0 < number < FEWEST_PEOPLE for number in people.values())
    under = "" if version is None else f"|guideline:v{version}"
    head = f"group-differences|labels:blind|items:{compared.on}{under}|by:{of.name}"
    if len(groups) < 2:
        return GroupDifferences(of, tuple(groups), small, None, (), (), TOO_FEW_PEOPLE, f"{head}|v{VERSION}")
    first, second = pair or [one.name for one in sorted(groups, key=lambda one: -one.people)[:2]]
    if first == second or not {first, second} <= {group.name for group in groups}:
        raise Refused(
            N_("Choose two different groups of at least {fewest} people with labels: {groups}."),
            fewest=FEWEST_PEOPLE, groups=", ".join(group.name for group in groups),
        )  # fmt: skip
    both = (value == first) | (value == second)
    of_two, is_second = labels.only(both), value[both] == second
    return GroupDifferences(
        of, tuple(groups), small, (first, second), _choices(of_two, is_second, compared.choices),
        _items(of_two, is_second, len(compared.choices)), None, f"{head}|{first}-{second}|jackknife:two-way|v{VERSION}",
    )  # fmt: skip


def _choices(labels: BlindLabels, second: Mask, choices: tuple[Choice, ...]) -> tuple[ChoiceShares, ...]:
    """Return the shares of each choice, over contexts or source articles if items come in these."""
    unit = labels.item if labels.cluster is None else labels.cluster
    choice_shares = []
    for place, choice in enumerate(choices):
        chosen = labels.choice == place
        if chosen.any():
            one, other = (float(chosen[part].mean()) for part in (~second, second))
            choice_shares.append(
                ChoiceShares(choice, one, other, difference_of_shares(chosen, second, labels.annotator, unit))
            )
    return tuple(choice_shares)


def _items(labels: BlindLabels, second: Mask, choices: int) -> tuple[OpinionItem, ...]:
    rows, where = np.unique(labels.item, return_inverse=True)
    counts = [
        np.bincount(where[part] * choices + labels.choice[part], minlength=len(rows) * choices).reshape(-1, choices)
        for part in (~second, second)
    ]
    enough = (counts[0].sum(axis=1) >= FEWEST_ON_ITEM) & (counts[1].sum(axis=1) >= FEWEST_ON_ITEM)
    one, other = (part[enough] for part in counts)
    apart = np.abs(one / one.sum(axis=1, keepdims=True) - other / other.sum(axis=1, keepdims=True)).sum(axis=1) / 2
    tables = [(tuple(a), tuple(b)) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    chances = [exact_p(a, b) for a, b in tables]
    tested = [p for p in chances if p is not None]
    adjusted = iter(holm_adjusted(tested).tolist() if tested else [])
    opinion_items = [
        OpinionItem(row, a, b, far, p, None if p is None else next(adjusted))
        for row, (a, b), far, p in zip(rows[enough].tolist(), tables, apart.tolist(), chances, strict=True)
    ]
    return tuple(sorted(opinion_items, key=lambda each: (1.0 if each.p is None else each.p, -each.apart)))
