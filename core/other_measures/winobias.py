"""The gap between pro- and anti-stereotyped sentences (WinoBias, Zhao et al. 2018).

See docs/other_measures.md#lpbs-and-the-proanti-gap.

WinoBias was made for coreference systems, whose gap is one of F1 (`core.other_measures.classifiers`). A language model
gets the prompt that Brown et al. 2020 gave to GPT-3: the sentence, then `"He" refers to the`. Its answer is the more
likely of the two people. The gap is the share of right answers for pro-stereotyped sentences minus the share for their
anti-stereotyped twins.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import N_, BadFile
from evenhand.core.resources import table
from evenhand.core.types import MaskedSentence

PRONOUNS = ("he", "she", "him", "her", "his", "hers", "himself", "herself")
NEUTRAL = {"he": "they", "she": "they", "him": "them", "his": "their", "hers": "theirs", "himself": "themself",
           "herself": "themself"}  # fmt: skip
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
_DETERMINER = re.compile(r"^(the|an?)\s+", re.IGNORECASE)

NO_TWO = N_("{file}, line {line}: a person and a pronoun in square brackets are needed, as in WinoBias.")
NO_ROWS = N_("{file} contains no sentences. It must be a table with the columns pro and anti.")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without brackets, its pronoun as written, the person it refers to, and the other person."""

    text: str
    pronoun: str
    right: str
    wrong: str

    @property
    def probe(self) -> MaskedSentence:
        """The probe for the model, with the right person as the first option."""
        text = f'{self.text} "{self.pronoun[:1].upper()}{self.pronoun[1:]}" refers to the {self.right}.'
        start = len(text) - len(self.right) - 1
        return MaskedSentence(text, start, start + len(self.right), (self.right, self.wrong))


@dataclass(frozen=True, slots=True)
class Twins:
    """A pro-stereotyped sentence and its anti-stereotyped twin; `alike`: they differ in the pronoun alone."""

    pro: Sentence
    anti: Sentence
    alike: bool

    @property
    def neutral(self) -> Sentence:
        """The sentence with they in place of the pronoun, so that no gender decides."""
        # her is an object or a possessive; the twin has him or his there.
        one = next((sentence for sentence in (self.pro, self.anti) if sentence.pronoun.lower() != "her"), self.pro)
        they = NEUTRAL.get(one.pronoun.lower(), "them")
        text = re.sub(rf"\b{re.escape(one.pronoun)}\b", they, one.text, count=1)
        return Sentence(text, they, one.right, one.wrong)


def built_in(kind: str = "1", part: str = "test") -> list[Twins]:
    """Return the set that ships with the app (MIT licence): type "1" or "2", part "dev" or "test"."""
    rows = [row for row in table("winobias") if row["type"] == kind and row["part"] == part]
    return twins([(row["pro"], _twin(row["pro"], row["anti"])) for row in rows], "WinoBias")


def _twin(pro: str, anti: str) -> str:
    """Return the anti-stereotyped sentence: *anti* if it has brackets, else *pro* with the pronouns of *anti*."""
    if "[" in anti:
        return anti
    pronouns = iter(anti.split())
    return _BRACKETS.sub(lambda one: f"[{next(pronouns)}]" if _is_pronoun(one[1]) else one[0], pro)


def read_twins(path: Path) -> list[Twins]:
    """Read an own copy: a table with columns pro and anti, each a sentence of WinoBias with its brackets."""
    from evenhand.core.files.readers import open_source, rows

    pairs = []
    for row in rows(open_source(path)):
        pro, anti = (str(row.values.get(name) or "").strip() for name in ("pro", "anti"))
        if pro and anti:
            pairs.append((pro, anti))
    if not pairs:
        raise BadFile(NO_ROWS, file=path.name)
    return twins(pairs, path.name)


def twins(pairs: Sequence[tuple[str, str]], file: str) -> list[Twins]:
    """Return the twins of *pairs*. Raises BadFile for a sentence without a person and a pronoun in brackets."""
    people = people_in(text for pair in pairs for text in pair)
    result = []
    for line, (pro, anti) in enumerate(pairs, 1):
        both = [_read(text, people) for text in (pro, anti)]
        if both[0] is None or both[1] is None:
            raise BadFile(NO_TWO, file=file, line=line)
        result.append(Twins(both[0], both[1], _bare(pro) == _bare(anti)))
    return result


def people_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return every person in brackets, without the determiner; the longest names first."""
    result = {_name(entry) for text in texts for entry in _BRACKETS.findall(text) if not _is_pronoun(entry)}
    return tuple(sorted(result, key=lambda name: (-len(name), name)))


def _read(text: str, people: Sequence[str]) -> Sentence | None:
    marked = [inside.strip() for inside in _BRACKETS.findall(text)]
    right = next((_name(entry) for entry in marked if not _is_pronoun(entry)), None)
    pronoun = next((entry for entry in marked if _is_pronoun(entry)), None)
    plain = " ".join(re.sub(r"[\[\]]", " ", text).split())
    plain = re.sub(r" ([.,;:!?'])", r"\1", re.sub(r"\bthe the\b", "the", plain))
    if right is None or pronoun is None:
        return None
    outside = _BRACKETS.sub(" ", text).lower()
    wrong = next(
        (person for person in people if person != right and re.search(rf"\b{re.escape(person)}\b", outside)), None
    )
    return None if wrong is None else Sentence(plain, pronoun, right, wrong)


def _name(marked: str) -> str:
    return _DETERMINER.sub("", marked.strip()).strip().lower()


def _is_pronoun(word: str) -> bool:
    return word.strip().lower() in PRONOUNS


def _bare(text: str) -> str:
    return _BRACKETS.sub(lambda one: "[]" if _is_pronoun(one[1]) else one[0], text)
