"""How repetitive a text is: document 004, equation 21 (SPEC 4.10).

RR = (product over n = 1..4 of (V(n) - V(n,1)) / V(n)) ^ (1/4), where V(n) is the number of different n-grams of the
text and V(n,1) the number of those that occur once (Bertoldi, Cettolo and Federico 2013, for one text). 0 = for some n
no n-gram comes twice; 1 = every n-gram comes back. The published code scores context and completion together.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from evenhand.core.errors import N_
from evenhand.core.statistics.estimate import Note
from evenhand.core.text.english_tokens import tokens

__all__ = ["VERSION", "Repeated", "full_text", "repetitiveness", "signature", "summary", "tokens"]

VERSION = 1  # of the method: raise it when a number may change
LONGEST = 4  # tokens of an n-gram, as published
Variant = Literal["published", "completion"]

TOO_SHORT = Note(N_("Fewer than four tokens: there is no four-gram to repeat."))
NOTHING = Note(N_("No text has four tokens or more."))


def repetitiveness(text: str | Sequence[str]) -> tuple[float | None, Note | None]:
    """RR of one text, 0 to 1, and why it is missing: (value, None) or (None, reason).

    *text* is cut into tokens and lower-cased, punctuation and white space included; a sequence is taken as tokens.
    Undefined for fewer than four tokens (the published code stops with an error there).
    """
    words = [word.lower() for word in (tokens(text) if isinstance(text, str) else text)]
    if len(words) < LONGEST:
        return None, TOO_SHORT
    shares = [_repeated(words, n) for n in range(1, LONGEST + 1)]
    return math.prod(shares) ** (1 / LONGEST), None


def _repeated(words: Sequence[str], n: int) -> float:
    """The share of different n-grams that occur twice or more."""
    counted = Counter(zip(*(words[i:] for i in range(n)), strict=False))
    return sum(1 for times in counted.values() if times > 1) / len(counted)


def full_text(context: str, completion: str) -> str:
    """Context and completion as one text, as the published files hold them; one space where neither has any."""
    if not context or not completion or context[-1].isspace() or not (completion[0].isalnum()):
        return context + completion
    return f"{context} {completion}"


@dataclass(frozen=True, slots=True)
class Repeated:
    """RR over several texts: mean and population standard deviation (ddof 0), as published; None with `reason`.

    `texts`: how many went in; `short`: how many were left out because they have fewer than four tokens.
    """

    mean: float | None
    std: float | None
    texts: int
    short: int
    reason: Note | None = None
    json_names: ClassVar = {"short": "too_short"}
    explained_by: ClassVar = "reason"


def summary(values: Iterable[float | None]) -> Repeated:
    """Mean and population standard deviation of RR values; None stands for a text that is too short."""
    found = list(values)
    known = [value for value in found if value is not None]
    if not known:
        return Repeated(None, None, 0, len(found), NOTHING)
    mean = math.fsum(known) / len(known)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    return Repeated(mean, std, len(known), len(found) - len(known))


def signature(variant: Variant) -> str:
    """Everything that can change the number."""
    text = "context+completion" if variant == "published" else "completion"
    return f"repetition|text:{text}|ngrams:1-{LONGEST}|tokens:english+lower|v{VERSION}"
