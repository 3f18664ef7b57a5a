"""The keyword packs: per language, words that differ in gender only, and the forms that have to go along.

One table a language (core/data/words_en.tsv, words_ja.tsv, words_es.tsv); the Chinese one is the 19 pairs of the
released file (pairs.tsv, pair_kinds.tsv). A user's table has the same columns and is added to them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from evenhand.core.errors import N_, BadFile
from evenhand.core.mining.keyword_lists import UNREADABLE, pair_of, pair_rows
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.resources import DATA, keyword_pairs, table
from evenhand.core.text.sentences import decode
from evenhand.core.types import KeywordPair

LANGUAGES = ("zh", "en", "ja", "es")
NAMES = {"zh": "中文", "en": "English", "ja": "日本語", "es": "español"}  # as each calls itself
EXAMPLES = {"zh": "他, 女孩, 爸爸", "en": "he, her, mother", "ja": "彼, 彼女, 父", "es": "él, maestra, hijo"}
OTHER_FORMS = ("它", "ta", "祂", "妳")  # shown next to 他 and 她, so that they are not the only pronouns on the page
PLURAL = ("pronouns", "people", "relatives", "articles", "adjectives")
FORMS = {"article": "article", "articles": "article", "adjective": "adjective", "adjectives": "adjective"}
MOST_ROWS = 5_000
_CODE = re.compile(r"[a-z]{2,3}")

NO_LANGUAGE = N_(
    "{file}, line {line}: the language is unknown. Add a column language with a code such as en, or choose one."
)
BAD_CODE = N_("{file}, line {line}: {language} is not a language code such as en, es or eu.")
BAD_KIND = N_(
    "{file}, line {line}: {kind} is not a kind of word in this language; leave it empty or use one of {known}."
)
TWICE = N_("{file}, line {line}: {male} and {female} are already in line {before}.")
TOO_MANY = N_("{file} has {count} rows; the maximum is {most}.")
ODD_FORM = N_("{file}, line {line}: {word} contains characters other than letters, apostrophes, hyphens and spaces.")
_WORD = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class PackWord:
    """Two words that differ in gender only. `kind`: the fitting neutral contexts; `others`: further forms to show."""

    pair: KeywordPair
    kind: str = ""
    others: tuple[str, ...] = ()

    @property
    def plural(self) -> bool:
        """True if the words that agree with it are in the plural."""
        return self.kind in PLURAL

    @property
    def contexts(self) -> tuple[str, ...]:
        """Contexts that say nothing about gender, with {word} where its words go; empty where there are none."""
        return _contexts(self.pair.language).get(self.kind, ())


@dataclass(frozen=True, slots=True)
class Pack:
    """The words of a language, and its `forms` (articles, adjectives) that agree with them."""

    language: str
    words: tuple[PackWord, ...]
    forms: tuple[PackWord, ...] = ()

    def known(self, first: str, second: str) -> PackWord | None:
        """Return the entry with these two words, in either order and any capitals."""
        asked = {first.lower(), second.lower()}
        return next((word for word in self.words if asked == {word.pair.male.lower(), word.pair.female.lower()}), None)


def pack(language: str, own: Iterable[PackWord] = ()) -> Pack:
    """Return the pack of a language, the user's *own* words of that language first; empty for an unknown language."""
    mine = [pack_word for pack_word in own if pack_word.pair.language == language]
    given = _built_in(language)
    words = [pack_word for pack_word in mine if pack_word.kind not in FORMS]
    forms = [pack_word for pack_word in mine if pack_word.kind in FORMS]
    names = {word.pair.name for word in words}
    pack_words = [word for word in given.words if word.pair.name not in names]
    return Pack(language, (*words, *pack_words), (*forms, *given.forms))


def read_words(path: Path, language: str | None = None) -> tuple[PackWord, ...]:
    """Read an own table; see `words_of`. Raises BadFile where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    return words_in(data, path.name, language)


def words_in(data: bytes, name: str, language: str | None = None) -> tuple[PackWord, ...]:
    """Return the words in the bytes of a table; see `words_of`."""
    return words_of(decode(data, name).text, name, language)


def words_of(text: str, name: str, language: str | None = None) -> tuple[PackWord, ...]:
    """Return the words of a tab-separated table with the columns male, female and optionally kind, other, language.

    *text* is the table, *name* its name in messages. *language* applies to rows without one. Of a|b in a cell, a is
    used as the counterpart, and b is recognised as well. `other`: further forms to show, separated by spaces. The
    columns male_stem and female_stem are as in a file of keyword pairs. Raises BadFile, with file and line, for the
    first mistake.
    """
    rows = pair_rows(text, name)
    if len(rows) > MOST_ROWS:
        raise BadFile(TOO_MANY, file=name, count=len(rows), most=MOST_ROWS)
    pack_words: list[PackWord] = []
    seen: dict[tuple[str, str, str], int] = {}
    for line, row in rows:
        code = row["language"].lower() or (language or "")
        if not _CODE.fullmatch(code):
            raise BadFile(BAD_CODE if code else NO_LANGUAGE, file=name, line=line, language=code)
        kind = row.get("kind", "")
        if kind and kind not in kinds(code):
            known = ", ".join(kinds(code)) or "—"
            raise BadFile(BAD_KIND, file=name, line=line, kind=kind, known=known)
        for pair in _pairs(row | {"language": code}, kind, name, line):
            place = (kind, pair.male, pair.female)
            if place in seen:
                values = {"male": pair.male, "female": pair.female, "before": seen[place]}
                raise BadFile(TWICE, file=name, line=line, **values)
            seen[place] = line
            pack_words.append(PackWord(pair, kind, tuple(row.get("other", "").split())))
    return tuple(pack_words)


def _pairs(row: dict[str, str], kind: str, name: str, line: int) -> list[KeywordPair]:
    """Return the pairs of a row: its first words, then each further word with the first one of the other side."""
    males, females = ([part.strip() for part in row[side].split("|")] for side in ("male", "female"))
    both = [
        (males[0], females[0]),
        *((male, females[0]) for male in males[1:]),
        *((males[0], female) for female in females[1:]),
    ]
    pairs = []
    for male, female in both:
        pair = pair_of(row | {"male": male, "female": female}, name, line)
        for word in (male, female):
            if row["language"] not in WITHOUT_SPACES and not _WORD.fullmatch(word):
                raise BadFile(ODD_FORM, file=name, line=line, word=word)
        if row["language"] == "ja" and kind.startswith("pronoun"):
            pair = replace(pair, male_stem=(0, len(male)), female_stem=(0, len(female)))
        pairs.append(pair)
    return pairs


@cache
def _built_in(language: str) -> Pack:
    if language == "zh":
        given = {row["pair"]: row["kind"] for row in table("pair_kinds")}
        kinds_of = [(pair, given.get(pair.name, "")) for pair in keyword_pairs()]
        return Pack("zh", tuple(PackWord(pair, kind, OTHER_FORMS * (kind == "pronoun")) for pair, kind in kinds_of))
    path = DATA / f"words_{language}.tsv"
    if language not in LANGUAGES or not path.is_file():
        return Pack(language, ())
    rows = words_of(path.read_text(encoding="utf-8"), path.name, language)
    words, forms = ([row for row in rows if (row.kind in FORMS) == agrees] for agrees in (False, True))
    return Pack(language, tuple(words), tuple(forms))


@cache
def kinds(language: str) -> tuple[str, ...]:
    """Return the kinds of words that a table of that language can name."""
    return (*_contexts(language), *(FORMS if language == "es" else ()))


@cache
def _contexts(language: str) -> dict[str, tuple[str, ...]]:
    """Return the neutral contexts of a language by kind."""
    rows = table("word_contexts")
    result: dict[str, list[str]] = {}
    if language == "zh":
        rows = tuple(row | {"language": "zh"} for row in table("neutral_contexts"))
    for row in rows:
        if row["language"] == language:
            result.setdefault(row["kind"], []).append(row["context"])
    return {kind: tuple(contexts) for kind, contexts in result.items()}


@cache
def language_words(language: str, list_: str) -> frozenset[str]:
    """Return a list of common words of a language; empty where the app has none."""
    rows = (row for row in table("language_words") if (row["language"], row["list"]) == (language, list_))
    return frozenset(word for row in rows for word in row["words"].split())
