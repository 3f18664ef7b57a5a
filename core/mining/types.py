"""Values that the mining of candidates shares: tokens, a sentence under examination, what a filter found."""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from core.types import Candidate, Span

Mode = Literal["off", "reject", "flag"]
MODES: tuple[Mode, ...] = ("off", "reject", "flag")
Code = Literal[
    "length", "inside_word", "gender_terms", "biological", "generic", "names", "duplicate", "near_duplicate"
]  # in the order in which they are asked
SHORTEST, LONGEST = 9, 119  # characters; the least and the most of the released file (SPEC 1.5)


@dataclass(frozen=True, slots=True)
class Token:
    """A word as the segmenter cuts it: `tag` as jieba has it (nr = a person's name), a half-open span."""

    word: str
    tag: str
    start: int
    end: int


@cache
def _tagger() -> Any:
    import rjieba  # 0.1 to 0.25 s: paid by the first sentence that a filter wants cut

    return rjieba


def tagged(text: str) -> tuple[Token, ...]:
    """The words of *text* with their tags, by rjieba; together they are *text*."""
    found, at = [], 0
    for word, tag in _tagger().tag(text):
        found.append(Token(word, tag, at, at + len(word)))
        at += len(word)
    return tuple(found)


@dataclass(slots=True)
class Sentence:
    """A cleaned sentence with exactly one keyword, as filters see it.

    `candidate` says where the keyword stands; `limits` are the least and the most
    characters that the settings allow. Tokens are made when a filter first asks.
    """

    text: str
    candidate: Candidate
    limits: tuple[int, int] = (SHORTEST, LONGEST)
    _tokens: tuple[Token, ...] | None = field(default=None, repr=False)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the sentence; cut once."""
        if self._tokens is None:
            self._tokens = tagged(self.text)
        return self._tokens


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a filter does not want a sentence.

    `reason`: a short code of the rule inside the filter ("list", "swap", "nickname");
    `span`: half-open code points of what it means, None where it means the whole sentence.
    """

    reason: str
    span: Span | None = None
