"""Comparisons: items with two texts, of which a label says which one is better, or that neither is.

A label stores `first` or `second` as the item has its texts. A desk shows them left and right in an order that is drawn
for each annotator and item, and knows no other: `mirrored` turns what it says into what is stored, and back.
"""

import hashlib
from typing import Literal

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.scheme import FIRST, SECOND, TIE, OwnScheme
from evenhand.annotations.guideline.versions import newest_scheme
from evenhand.annotations.types import Choice, Project, Scheme

Place = Literal["first", "second"]
PREFERENCE = OwnScheme(  # the built-in one
    (
        Choice(FIRST, "1", "第一篇更好", "First is better"),
        Choice(SECOND, "2", "第二篇更好", "Second is better"),
        Choice(TIE, "0", "不分高下", "Tie"),
    ),
    (),
    Scheme(compares=True),
)


def compares(store: Store, project: Project) -> bool:
    """Return whether the items of a project are comparisons: the newest version of its guideline says so."""
    scheme = newest_scheme(store, project) if project.kind == "generations" else None
    return scheme is not None and scheme.compares


def place_on_left(seed: int, item: str, reader: str) -> Place:
    """Which text of an item (public id) is on the left for an annotator (public id), or first for a judge.

    Drawn from the seed of the project, so that a reload shows the same; the two items of a retest draw by themselves.
    """
    digest = hashlib.blake2b(f"{item}\n{reader}".encode(), digest_size=8, key=str(seed).encode()).digest()
    return SECOND if digest[0] & 1 else FIRST


def mirrored(choice: str | None, left: str | None) -> str | None:
    """A choice of left and right as one of first and second, or the other way round; *left*: the text on the left."""
    if left != SECOND:
        return choice
    return {FIRST: SECOND, SECOND: FIRST}.get(choice or "", choice)
