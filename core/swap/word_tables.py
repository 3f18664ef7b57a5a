"""Words and their counterparts: the pairs that ship with the app, a user's own, and names from a user's list."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.mining.keyword_lists import LONGEST_WORD, UNREADABLE, pair_rows
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.sentence_bias.keyword_packs import pack
from evenhand.core.text.sentences import control_character, decode
from evenhand.core.types import Side

LANGUAGES = ("zh", "en")
Words = Literal["released", "wide"]
Pair = tuple[str, str]  # male word, female word
MOST_PAIRS = 20_000
# The forms of English pronouns; core.swap.swapping decides between two cases of one form.
PRONOUNS = ("he", "she", "him", "her", "his", "hers", "himself", "herself")
MALE_PRONOUNS = ("he", "him", "his", "himself")

NO_PAIR = N_("{pair} is not one of the swapped pairs; write it like 男孩/女孩.")
NO_LANGUAGE = N_("Texts in {language} cannot be swapped; the languages are zh and en.")
EMPTY_WORD = N_("{file}, line {line}: a word is empty, too long, or contains invisible characters.")
SAME = N_("{file}, line {line}: both words are {word}.")
TWICE = N_("{file}, line {line}: {word} is already in line {before}; a word has only one counterpart.")
IS_WORD = N_("{word} is in both the list of names and the list of words; a word has only one counterpart.")
TOO_MANY = N_("{file} has {count} pairs; the maximum is {most}.")
PRONOUN = N_("{file}, line {line}: {word} is a pronoun; its counterpart follows from the case and cannot be set.")


@dataclass(frozen=True)
class WordTable:
    """Words and their counterparts in one language. `sides`: the side of each word; `names`: words that are names.

    `own`: the pairs that a user gave, in their order.
    """

    language: str
    words: Words
    counterparts: dict[str, str]
    sides: dict[str, Side]
    names: frozenset[str] = frozenset()
    own: tuple[Pair, ...] = field(default=(), compare=False)

    def side(self, word: str) -> Side:
        """Return the side of a word or English pronoun of the table, in any capitals."""
        if self.language == "en" and word.lower() in PRONOUNS:
            return "male" if word.lower() in MALE_PRONOUNS else "female"
        return self.sides.get(word) or self.sides.get(word.lower(), "male")

    def without(self, pairs: Iterable[str]) -> "WordTable":
        """Return the table without *pairs* (written as 他/她), whose words are left alone. Raises Refused for others.

        In English he and she cannot be left out, because their forms go together.
        """
        left = {word for pair in pairs for word in self._words_of(pair)}
        kept = {word: other for word, other in self.counterparts.items() if not {word, other} & left}
        return replace(self, counterparts=kept)

    def _words_of(self, pair: str) -> tuple[str, ...]:
        words = tuple(part.strip() for part in pair.split("/"))
        if len(words) != 2 or self.counterparts.get(words[0]) != words[1]:
            raise Refused(NO_PAIR, pair=pair)
        return words


def word_table(
    language: str, *, words: Words = "released", own: Iterable[Pair] = (), names: Iterable[Pair] = ()
) -> WordTable:
    """Return the words of a language: a user's *own* first, then the words of the app, then *names*.

    *words*: for Chinese, the 19 pairs of the released file, or with "wide" those of core/data/swap_words.tsv too; for
    English always everything. Raises Refused for another language, BadFile for a name that is a word too.
    """
    if language not in LANGUAGES:
        raise Refused(NO_LANGUAGE, language=language)
    own, names = tuple(own), tuple(names)
    counterparts: dict[str, str] = {}
    sides: dict[str, Side] = {}
    for male, female in (*own, *_built_in(language, words)):
        for word, other, side in ((male, female, "male"), (female, male, "female")):
            if word not in counterparts:
                counterparts[word], sides[word] = other, side  # type: ignore[assignment]
    for male, female in names:
        for word, other in ((male, female), (female, male)):
            if word in counterparts:
                raise BadFile(IS_WORD, word=word)
            counterparts[word] = other
        sides |= {male: "male", female: "female"}
    return WordTable(language, words, counterparts, sides, frozenset(name for pair in names for name in pair), own)


@cache
def _built_in(language: str, words: Words) -> tuple[Pair, ...]:
    more = tuple((row["male"], row["female"]) for row in table("swap_words") if row["language"] == language)
    if language == "zh":
        released = tuple((pair.male, pair.female) for pair in keyword_pairs())
        return (*released, *more) if words == "wide" else released
    given = (
        (word.pair.male, word.pair.female) for word in pack("en").words if not set(PRONOUNS) & _both(word.pair.name)
    )
    return (*given, *more)


def _both(name: str) -> set[str]:
    return set(name.split("/"))


def read_word_pairs(path: Path, language: str) -> tuple[Pair, ...]:
    """Read a user's pairs of words or names; see `word_pairs_of`. Raises BadFile where the file cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    return word_pairs_in(data, path.name, language)


def word_pairs_in(data: bytes, name: str, language: str) -> tuple[Pair, ...]:
    """Return the pairs in the bytes of a table; see `word_pairs_of`."""
    return word_pairs_of(decode(data, name).text, name, language)


def word_pairs_of(text: str, name: str, language: str) -> tuple[Pair, ...]:
    """Return the pairs of a table with tabs and the columns male and female; *name* is its name in messages.

    Unlike keyword pairs their stems may differ in length: nothing is masked. Raises BadFile, with file and line, for
    the first mistake: an empty cell, a word twice, an English pronoun.
    """
    rows = pair_rows(text, name)
    if len(rows) > MOST_PAIRS:
        raise BadFile(TOO_MANY, file=name, count=len(rows), most=MOST_PAIRS)
    seen: dict[str, int] = {}
    pairs = []
    for line, row in rows:
        pair = (row["male"], row["female"])
        for word in pair:
            if not word or len(word) > LONGEST_WORD or control_character(word):
                raise BadFile(EMPTY_WORD, file=name, line=line)
            if language == "en" and word.lower() in PRONOUNS:
                raise BadFile(PRONOUN, file=name, line=line, word=word)
            if word in seen and pair[0] != pair[1]:
                raise BadFile(TWICE, file=name, line=line, word=word, before=seen[word])
            seen[word] = line
        if pair[0] == pair[1]:
            raise BadFile(SAME, file=name, line=line, word=pair[0])
        pairs.append(pair)
    return tuple(pairs)
