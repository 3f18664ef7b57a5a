"""The statistics of a set of texts in one value.

Characters and lengths: a character is a Unicode code point; nothing is normalised before counting. Texts that come
twice: exactly, but for punctuation and blanks, or but for the keyword. Of generations also words, different words and
how repetitive they are.
"""

import hashlib
import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

from evenhand.core.describe.keywords import Cell, KeywordCount, PairBalance, keyword_counts, pair_balances
from evenhand.core.describe.vocabulary import Coverage, Vocabulary, coverage
from evenhand.core.errors import N_, BadFile
from evenhand.core.statistics.estimate import Note
from evenhand.core.text.keywords import find
from evenhand.core.text.repetition import Repeated, full_text, repetitiveness, summary, tokens
from evenhand.core.text.sentences import LONGEST_SENTENCE, control_character

NO_TEXT = Note(N_("There is no text to describe."))
COMMONEST = 10  # characters, as in the papers' Table 2


@dataclass(frozen=True, slots=True)
class Characters:
    """Counts of each character in the texts, the most common first; equally common ones in the order of Unicode.

    Punctuation, digits and blanks count as characters, as in the papers.
    """

    counts: dict[str, int]
    json_names: ClassVar = {"counts": None, "listed": "commonest"}
    also_in_json: ClassVar = ("total", "distinct", "listed")

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The most common characters, in the form of the JSON output."""
        return counted(dict(self.commonest()))

    @property
    def total(self) -> int:
        """Characters of all texts."""
        return sum(self.counts.values())

    @property
    def distinct(self) -> int:
        """Different characters."""
        return len(self.counts)

    def commonest(self, number: int = COMMONEST) -> list[tuple[str, int]]:
        """Return the *number* most common characters with their counts."""
        return list(self.counts.items())[:number]


def counted(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return characters with their counts, as JSON has them."""
    return [{"character": character, "count": count} for character, count in counts.items()]


def characters(texts: Iterable[str]) -> Characters:
    """Count the characters of *texts*."""
    counts = Counter("".join(texts))
    return Characters(dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))))


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of texts in one unit; `by[n]`: how many texts have length n. Undefined (None) without a text."""

    texts: int
    least: int | None
    median: float | None
    mean: float | None
    most: int | None
    by: dict[int, int]
    json_names: ClassVar = {"texts": None, "least": "min", "most": "max", "by": "counts"}
    also_in_json: ClassVar = ("reason",)
    explained_by: ClassVar = "reason"

    @property
    def reason(self) -> Note:
        """The reason why a length is undefined."""
        return NO_TEXT


def lengths(values: Sequence[int]) -> Lengths:
    """Return minimum, median, mean and maximum of *values*; the median of an even number is a mean of two."""
    by = dict(sorted(Counter(values).items()))
    if not values:
        return Lengths(0, None, None, None, None, by)
    return Lengths(
        len(values), min(values), float(statistics.median(values)), sum(values) / len(values), max(values), by
    )


def endings(texts: Iterable[str]) -> dict[str, int]:
    """Count how often each character is the last one of a text, the most common first."""
    counts = Counter(text[-1] for text in texts if text)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


LISTED = 50  # groups that are kept with the places of their texts
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Repeats:
    """Texts that are the same in one sense.

    `groups`: how many different ones occur twice or more; `texts`: how many texts belong to them; `surplus`: how many
    would go if one of each group stayed, `different`: how many would stay. `places`: of the texts of the first groups.
    """

    groups: int
    texts: int
    surplus: int
    different: int
    places: tuple[tuple[str, ...], ...]


def bare(text: str) -> str:
    """Return *text* without punctuation, symbols and blanks; letters, digits and characters are unchanged."""
    return _MARKS.sub("", text)


def repeats(keys: Sequence[str | None], places: Sequence[str]) -> Repeats:
    """Return which of *keys* (one a text; None: left out) occur more than once, in the order of their first text.

    *places*: where each text is found.
    """
    first: dict[str, int] = {}
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        if key is None:
            continue
        if key not in first:
            first[key] = number
        else:
            groups.setdefault(key, [first[key]]).append(number)
    texts = sum(map(len, groups.values()))
    surplus, listed = texts - len(groups), sorted(groups.values())[:LISTED]
    named = tuple(tuple(places[number] for number in group) for group in listed)
    return Repeats(len(groups), texts, surplus, len(keys) - surplus, named)


__all__ = ["Writing", "writing"]


@dataclass(frozen=True, slots=True)
class Writing:
    """English generations. Tokens are lower-cased words and punctuation (text.repetition), white space left out.

    `distinct`: different tokens over all completions; `per_text`: mean share of different tokens within a completion, 0
    to 1, None where there is none. `completion`, `published`: repetitiveness (docs/human_vs_rule.md#repetition, 0 to 1,
    higher is more repetitive) of the completions alone and, as published, of context and completion together.
    """

    tokens: Lengths
    total: int
    distinct: int
    per_text: float | None
    completion: Repeated
    published: Repeated


def writing(pairs: Sequence[tuple[str, str]]) -> Writing:
    """Return the statistics of (context, completion) pairs."""
    words = [[token.lower() for token in tokens(completion) if not token.isspace()] for _, completion in pairs]
    shares = [len(set(word)) / len(word) for word in words if word]
    return Writing(
        tokens=lengths([len(word) for word in words]),
        total=sum(map(len, words)),
        distinct=len({token for word in words for token in word}),
        per_text=sum(shares) / len(shares) if shares else None,
        completion=summary(repetitiveness(completion)[0] for _, completion in pairs),
        published=summary(repetitiveness(full_text(context, completion))[0] for context, completion in pairs),
    )


_DATE = re.compile(r"(?<!\d)(\d{4})(?:\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2}))?|(\d{2})(\d{2})(?!\d))?(?!\d)")
YEARS = range(1000, 2101)


@dataclass(frozen=True, slots=True)
class Origins:
    """`named`: texts whose source is known, by source, most texts first; `unnamed`: the others.

    `dated`: texts by year and month as far as known ("2018-07", "2018"), in order of time; `undated`: the others.
    `earliest`, `latest`: the first and the last date, as precise as it was given.
    """

    named: dict[str, int]
    unnamed: int
    dated: dict[str, int]
    undated: int
    earliest: str | None
    latest: str | None


@lru_cache(maxsize=10_000)
def date_of(text: str) -> str | None:
    """Return the date in *text* as YYYY-MM-DD, YYYY-MM or YYYY; 20180705 also counts. None without a date."""
    match = _DATE.search(text)
    if match is None or int(match[1]) not in YEARS:
        return None
    month, day = match[2] or match[4], match[3] or match[5]
    if month is None or not 1 <= int(month) <= 12:
        return match[1]
    if day is None or not 1 <= int(day) <= 31:
        return f"{match[1]}-{int(month):02d}"
    return f"{match[1]}-{int(month):02d}-{int(day):02d}"


def origins(sources: Iterable[str], dates: Iterable[str]) -> Origins:
    """Count *sources* and *dates*, one a text, "" where it is not known."""
    named = Counter(sources)
    unnamed = named.pop("", 0)
    read = [date_of(date) if date else None for date in dates]
    known = sorted(text for text in read if text is not None)
    months = Counter(text[:7] for text in known)
    return Origins(
        dict(sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))),
        unnamed,
        dict(sorted(months.items())),
        len(read) - len(known),
        known[0] if known else None,
        known[-1] if known else None,
    )


VERSION = 2  # of the method: raise it when a number may change


class Text(NamedTuple):
    """One text of a set.

    `pair`, `side`: of its keyword ("" where it has none); `word`: the keyword's half-open code points; `place`: where a
    person finds it (a line, an id); `source`, `date`: where it is from, "" where that is not known. `context`: what a
    generation completes.
    """

    text: str
    pair: str = ""
    side: str = ""
    word: tuple[int, int] | None = None
    place: str = ""
    source: str = ""
    date: str = ""
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """A set of texts. `items`: which of a project ("accepted", "all"), or "file".

    `exact`, `near`, `twins`: texts that occur twice as they are, without punctuation and blanks, and with the keyword
    masked (the same sentence with either word). `without_keyword`: texts without a keyword, of sets whose texts have
    one. `writing`: of generations only.
    """

    name: str
    kind: str
    items: str
    characters: Characters
    lengths: Lengths
    endings: dict[str, int]
    exact: Repeats
    near: Repeats
    twins: Repeats
    keywords: tuple[KeywordCount, ...]
    balances: tuple[PairBalance, ...]
    origins: Origins
    coverage: Coverage | None
    without_keyword: int
    writing: Writing | None
    digest: str

    @property
    def sentences(self) -> int:
        """The number of texts."""
        return self.lengths.texts

    def of_side(self, side: Literal["male", "female"]) -> int:
        """Return the number of texts whose keyword is the word of one side."""
        return sum(getattr(balance, side) for balance in self.balances)

    @property
    def signature(self) -> str:
        """The signature: texts, vocabulary and method."""
        used = None if self.coverage is None else self.coverage.vocabulary
        words = "" if used is None else f"|vocabulary:{used.name}:{used.digest[:8]}"
        return f"describe|items:{self.items}|texts:{self.digest[:8]}{words}|characters:code-points|v{VERSION}"


def described(
    texts: Sequence[Text],
    *,
    name: str,
    items: str,
    kind: str = "sentences",
    before: Mapping[Cell, int] | None = None,
    decided: Mapping[Cell, int] | None = None,
    kept: Mapping[Cell, int] | None = None,
    by_quota: Collection[str] = (),
    vocabulary: Vocabulary | None = None,
) -> Description:
    """Describe *texts*.

    `before`, `decided`: candidates and decided ones by (pair, side), where they are known. `kept`: how many were kept,
    for the figure of before and after; None: the texts themselves. `by_quota`: pairs whose texts were kept by quotas
    for both words.
    """
    plain, places = [text.text for text in texts], [text.place for text in texts]
    counted = characters(plain)
    cells = Counter((text.pair, text.side) for text in texts if text.pair)
    return Description(
        name=name,
        kind=kind,
        items=items,
        characters=counted,
        lengths=lengths([len(text) for text in plain]),
        endings=endings(plain),
        exact=repeats(plain, places),
        near=repeats([bare(text) or None for text in plain], places),
        twins=repeats([_masked(text) for text in texts], places),
        keywords=keyword_counts(cells if kept is None else kept, before, decided, kind=kind),
        balances=pair_balances(cells, by_quota),
        origins=origins((text.source for text in texts), (text.date for text in texts)),
        coverage=None if vocabulary is None else coverage(counted.counts, vocabulary),
        without_keyword=sum(1 for text in texts if text.word is None) if kind == "sentences" else 0,
        writing=writing([(text.context or "", text.text) for text in texts]) if kind == "generations" else None,
        # A line break after each: two texts are another set than the one that they make together.
        digest=hashlib.sha256("".join(f"{text}\n" for text in plain).encode("utf-8", "surrogatepass")).hexdigest(),
    )


def described_sentences(sentences: Iterable[str], *, name: str = "texts") -> Description:
    """Describe *sentences* without the blank ones; the place of each sentence is its number, from 1.

    A sentence with exactly one keyword, which an import would accept, has its pair, side and word. Raises BadFile if
    all are blank.
    """
    texts = [_sentence(text, str(number)) for number, text in enumerate(sentences, 1) if text.strip()]
    if not texts:
        raise BadFile(N_("{file} has no text to describe."), file=name)
    return described(texts, name=name, items="file")


def _sentence(text: str, place: str) -> Text:
    usable = len(text) <= LONGEST_SENTENCE and control_character(text) is None
    keywords = find(text) if usable else []
    if len(keywords) != 1:
        return Text(text, place=place)
    keyword = keywords[0]
    return Text(text, keyword.pair.name, keyword.side, (keyword.start, keyword.end), place)


def _masked(text: Text) -> str | None:
    """Return the text with its keyword replaced by the pair's name, so that both words of a pair give the same text."""
    if text.word is None:
        return None
    start, end = text.word
    return f"{text.text[:start]}\0{text.pair}\0{text.text[end:]}"
