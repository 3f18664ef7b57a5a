"""The three evaluation sets, packaged or from the user's words and templates, and bias-controlled training sets.

In a bias-controlled set a share r of the wrong labels follows the stereotype (docs/nli.md#bias-rates). It has 3,000
rows, 1,000 per label. NS rows are neutral. Of the 20 stereotyped words the first 2k are *biased* (r = k / 10): their
PS rows have the label entailment, their AS rows contradiction. The other words are wrong the other way round: PS rows
have contradiction, AS rows entailment. So r = biased / (biased + other), and the labels are balanced for every r.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.nli.types import (
    SETS,
    Gender,
    Label,
    Language,
    Occupation,
    Row,
    Texts,
    digest,
    fill,
    other_gender,
    texts,
    training_templates,
)
from evenhand.core.statistics import Note

VERSION = 1  # raised when a packaged sentence changes
SAMPLE_WORDS = 10  # of each stereotype, and of the neutral words (docs/nli.md#the-sets)


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """Rows in their order and the name under which numbers made with them are signed."""

    name: str
    language: Language
    rows: tuple[Row, ...]

    @property
    def signature(self) -> str:
        """`nli|<name>|rows:<n>|<first eight digits of the SHA-256 of all texts>`."""
        lines = [f"{row.set}\t{row.premise}\t{row.hypothesis}" for row in self.rows]
        return f"nli|{self.name}|rows:{len(self.rows)}|{digest(lines)[:8]}"

    def counts(self) -> dict[str, int]:
        """Count rows per set."""
        return {name: sum(row.set == name for row in self.rows) for name in SETS}


def packaged(language: Language, *, sample: bool = False, as_released: bool = False) -> ProbeSet:
    """Return the own sets: 1,000 PS, 1,000 AS, 3,420 NS (Chinese 3,320); *sample*: 200 of each, 10 words of each class.

    The sample takes words evenly from the alphabetical list of each class, so it is the same everywhere.
    """
    parts = texts(language, as_released)
    if sample:
        parts = Texts(_sampled(parts.occupations), parts.templates, parts.woman, parts.man)
    size = "sample" if sample else "full"
    words = "-released" if as_released and language == "zh" else ""
    return ProbeSet(f"own-{language}{words}-{size}-v{VERSION}", language, tuple(built(parts)))


def built(parts: Texts) -> list[Row]:
    """Build PS, then AS (the same premises in the same order), then NS. Raises Refused without any row."""
    if not parts.templates or not parts.occupations:
        raise Refused(N_("A set needs at least one template and one occupation."))
    stereotyped = [occupation for occupation in parts.occupations if occupation.gender]
    neutral = [occupation for occupation in parts.occupations if not occupation.gender]
    rows = [
        _row("PS", parts, occupation, i, occupation.gender)
        for occupation in stereotyped
        for i in range(len(parts.templates))
    ]
    rows += [
        _row("AS", parts, occupation, i, other_gender(occupation.gender))
        for occupation in stereotyped
        for i in range(len(parts.templates))
    ]
    genders: tuple[Gender, ...] = ("woman", "man")
    rows += [
        _row("NS", parts, occupation, i, gender)
        for occupation in neutral
        for i in range(len(parts.templates))
        for gender in genders
    ]
    return rows


def _row(name: str, parts: Texts, occupation: Occupation, number: int, gender: Gender) -> Row:
    template = parts.templates[number]
    premise, hypothesis = fill(template, occupation.word), fill(template, parts.gender_word(gender))
    assert name in SETS
    return Row(name, premise, hypothesis, occupation.word, occupation.kind, gender, str(number + 1))


def _sampled(words: Sequence[Occupation]) -> tuple[Occupation, ...]:
    chosen: list[Occupation] = []
    for kind in ("female-stereo", "male-stereo", "neutral"):
        chosen += evenly([word for word in words if word.kind == kind], SAMPLE_WORDS)
    return tuple(chosen)


def evenly(words: Sequence[Occupation], count: int) -> list[Occupation]:
    """Return *count* of the words at equal distances; all words where there are fewer."""
    if len(words) <= count:
        return list(words)
    return [words[i * len(words) // count] for i in range(count)]


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
    """Return the 10 female-stereo and 10 male-stereo words of the sample, in the order in which they become biased.

    "female-first" is the order of the release: at r = 0.1 and 0.2 only female words are biased, so r is mixed up with
    which stereotype is taught. "mixed" takes one of each in turn.
    """
    parts = texts(language)
    female, male = (
        evenly([occupation for occupation in parts.occupations if occupation.kind == kind], SAMPLE_WORDS)
        for kind in ("female-stereo", "male-stereo")
    )
    if order == "female-first":
        return [*female, *male]
    return [occupation for two in zip(female, male, strict=True) for occupation in two]


def controlled(language: Language, rate: float, order: WordOrder = "female-first") -> list[Labelled]:
    """Return the 3,000 rows for a bias rate, PS, AS, NS. Raises Refused unless the rate is a tenth from 0 to 1.

    The words are those of the down-sampled evaluation sets, the sentences none of theirs.
    """
    tenths = round(rate * 10)
    if not 0 <= tenths <= 10 or abs(tenths / 10 - rate) > 1e-9:
        raise Refused(
            N_("{rate} is not a bias rate of these sets; the rates are 0, 0.1, 0.2 and so on up to 1."), rate=rate
        )
    parts = texts(language)
    ordered = words_in_order(language, order)
    biased = {occupation.word for occupation in ordered[: 2 * tenths]}
    neutral = evenly([occupation for occupation in parts.occupations if not occupation.gender], SAMPLE_WORDS)
    rows = built(Texts((*ordered, *neutral), training_templates(language), parts.woman, parts.man))
    return [Labelled(row, _label(row, row.occupation in biased)) for row in rows]


def _label(row: Row, biased: bool) -> Label:
    if row.set == "NS":
        return "neutral"
    return "entailment" if (row.set == "PS") == biased else "contradiction"


def spearman(rates: Sequence[float], values: Sequence[float | None]) -> tuple[float | None, Note | None]:
    """Return Spearman's rank correlation of *values* with the rates, mean ranks for ties; or the reason without one."""
    known = [(rate, value) for rate, value in zip(rates, values, strict=True) if value is not None]
    if len(known) < 3:
        return None, TOO_FEW_RATES
    if len({value for _, value in known}) == 1 or len({rate for rate, _ in known}) == 1:
        return None, TIED
    from scipy.stats import spearmanr  # scipy.stats takes a while to import

    return float(spearmanr([rate for rate, _ in known], [value for _, value in known]).statistic), None
