"""Are the labels of a classifier read in the right order? Pairs with an obvious answer tell."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Literal, Protocol, cast

from evenhand.core.errors import N_
from evenhand.core.nli.types import LABELS, Label, Language, SentencePair
from evenhand.core.resources import table
from evenhand.core.statistics import Note
from evenhand.core.types import Score

Verdict = Literal["fits", "other order", "unfit"]
ENOUGH = 0.5  # share of obvious pairs that a classifier of this language gets right; guessing gives a third
LEAD = 0.25  # by how much of the pairs another order must be better


class PairScorer(Protocol):
    """Anything that answers sentence pairs: a classifier here, or in the inference process."""

    def score(self, pairs: Sequence[SentencePair]) -> list[Score]:
        """One score per pair: log-probabilities of entailment, contradiction and neutral."""
        ...


@dataclass(frozen=True, slots=True)
class Sanity:
    """What the obvious pairs say. `right` of `pairs` with the labels as they are read, `best_right` as they fit best.

    `best[i]` is what the output that is read as LABELS[i] would then stand for.
    """

    language: Language
    right: int
    pairs: int
    best: tuple[Label, Label, Label]
    best_right: int

    @property
    def verdict(self) -> Verdict:
        """fits; "other order" where another order is clearly better; unfit where none gets half of them right."""
        if self.best_right < ENOUGH * self.pairs:
            return "unfit"
        return "other order" if self.best_right - self.right >= LEAD * self.pairs else "fits"

    def note(self) -> Note:
        """The verdict in words."""
        values = {"right": self.right, "pairs": self.pairs, "language": self.language}
        if self.verdict == "fits":
            return Note(
                N_("Sanity check ({language}): {right} of {pairs} pairs are right; the label order is correct."), values
            )
        if self.verdict == "unfit":
            message = N_(
                "Sanity check ({language}): only {right} of {pairs} pairs are right, and no label order"
                " gets half of them right. This classifier does not handle inference in this language; its"
                " scores mean little."
            )
            return Note(message, values)
        swapped = ", ".join(f"{one} → {two}" for one, two in zip(LABELS, self.best, strict=True) if one != two)
        message = N_(
            "The labels are probably swapped: {right} of {pairs} sanity-check pairs ({language}) are right"
            " in the present order, {best} with {swapped}."
        )
        return Note(message, values | {"best": self.best_right, "swapped": swapped})

    def as_json(self) -> dict[str, object]:
        """For records and the command."""
        return {
            "language": self.language, "right": self.right, "pairs": self.pairs, "verdict": self.verdict,
            "best": list(self.best), "best_right": self.best_right, "message": self.note().message,
            "values": self.note().values, "text": str(self.note()),
        }  # fmt: skip


@cache
def obvious(language: Language) -> tuple[tuple[SentencePair, Label], ...]:
    """The packaged pairs of a language with their labels."""
    return tuple(
        (SentencePair(row["premise"], row["hypothesis"]), cast(Label, row["label"]))
        for row in table("nli_sanity")
        if row["language"] == language
    )


def sanity(scorer: PairScorer, language: Language) -> Sanity:
    """Ask the obvious pairs. A pair without an answer counts as wrong in every order."""
    asked = obvious(language)
    scores = scorer.score([pair for pair, _ in asked])
    said = [argmax(score) for score in scores]
    hits = Counter(zip(said, (label for _, label in asked), strict=True))

    def right(order: tuple[Label, ...]) -> int:
        return sum(hits[label, meant] for label, meant in zip(LABELS, order, strict=True))

    best = max(permutations(LABELS), key=lambda order: (right(order), order == LABELS))
    return Sanity(language, right(LABELS), len(asked), cast("tuple[Label, Label, Label]", best), right(best))


def argmax(score: Score) -> Label | None:
    """The likeliest label; of equal ones the first in the order entailment, contradiction, neutral. None: no answer."""
    known = [(p, -i) for i, p in enumerate(score.logprobs) if p is not None]
    return LABELS[-max(known)[1]] if len(known) == 3 else None
