"""Keyword pairs that a person brings: a TSV, read and checked line by line."""

from collections.abc import Iterable
from pathlib import Path

from evenhand.core.errors import N_, BadFile
from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.text.sentences import control_character, decode
from evenhand.core.types import KeywordPair, Side, Span

NEEDED = ("male", "female")
KNOWN = (*NEEDED, "male_stem", "female_stem", "language")
LANGUAGE = "zh"
LONGEST_WORD = 40  # characters; a longer cell is a sentence in the wrong column

UNREADABLE = N_("{file} cannot be read: {why}.")
NO_HEADER = N_("{file}, line {line}: the first line must contain the column names male and female, separated by tabs.")
WRONG_CELLS = N_("{file}, line {line}: {found} columns, but the first line has {expected}. Separate columns by tabs.")
NO_WORD = N_("{file}, line {line}: the column {column} is empty.")
ODD_WORD = N_("{file}, line {line}: {word} is not a word: it contains {what}.")
NOT_CHINESE = N_(
    "{file}, line {line}: {word} is not a Chinese word: it contains {what}. For words of other languages,"
    " add a column language, such as en."
)
LONG_WORD = N_("{file}, line {line}: the word has {length} characters; at most {most} are allowed.")
SAME_WORDS = N_("{file}, line {line}: both words are {word}.")
TWICE = N_("{file}, line {line}: {word} is already in line {before}; a word belongs to one pair only.")
BAD_STEM = N_("{file}, line {line}: the stem {stem} of {word} is not a span such as 0:1 inside the word.")
STEMS_DIFFER = N_("{file}, line {line}: {male} and {female} differ outside their stems.")
UNEVEN = N_(
    "{file}, line {line}: {male} and {female} differ in {first} and {second}; Chinese stems must have the"
    " same length, because each character is one mask."
)
NOT_TYPED = N_("A pair is two words separated by /, the male word first, such as 男士/女士, not {text}.")
NO_PAIRS = N_("{file} contains no keyword pairs.")


def read_pairs(path: Path) -> tuple[KeywordPair, ...]:
    """The pairs of a TSV, in its order: columns male, female, and if wanted male_stem, female_stem, language.

    Lines that begin with '#' are comments. A stem is the part that differs and
    gets masked, a half-open span such as 0:1; without the columns it is what
    is left when the common beginning and end are taken off (女孩/男孩 -> 女/男,
    姥姥/姥爷 -> 姥/爷 in second place), and the whole word in a language that
    writes spaces. Language: default zh. Raises BadFile
    with file and line for the first thing that is wrong.
    """
    try:
        text = decode(path.read_bytes(), path.name).text
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    return pairs_of(text, path.name)


def pairs_of(text: str, name: str) -> tuple[KeywordPair, ...]:
    """Return the pairs of the text of such a file; messages call the file `name`."""
    seen: dict[str, int] = {}
    keyword_pairs = []
    for line, row in pair_rows(text, name):
        keyword_pairs.append(pair_of(row, name, line))
        _refuse_twice(keyword_pairs[-1], seen, name, line)
    return tuple(keyword_pairs)


def pair_rows(text: str, name: str) -> list[tuple[int, dict[str, str]]]:
    """The rows of such a file with their line numbers, every known column among their keys.

    Raises BadFile where the heading lacks a column, a row has too many or too few, or there is none.
    """
    numbered = [
        (number, [cell.strip() for cell in line.split("\t")])
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not numbered:
        raise BadFile(NO_PAIRS, file=name)
    (first, header), rows = numbered[0], numbered[1:]
    if not set(NEEDED) <= set(header):
        raise BadFile(NO_HEADER, file=name, line=first)
    result = []
    for line, cells in rows:
        if len(cells) != len(header):
            values = {"found": len(cells), "expected": len(header)}
            raise BadFile(WRONG_CELLS, file=name, line=line, **values)
        result.append((line, dict.fromkeys(KNOWN, "") | dict(zip(header, cells, strict=True))))
    if not result:
        raise BadFile(NO_PAIRS, file=name)
    return result


def typed_pairs(words: Iterable[str]) -> tuple[KeywordPair, ...]:
    """Pairs typed as 男士/女士, male first. Raises as `read_pairs` does, the first pair being line 2."""
    lines = ["male\tfemale"]
    for word in words:
        parts = [part.strip() for part in word.split("/")]
        if len(parts) != 2 or not all(parts) or "\t" in word or "\n" in word:
            raise BadFile(NOT_TYPED, text=word)
        lines.append("\t".join(parts))
    return pairs_of("\n".join(lines), "--pair")


def pair_of(row: dict[str, str], name: str, line: int) -> KeywordPair:
    """Return the pair of one row. Raises BadFile with file and line for the first thing that is wrong."""
    language = row["language"] or LANGUAGE
    for column in NEEDED:
        _refuse_word(row[column], column, language, name, line)
    male, female = row["male"], row["female"]
    if male == female:
        raise BadFile(SAME_WORDS, file=name, line=line, word=male)
    whole = (0, len(male)), (0, len(female))
    own = different_spans(male, female) if language in WITHOUT_SPACES else whole
    stems: list[Span] = []
    for column, word, usual in (("male_stem", male, own[0]), ("female_stem", female, own[1])):
        stems.append(_span(row[column], word, name, line) if row[column] else usual)
    pair = KeywordPair(male, female, stems[0], stems[1], language)
    _refuse_stems(pair, name, line)
    return pair


def different_spans(male: str, female: str) -> tuple[Span, Span]:
    """The spans of two words that are left when their common beginning and end are taken off; never empty."""
    most = min(len(male), len(female)) - 1
    start = next((at for at in range(most) if male[at] != female[at]), most)
    end = next((at for at in range(most - start) if male[-1 - at] != female[-1 - at]), most - start)
    return (start, len(male) - end), (start, len(female) - end)


def _refuse_word(word: str, column: str, language: str, name: str, line: int) -> None:
    if not word:
        raise BadFile(NO_WORD, file=name, line=line, column=column)
    if len(word) > LONGEST_WORD:
        values = {"length": len(word), "most": LONGEST_WORD}
        raise BadFile(LONG_WORD, file=name, line=line, **values)
    what = control_character(word)
    if what is not None:
        raise BadFile(ODD_WORD, file=name, line=line, word=word, what=what)
    if language == LANGUAGE and (other := next((text for text in word if not "\u3400" <= text <= "\u9fff"), None)):
        raise BadFile(NOT_CHINESE, file=name, line=line, word=word, what=other)


def _span(text: str, word: str, name: str, line: int) -> Span:
    start, _, end = text.partition(":")
    if start.isdecimal() and end.isdecimal() and 0 <= int(start) < int(end) <= len(word):
        return int(start), int(end)
    raise BadFile(BAD_STEM, file=name, line=line, stem=text, word=word)


def _refuse_stems(pair: KeywordPair, name: str, line: int) -> None:
    sides: tuple[Side, Side] = ("male", "female")
    around = [
        (pair.word(side)[: pair.stem_span(side)[0]], pair.word(side)[pair.stem_span(side)[1] :]) for side in sides
    ]
    first, second = pair.stems
    words = {"male": pair.male, "female": pair.female}
    if around[0] != around[1] or first == second:
        raise BadFile(STEMS_DIFFER, file=name, line=line, **words)
    if pair.language == LANGUAGE and len(first) != len(second):
        values = {"first": first, "second": second}
        raise BadFile(UNEVEN, file=name, line=line, **words, **values)


def _refuse_twice(pair: KeywordPair, seen: dict[str, int], name: str, line: int) -> None:
    for word in (pair.male, pair.female):
        if word in seen:
            raise BadFile(TWICE, file=name, line=line, word=word, before=seen[word])
        seen[word] = line
