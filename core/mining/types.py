"""Values that the mining of candidates shares: a sentence under examination, what a filter found."""

from dataclasses import dataclass
from typing import Literal

from evenhand.core.types import Candidate, Span

Mode = Literal["off", "reject", "flag"]
MODES: tuple[Mode, ...] = ("off", "reject", "flag")
Code = Literal[
    "length",
    "inside_word",
    "gender_terms",
    "biological",
    "generic",
    "anonymous",
    "names",
    "duplicate",
    "near_duplicate",
]  # in the order in which they are asked
SHORTEST, LONGEST = 9, 119  # characters; the least and the most of the released file (docs/methods.md#released-file)


@dataclass(slots=True)
class Sentence:
    """A cleaned sentence with exactly one keyword, as filters see it.

    `candidate` says where the keyword is; `limits` are the least and the most
    characters that the settings allow.
    """

    text: str
    candidate: Candidate
    limits: tuple[int, int] = (SHORTEST, LONGEST)


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a filter does not want a sentence.

    `reason`: a short code of the rule inside the filter ("list", "swap", "nickname");
    `span`: half-open code points of what it means, None where it means the whole sentence.
    """

    reason: str
    span: Span | None = None
