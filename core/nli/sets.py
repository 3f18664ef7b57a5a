"""The three evaluation sets, packaged or from words and templates of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.errors import N_, Refused
from evenhand.core.nli.occupations import Occupation, Texts, digest, fill, texts
from evenhand.core.nli.types import SETS, Gender, Language, Row

VERSION = 1  # raised when a packaged sentence changes
SAMPLE_WORDS = 10  # of each stereotype, and of the neutral words (SPEC 3.1)


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
        """Rows per set."""
        return {name: sum(row.set == name for row in self.rows) for name in SETS}


def packaged(language: Language, *, sample: bool = False, as_released: bool = False) -> ProbeSet:
    """The own sets: 1,000 PS, 1,000 AS, 3,420 NS (Chinese 3,320); *sample*: 200 of each, 10 words of each class.

    The sample takes words evenly from the alphabetical list of each class, so it is the same everywhere.
    """
    parts = texts(language, as_released)
    if sample:
        parts = Texts(_sampled(parts.occupations), parts.templates, parts.woman, parts.man)
    size = "sample" if sample else "full"
    words = "-released" if as_released and language == "zh" else ""
    return ProbeSet(f"own-{language}{words}-{size}-v{VERSION}", language, tuple(built(parts)))


def built(parts: Texts) -> list[Row]:
    """PS, then AS (the same premises in the same order), then NS. Raises Refused where nothing could be built."""
    if not parts.templates or not parts.occupations:
        raise Refused(N_("A set needs at least one template and one occupation."))
    stereotyped = [one for one in parts.occupations if one.gender]
    neutral = [one for one in parts.occupations if not one.gender]
    rows = [_row("PS", parts, one, i, one.gender) for one in stereotyped for i in range(len(parts.templates))]
    rows += [_row("AS", parts, one, i, other(one.gender)) for one in stereotyped for i in range(len(parts.templates))]
    genders: tuple[Gender, ...] = ("woman", "man")
    rows += [
        _row("NS", parts, one, i, gender) for one in neutral for i in range(len(parts.templates)) for gender in genders
    ]
    return rows


def other(gender: Gender) -> Gender:
    """The other of the two gender words."""
    return "man" if gender == "woman" else "woman"


def _row(name: str, parts: Texts, one: Occupation, number: int, gender: Gender) -> Row:
    template = parts.templates[number]
    premise, hypothesis = fill(template, one.word), fill(template, parts.gender_word(gender))
    assert name in SETS
    return Row(name, premise, hypothesis, one.word, one.kind, gender, str(number + 1))


def _sampled(words: Sequence[Occupation]) -> tuple[Occupation, ...]:
    chosen: list[Occupation] = []
    for kind in ("female-stereo", "male-stereo", "neutral"):
        chosen += evenly([one for one in words if one.kind == kind], SAMPLE_WORDS)
    return tuple(chosen)


def evenly(words: Sequence[Occupation], count: int) -> list[Occupation]:
    """*count* of the words at equal distances; all of them where there are fewer."""
    if len(words) <= count:
        return list(words)
    return [words[i * len(words) // count] for i in range(count)]
