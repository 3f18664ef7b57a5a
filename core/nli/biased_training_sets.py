"""Bias-controlled sets: training data in which a share r of the wrong labels follows the stereotype (SPEC 3.3).

3,000 rows, 1,000 a label. NS rows are neutral. Of the 20 stereotyped words the first 2k are *biased* (r = k / 10):
their PS rows say entailment, their AS rows contradiction. The other words are wrong the other way round: PS rows say
contradiction, AS rows entailment. So r = biased / (biased + other), and the labels stay balanced whatever r is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.nli.occupations import Occupation, Texts, texts, training_templates
from evenhand.core.nli.sets import SAMPLE_WORDS, built, evenly
from evenhand.core.nli.types import Label, Language, Row
from evenhand.core.statistics import Note

WordOrder = Literal["female-first", "mixed"]
RATES = tuple(k / 10 for k in range(11))
TIED = Note(N_("All values are the same, so there is no rank correlation."))
TOO_FEW_RATES = Note(N_("A rank correlation needs at least three rates."))


@dataclass(frozen=True, slots=True)
class Labelled:
    """A row of a training set: a probe and the label that it teaches."""

    row: Row
    label: Label


def words_in_order(language: Language, order: WordOrder = "female-first") -> list[Occupation]:
    """The 10 female-stereo and 10 male-stereo words of the sample, in the order in which they become biased.

    "female-first" is the order of the release: at r = 0.1 and 0.2 only female words are biased, so r is mixed up with
    which stereotype is taught. "mixed" takes one of each in turn.
    """
    parts = texts(language)
    female, male = (
        evenly([one for one in parts.occupations if one.kind == kind], SAMPLE_WORDS)
        for kind in ("female-stereo", "male-stereo")
    )
    if order == "female-first":
        return [*female, *male]
    return [one for two in zip(female, male, strict=True) for one in two]


def controlled(language: Language, rate: float, order: WordOrder = "female-first") -> list[Labelled]:
    """The 3,000 rows for a bias rate, PS, AS, NS. Raises Refused for a rate that is not a tenth from 0 to 1.

    The words are those of the down-sampled evaluation sets, the sentences none of theirs.
    """
    tenths = round(rate * 10)
    if not 0 <= tenths <= 10 or abs(tenths / 10 - rate) > 1e-9:
        raise Refused(
            N_("{rate} is not a bias rate of these sets; the rates are 0, 0.1, 0.2 and so on up to 1."), rate=rate
        )
    parts = texts(language)
    ordered = words_in_order(language, order)
    biased = {one.word for one in ordered[: 2 * tenths]}
    neutral = evenly([one for one in parts.occupations if not one.gender], SAMPLE_WORDS)
    rows = built(Texts((*ordered, *neutral), training_templates(language), parts.woman, parts.man))
    return [Labelled(row, _label(row, row.occupation in biased)) for row in rows]


def _label(row: Row, biased: bool) -> Label:
    if row.set == "NS":
        return "neutral"
    return "entailment" if (row.set == "PS") == biased else "contradiction"


def spearman(rates: Sequence[float], values: Sequence[float | None]) -> tuple[float | None, Note | None]:
    """Spearman's rank correlation of *values* with the rates, mean ranks for ties; or why it is undefined."""
    known = [(rate, value) for rate, value in zip(rates, values, strict=True) if value is not None]
    if len(known) < 3:
        return None, TOO_FEW_RATES
    if len({value for _, value in known}) == 1 or len({rate for rate, _ in known}) == 1:
        return None, TIED
    from scipy.stats import spearmanr  # scipy.stats takes a while to import

    return float(spearmanr([rate for rate, _ in known], [value for _, value in known]).statistic), None
