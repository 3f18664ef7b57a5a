"""Comparisons at the desk: texts on the left and on the right, and labels of them.

The desk is sent the two texts in the order that is drawn for this annotator and item, and says `first` for the left
one. Which text the item has first it never learns: in a file the first one is often always of the same model.
"""

from collections.abc import Sequence
from dataclasses import replace

from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.guideline.comparison import Place, mirrored, place_on_left
from evenhand.annotations.guideline.scheme import FIRST, SECOND, TIE
from evenhand.annotations.types import Choice, Decision, Guideline, Item, Operation
from evenhand.core.errors import N_
from evenhand.core.language import translate

ON_THE_DESK = {FIRST: N_("Left is better"), SECOND: N_("Right is better")}
_ORDER = (FIRST, TIE, SECOND)  # as the texts stand, with what is between them in between


def _left(at: DeskSession, uid: str) -> Place:
    return place_on_left(at.project.seed, uid, at.annotator.uid)


def as_shown(at: DeskSession, item: Item) -> Item:
    """An item with the text on the left as its first; one with a single text as it is."""
    if item.second is None or _left(at, item.uid) == FIRST:
        return item
    return replace(item, text=item.second, second=item.text)


def choice_as_shown(at: DeskSession, item: Item, choice: str | None) -> str | None:
    """A stored choice of left and right, as `first` and `second`."""
    return choice if item.second is None else mirrored(choice, _left(at, item.uid))


def decision_as_shown(at: DeskSession, decision: Decision) -> Decision:
    """A stored decision with its item and choice as the desk shows them."""
    choice = choice_as_shown(at, decision.item, decision.choice)
    return replace(decision, item=as_shown(at, decision.item), choice=choice)


def as_stored(at: DeskSession, operation: Operation) -> Operation:
    """An operation of a desk on a comparison as it is stored, with what was on the left."""
    left = _left(at, operation.item)
    return replace(operation, choice=mirrored(operation.choice, left), left=left)


def choices_at_the_desk(shown: Guideline) -> Sequence[Choice]:
    """The choices of a version, of comparisons by the place of the texts: in its order and with its name."""
    if shown.scheme is None or not shown.scheme.compares:
        return shown.choices
    by_code = {one.code: one for one in shown.choices}
    return [_named(by_code[code]) for code in _ORDER if code in by_code]


def _named(one: Choice) -> Choice:
    name = ON_THE_DESK.get(one.code)
    return one if name is None else replace(one, zh=translate(name, "zh"), en=name)
