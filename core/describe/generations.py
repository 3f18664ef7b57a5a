"""What generations look like beside their characters: words, different words, how repetitive they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.describe.characters import Lengths, lengths
from evenhand.core.text.english_tokens import tokens
from evenhand.core.text.repetition import Repeated, full_text, repetitiveness, summary

__all__ = ["Writing", "writing"]


@dataclass(frozen=True, slots=True)
class Writing:
    """English generations. Tokens are lower-cased words and punctuation (text.english_tokens), white space left out.

    `distinct`: different tokens over all completions; `per_text`: mean share of different tokens within a completion,
    0 to 1, None where there is none. `completion`, `published`: repetitiveness (SPEC 4.10, 0 to 1, higher is more
    repetitive) of the completions alone and, as published, of context and completion together.
    """

    tokens: Lengths
    total: int
    distinct: int
    per_text: float | None
    completion: Repeated
    published: Repeated


def writing(pairs: Sequence[tuple[str, str]]) -> Writing:
    """Of (context, completion) pairs."""
    words = [[one.lower() for one in tokens(completion) if not one.isspace()] for _, completion in pairs]
    shares = [len(set(one)) / len(one) for one in words if one]
    return Writing(
        tokens=lengths([len(one) for one in words]),
        total=sum(map(len, words)),
        distinct=len({token for one in words for token in one}),
        per_text=sum(shares) / len(shares) if shares else None,
        completion=summary(repetitiveness(completion)[0] for _, completion in pairs),
        published=summary(repetitiveness(full_text(context, completion))[0] for context, completion in pairs),
    )
