"""What a judge is given and what it says: texts, labels, and whoever turns the one into the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from evenhand.core.errors import EvenhandError


@dataclass(frozen=True, slots=True)
class JudgedText:
    """An item as a judge gets it. `item`: its row; `values`: what came along (name, pronouns, dataset).

    Of a comparison, `text` stands first in the prompt and `second` behind it; `first` says which text of the item the
    first one is.
    """

    item: int
    text: str
    context: str = ""
    keyword: str = ""
    counterpart: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    second: str = ""
    first: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeLabel:
    """What a judge says of one item (row). `shares`: of its samples, or its probabilities, by choice; None: one answer.

    `spans`: half-open code points and "pronoun" or "extraneous". `answered`: which model a server says has answered.
    `round`: 0, or the number of a later asking of the same judge, by which drift is seen. `seconds`: it took. `first`:
    of a comparison, which text of the item stood first in the prompt.
    """

    item: int
    choice: str
    extraneous: bool | None = None
    spans: tuple[tuple[int, int, str], ...] = ()
    shares: dict[str, float] | None = None
    samples: int = 1
    answered: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    round: int = 0
    first: str | None = None


Keep = Callable[[JudgeLabel], object]
Fail = Callable[[int, EvenhandError], object]


class Labeller(Protocol):
    """Whoever labels texts."""

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """Hand each label to *keep* as soon as it is there; of a text that has none, its item and why to *fail*.

        Raises ModelUnavailable or Refused where no text can be labelled.
        """
        ...
