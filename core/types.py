"""Values that every part of core shares: words, probes, scores.

All measurements have one shape: a *probe* (a text and the options that
compete for a place in it) goes to a *scorer*, which answers with a *score*
(a log-probability per option, and how it was made).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

Side = Literal["male", "female"]
Span = tuple[int, int]
JsonObject = dict[str, Any]  # whose keys are those of a report, a record or a file
TableRow = dict[str, str | int | float | None]  # of a table that is shown, drawn or written as CSV: cells by column

MASK = "[MASK]"  # an empty slot as users type it, for models with any token


@dataclass(frozen=True, slots=True)
class KeywordPair:
    """Two words that differ in gender only.

    The *stem* is the part that differs and gets masked: 女孩 -> [MASK]孩.
    `male_stem` and `female_stem` are half-open code-point spans inside the
    words, because 姥姥 must lose its second character (docs/methods.md#released-file).
    """

    male: str
    female: str
    male_stem: Span
    female_stem: Span
    language: str = "zh"

    @property
    def name(self) -> str:
        """Both words, male first: 男孩/女孩."""
        return f"{self.male}/{self.female}"

    @property
    def stems(self) -> tuple[str, str]:
        """The differing parts, male first: 男, 女."""
        return self.male[slice(*self.male_stem)], self.female[slice(*self.female_stem)]

    def word(self, side: Side) -> str:
        """Return the word of one side."""
        return self.male if side == "male" else self.female

    def stem_span(self, side: Side) -> Span:
        """Return the half-open span of the stem inside the word of one side."""
        return self.male_stem if side == "male" else self.female_stem


class Candidate(NamedTuple):
    """A sentence that contains exactly one word of a keyword pair.

    `start`, `end` are the half-open code-point span of the *word*;
    `stem_start`, `stem_end` are the span of the part that is masked.
    """

    sentence: str
    start: int
    end: int
    stem_start: int
    stem_end: int
    pair: KeywordPair
    side: Side
    source: str = ""
    flags: tuple[str, ...] = ()

    @property
    def keyword(self) -> str:
        """The word that the sentence contains."""
        return self.sentence[self.start : self.end]

    @property
    def counterpart(self) -> str:
        """The word of the other side."""
        return self.pair.word("female" if self.side == "male" else "male")

    @property
    def swapped(self) -> str:
        """The sentence with the counterpart in place of the keyword."""
        return self.sentence[: self.start] + self.counterpart + self.sentence[self.end :]


@dataclass(frozen=True, slots=True)
class AgreeingForm:
    """A place outside the slot whose word agrees with the option: el with maestro, la with maestra.

    `text[start:end]` is the place; `options` its word for each option of the probe, in their order.
    """

    start: int
    end: int
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaskedSentence:
    """A probe for masked language models: one slot, several options.

    `text[start:end]` is the slot; it is replaced by as many mask tokens as the
    options have tokens (all options must have equally many). Each span of
    `hidden` is masked too, one mask per token, and is not scored. Each place in
    `agreeing` changes with the option: it is masked and scored with the slot.
    """

    text: str
    start: int
    end: int
    options: tuple[str, ...]
    hidden: tuple[Span, ...] = ()
    agreeing: tuple[AgreeingForm, ...] = ()

    def places(self) -> tuple[AgreeingForm, ...]:
        """Return the slot and the places that agree with it, in the order of the text."""
        slot = AgreeingForm(self.start, self.end, self.options)
        return tuple(sorted((slot, *self.agreeing), key=lambda place: place.start))

    def with_option(self, option: int) -> tuple[str, tuple[Span, ...]]:
        """Return the text with one of the options, and the spans of its words there, in the order of the text."""
        parts, spans, at, length = [], [], 0, 0
        for place in self.places():
            before, word = self.text[at : place.start], place.options[option]
            length += len(before)
            spans.append((length, length + len(word)))
            parts += [before, word]
            at, length = place.end, length + len(word)
        return "".join([*parts, self.text[at:]]), tuple(spans)


@dataclass(frozen=True, slots=True)
class Score:
    """The answer of a model to one probe.

    `logprobs` are natural-log probabilities in the order of the probe's
    options, or None for an option that is undefined; `reason` then says why,
    in a sentence for people. `signature` says how the number was made.
    """

    logprobs: tuple[float | None, ...]
    signature: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Filler:
    """One token that a model would write into a slot, with its probability.

    `probability` is None where the word is not one token of the model.
    """

    word: str
    probability: float | None


class Scorer(Protocol):
    """Anything that answers probes: a model, the worker, a cache, a fake."""

    @property
    def signature(self) -> str:
        """Everything that can change the number, in a stable order."""
        ...

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order."""
        ...

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return for each mask token of the slot the *top* most likely tokens, then each of *words*."""
        ...


# A model's name may contain any character, also a bar; the other parts contain no bar.
_SIGNATURE = re.compile(r"([^|]*)\|(.*)\|weights:([^|]*)\|([^|]*)\|([^|]*)\|v(\d+)")


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that can change a score; as text `method|model|weights:<8 digits>|joint|precision|v<version>`.

    *weights*: the SHA-256 of the weights, in full or its first digits. *joint*: how the parts of a word are combined.
    *version*: of the method, not of the app.
    """

    method: str
    model: str
    weights: str
    joint: str
    precision: str
    version: int

    @classmethod
    def parse(cls, text: str) -> "Signature | None":
        """Return the parts of a signature, or None for a text of another form."""
        match = _SIGNATURE.fullmatch(text)
        if match is None:
            return None
        method, model, weights, joint, precision, version = match.groups()
        return cls(method, model, weights, joint, precision, int(version))

    def __str__(self) -> str:
        return self.with_weights(self.weights[:8])

    def with_weights(self, weights: str) -> str:
        """Return the text with other digits of the weights; the key of the cache has all of them."""
        return f"{self.method}|{self.model}|weights:{weights}|{self.joint}|{self.precision}|v{self.version}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of a file that could not be used."""

    file: str
    line: int
    reason: str
    message: str
    values: Mapping[str, object] = field(default_factory=dict)
