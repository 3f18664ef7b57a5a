"""Values of the inference measure: labels, sets, probes, predictions."""

from dataclasses import dataclass
from typing import Literal

Label = Literal["entailment", "contradiction", "neutral"]
SetName = Literal["PS", "AS", "NS"]
Kind = Literal["male-stereo", "female-stereo", "neutral", ""]
Gender = Literal["woman", "man", ""]
Language = Literal["en", "ja", "zh"]

LABELS: tuple[Label, ...] = ("entailment", "contradiction", "neutral")
SETS: tuple[SetName, ...] = ("PS", "AS", "NS")
LANGUAGES: tuple[Language, ...] = ("en", "ja", "zh")
BIASED: dict[SetName, tuple[Label, ...]] = {
    "PS": ("entailment",),
    "AS": ("contradiction",),
    "NS": ("entailment", "contradiction"),
}


@dataclass(frozen=True, slots=True)
class SentencePair:
    """A probe for classifiers: does the hypothesis follow from the premise?"""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Row:
    """One probe of an evaluation set. Its set decides how it counts, never `kind` (SPEC 3.1).

    `occupation` is the word as it stands in the premise, `template` names the template; both may be empty in
    user-made sets.
    """

    set: SetName
    premise: str
    hypothesis: str
    occupation: str = ""
    kind: Kind = ""
    gender: Gender = ""
    template: str = ""

    @property
    def pair(self) -> SentencePair:
        """The pair for a classifier."""
        return SentencePair(self.premise, self.hypothesis)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer of a classifier to one row: its argmax label."""

    set: SetName
    label: Label
    occupation: str = ""
