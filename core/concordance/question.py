"""The question and the answer of a concordance."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from evenhand.core.concordance.odds import Contrast
from evenhand.core.errors import N_, Refused
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import Span

Unit = Literal["document", "paragraph", "sentence"]
UNITS: tuple[Unit, ...] = ("document", "paragraph", "sentence")
MOST_NEAR = 20
LONGEST_WORD = 40
METHOD = 1  # version of the counting, in its signature


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph (or row) of a document; passages of one document follow each other. `place`: its number, from 1."""

    document: str
    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One occurrence of the word in its sentence.

    `span`: the word; `near`: the words beside it that were asked for, as
    (start, end, number in the list); all half-open code points of `sentence`.
    """

    document: str
    place: int
    sentence: str
    span: Span
    near: tuple[tuple[int, int, int], ...]

    @property
    def parts(self) -> tuple[str, str, str]:
        """Left of the word, the word, right of it."""
        start, end = self.span
        return self.sentence[:start], self.sentence[start:end], self.sentence[end:]


@dataclass(frozen=True, slots=True)
class Question:
    """A question: a word, words near it, and the distance.

    `window` None: in the same sentence; a number: at most so many characters
    between the two, in the same sentence. Two near words that are a keyword
    pair stand male first, whatever order they were given in.
    """

    word: str
    near: tuple[str, ...]
    window: int | None = None
    unit: Unit | Literal["auto"] = "auto"

    @property
    def is_pair(self) -> bool:
        """Whether the near words are the two of one keyword pair."""
        return any(self.near == (pair.male, pair.female) for pair in keyword_pairs())

    def signature(self, unit: Unit) -> str:
        """Everything that can change the numbers but the text itself."""
        window = "sentence" if self.window is None else str(self.window)
        return f"concord|word:{self.word}|near:{','.join(self.near)}|window:{window}|unit:{unit}|v{METHOD}"


@dataclass(frozen=True, slots=True)
class Concordance:
    """The answer.

    `near`: one contrast per near word, sentences with the word against those
    without. `contrast`: for exactly two near words, sentences that hold only
    the first or only the second of them; its `log_odds` above 0 means that the
    first (of a pair: the male word) is favoured beside the word, below 0 the
    second; None for any other number of near words. `both`: sentences with the word and both of them.
    """

    question: Question
    unit: Unit
    near: tuple[Contrast, ...]
    contrast: Contrast | None
    both: int
    lines: tuple[Line, ...]
    near_lines: tuple[Line, ...]
    occurrences: int
    sentences_with: int
    sentences: int
    paragraphs: int
    documents: int
    characters: int

    @property
    def signature(self) -> str:
        """How the numbers were made."""
        return self.question.signature(self.unit)


def question(word: str, near: Iterable[str], *, window: int | None = None, unit: str = "auto") -> Question:
    """A question, checked: words without spaces around them, once each. Raises Refused with what is wrong."""
    word = word.strip()
    words = tuple(dict.fromkeys(one.strip() for one in near if one.strip()))
    if not word:
        raise Refused(N_("Type the word whose contexts you want to see."))
    if not words or len(words) > MOST_NEAR:
        raise Refused(N_("Give 1 to {most} near words, such as 他,她."), most=MOST_NEAR)
    if word in words:
        raise Refused(N_("{word} cannot be its own near word; give other words."), word=word)
    if long := next((one for one in (word, *words) if len(one) > LONGEST_WORD), None):
        raise Refused(N_("{word} is too long; the maximum is {most} characters."), word=long, most=LONGEST_WORD)
    if window is not None and window < 1:
        raise Refused(N_("A window has at least 1 character."))
    if unit not in ("auto", *UNITS):
        raise Refused(N_("The unit must be document, paragraph or sentence, not {unit}."), unit=unit)
    for pair in keyword_pairs():
        if words == (pair.female, pair.male):
            words = words[::-1]
    chosen: Unit | Literal["auto"] = next((one for one in UNITS if one == unit), "auto")
    return Question(word, words, window, chosen)
