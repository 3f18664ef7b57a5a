"""The repetitiveness of a text: document 004, equation 21 (docs/human_vs_rule.md#repetition).

RR = (product over n = 1..4 of (V(n) - V(n,1)) / V(n)) ^ (1/4), where V(n) is the number of different n-grams of the
text and V(n,1) the number of those that occur once (Bertoldi, Cettolo and Federico 2013, for one text). 0 = for some n
no n-gram occurs twice; 1 = every n-gram is repeated. The published code scores context and completion together.

Tokens are cut like those of spaCy's blank English tokenizer, without spaCy. White space: one space after a word belongs
to it, any further white space is a token. Between white space: punctuation is taken off both ends,
hyphens and slashes between letters part, contractions come apart (do n't, he 's, can not), abbreviations keep a dot.
The pieces of a text joined together are the text without single spaces.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import ClassVar, Literal

from evenhand.core.errors import N_
from evenhand.core.resources import table
from evenhand.core.statistics.estimate import Note

_QUOTES = "'\"”“`‘´’‚„»«「」『』（）〔〕【】《》〈〉"
_PUNCT = "…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪"
_SYMBOLS = "\u00a6\u00a9\u00ae\u00b0\u2100-\u214f\u2190-\u23ff\u2500-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_CLOSING = re.escape(_QUOTES + _PUNCT)
_MONEY = re.escape("$£€¥₽₹₩₪₫₴₿")
_UNITS = (
    r"km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h|kmh|mph|hPa|Pa|"
    r"mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%"
)
_LOWER, _UPPER, _LETTER = "a-zà-öø-ÿ", "A-ZÀ-ÖØ-Þ", r"[^\W\d_]"
_PREFIX = re.compile(rf"§|%|=|—|–|\+(?!\d)|\.\.+|[{_CLOSING}]|(?:US|C|A)\$|[{_MONEY}]|[{_SYMBOLS}]")
_SUFFIX = re.compile(
    rf"(?:['’][sS]|[{_CLOSING}—–]|[{_SYMBOLS}]|(?<=\d)\+|(?<=°[FfCcKk])\.|(?<=\d)[{_MONEY}]|(?<=\d)(?:{_UNITS})|"
    rf"(?<=[\d{_LOWER}%²\-+{_CLOSING}])\.|(?<=[{_UPPER}]{{2}})\.)$"
)
_INFIX = re.compile(
    rf"\.\.+|…|[{_SYMBOLS}]|(?<=\d)[+\-*^](?=[\d-])|(?<=[{_LOWER}{re.escape(_QUOTES)}])\.(?=[{_UPPER}"
    rf"{re.escape(_QUOTES)}])|(?<={_LETTER}),(?={_LETTER})|(?:(?<={_LETTER})|(?<=\d))(?:---|--|——|[-–—~])(?={_LETTER})|"
    rf"(?:(?<={_LETTER})|(?<=\d))[:<>=/](?={_LETTER})"
)
_URL = re.compile(
    r"(?:[\w+\-.]{2,}://)?(?:\S+@)?(?:(?:[A-Za-z0-9\u00a1-\uffff][A-Za-z0-9\u00a1-\uffff_-]{0,62})?"
    rf"[A-Za-z0-9\u00a1-\uffff]\.)+[{_LOWER}]{{2,63}}(?::\d{{2,5}})?(?:[/?#]\S*)?"
)
LONGEST_SPECIAL = 64  # characters; no listed word is longer
LONGEST_ADDRESS = 2_048  # characters
REACH = 8  # characters that decide what is cut off the end of a word
_SPACES = re.compile(r"\s+|\S+")

# Contractions that are not a head with an ending -> where they are cut.
_OTHER = {
    "cannot": (3,),
    "gonna": (3,),
    "gotta": (3,),
    "c'mon": (3,),
    "y'all": (2,),
    "yall": (1,),
    "i'ma": (1, 3),
    "ima": (1, 2),
}


def tokens(text: str) -> list[str]:
    """Return the tokens of *text* in order, punctuation and white space included, as they are written."""
    result: list[str] = []
    swallow = False  # one space after a word belongs to the word
    for piece in _SPACES.findall(text):
        if piece[0].isspace():
            rest = piece[1:] if swallow and piece[0] == " " else piece
            if rest:
                result.append(rest)
        else:
            result += _split(piece)
        swallow = not piece[0].isspace()
    return result


@cache
def _word_list(kind: str) -> frozenset[str]:
    """Return the words of one kind in the packaged table."""
    return frozenset(next(row["words"] for row in table("english_tokens") if row["kind"] == kind).split())


@cache
def _unsplit_words() -> frozenset[str]:
    """Return the words that stay whole although they begin or end with punctuation."""
    return _word_list("clipped") | _word_list("abbreviation") | _word_list("smiley")


@cache
def _contractions() -> dict[str, tuple[int, ...]]:
    """Return for each contraction, in lower case with ', the places where it is cut."""
    cuts: dict[str, tuple[int, ...]] = {}
    for head in _word_list("not"):
        _add(cuts, (head, "n't"), (head, "nt"))
    for head in _word_list("not_have"):
        _add(cuts, (head, "n't", "'ve"), (head, "nt", "ve"))
    for head in _word_list("d_ll"):
        for ending in ("d", "ll"):
            _add(cuts, (head, f"'{ending}"), (head, ending), (head, f"'{ending}", "'ve"), (head, ending, "ve"))
    for ending in ("s", "re", "ve", "m"):
        for head in _word_list(ending):
            _add(cuts, (head, f"'{ending}"), (head, ending))
    return {word: where for word, where in cuts.items() if word not in _word_list("never")} | _OTHER


def _add(cuts: dict[str, tuple[int, ...]], *forms: tuple[str, ...]) -> None:
    for parts in forms:
        ends = [sum(map(len, parts[: i + 1])) for i in range(len(parts) - 1)]
        cuts["".join(parts)] = tuple(ends)


def _special(word: str) -> list[str] | None:
    """Return the tokens of a word that is cut, or not cut, against the rules; None for any other word."""
    if len(word) > LONGEST_SPECIAL:
        return None
    if word.replace("’", "'") in _unsplit_words():
        return [word]
    lower = word.lower().replace("’", "'")
    if word in (word.lower(), word.capitalize()) and (cuts := _contractions().get(lower)):
        ends = (0, *cuts, len(word))
        return [word[a:b] for a, b in pairwise(ends)]
    clock = re.fullmatch(r"(1[0-2]|[1-9])([ap]\.?m\.?)", word)
    return list(clock.groups()) if clock and word.count(".") != 1 else None


def _split(word: str) -> tuple[str, ...]:
    return _split_known(word) if len(word) <= LONGEST_SPECIAL else _split_affixes(word)


def _ending(word: str, start: int, stop: int) -> int | None:
    """Return where the part to cut off the end of word[start:stop] begins; None where there is none."""
    bare = stop
    while bare > start and word[bare - 1] == ".":
        bare -= 1
    if stop - bare > 1:
        return bare
    first = max(start, stop - REACH)  # nothing else that is cut off is longer: a word of 100 kB takes no hour
    match = _SUFFIX.search(word[first:stop])
    return None if match is None else first + match.start()


def _split_affixes(word: str) -> tuple[str, ...]:
    before: list[str] = []
    after: list[str] = []
    start, stop = 0, len(word)
    whole = _special(word)
    while whole is None and start < stop:
        length = stop - start
        if (cut := _ending(word, start, stop)) is not None and (whole := _part(word, start, cut)) is not None:
            after.append(word[cut:stop])
            break
        if match := _PREFIX.match(word, start, stop):
            before.append(match.group())
            start = match.end()
            if (whole := _part(word, start, stop)) is not None:
                break
        if start < stop and (cut := _ending(word, start, stop)) is not None:
            after.append(word[cut:stop])
            stop = cut
        if start < stop and (whole := _part(word, start, stop)) is not None:
            break
        if stop - start == length:
            break
    middle = _inside(word[start:stop]) if whole is None else whole
    return (*before, *middle, *reversed(after))


_split_known = lru_cache(1 << 16)(_split_affixes)  # words are repeated: most words of a text are in the cache


def _part(word: str, start: int, stop: int) -> list[str] | None:
    return _special(word[start:stop]) if stop - start <= LONGEST_SPECIAL else None


def _inside(word: str) -> list[str]:
    if not word:
        return []
    if "." in word and len(word) <= LONGEST_ADDRESS and _URL.fullmatch(word):
        return [word]
    result, start = [], 0
    for match in _INFIX.finditer(word):
        if match.start() > start:
            result.append(word[start : match.start()])
        result.append(match.group())
        start = match.end()
    return [*result, word[start:]] if start < len(word) else result


VERSION = 1  # of the method: raise it when a number may change
LONGEST = 4  # tokens of an n-gram, as published
Variant = Literal["published", "completion"]

TOO_SHORT = Note(N_("Fewer than four tokens: there is no four-gram to repeat."))
NOTHING = Note(N_("No text has four tokens or more."))


def repetitiveness(text: str | Sequence[str]) -> tuple[float | None, Note | None]:
    """Return RR of one text, 0 to 1, and why it is missing: (value, None) or (None, reason).

    *text* is cut into tokens, punctuation and white space included, and lower-cased; a sequence is taken as tokens.
    Undefined for fewer than four tokens (the published code stops with an error there).
    """
    words = [word.lower() for word in (tokens(text) if isinstance(text, str) else text)]
    if len(words) < LONGEST:
        return None, TOO_SHORT
    shares = [_repeated(words, n) for n in range(1, LONGEST + 1)]
    return math.prod(shares) ** (1 / LONGEST), None


def _repeated(words: Sequence[str], n: int) -> float:
    """Return the share of different n-grams that occur twice or more."""
    counted = Counter(zip(*(words[i:] for i in range(n)), strict=False))
    return sum(1 for times in counted.values() if times > 1) / len(counted)


def full_text(context: str, completion: str) -> str:
    """Return context and completion as one text, as in the published files; a space is added between two words."""
    if not context or not completion or context[-1].isspace() or not (completion[0].isalnum()):
        return context + completion
    return f"{context} {completion}"


@dataclass(frozen=True, slots=True)
class Repeated:
    """RR over several texts: mean and population standard deviation (ddof 0), as published; None with `reason`.

    `texts`: how many went in; `short`: how many were left out because they have fewer than four tokens.
    """

    mean: float | None
    std: float | None
    texts: int
    short: int
    reason: Note | None = None
    json_names: ClassVar = {"short": "too_short"}
    explained_by: ClassVar = "reason"


def summary(values: Iterable[float | None]) -> Repeated:
    """Return the mean and population standard deviation of RR values; None is the value of a text that is too short."""
    result = list(values)
    known = [value for value in result if value is not None]
    if not known:
        return Repeated(None, None, 0, len(result), NOTHING)
    mean = math.fsum(known) / len(known)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    return Repeated(mean, std, len(known), len(result) - len(known))


def signature(variant: Variant) -> str:
    """Return everything that can change the number, as text."""
    text = "context+completion" if variant == "published" else "completion"
    return f"repetition|text:{text}|ngrams:1-{LONGEST}|tokens:english+lower|v{VERSION}"
