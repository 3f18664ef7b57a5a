"""The two languages of the interface: English sentences are the keys, `locale/zh/*.po` holds the Chinese.

Also numbers as both languages write them.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Literal

from babel.messages.pofile import read_po

from evenhand.core.errors import EvenhandError
from evenhand.core.resources import ROOT

Language = Literal["zh", "en"]
Say = Callable[[str], str]  # gives an English sentence in the language of the reader
LEAST_SHARE, MOST_SHARE = 1e-5, 0.9999  # a smaller share is written with a power of ten, a larger one as more than that
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LANGUAGES: tuple[Language, ...] = ("zh", "en")
LANGUAGE_COOKIE = "evenhand-language"  # the language that a visitor chose, on pages and on forms of the server
LANGUAGE_COOKIE_S = 365 * 24 * 3600


def same(text: str) -> str:
    """Return *text*: the `Say` of English."""
    return text


def visitor_language(named: str | None, chosen: str | None, preferred: str | None) -> Language:
    """Return the language of a visitor: from the address, else the one chosen before, else the browser's.

    *named*: `lang` of the address; *chosen*: kept by the session or `LANGUAGE_COOKIE`; *preferred*: languages as in
    Accept-Language ("zh-CN,zh;q=0.9"). English where none of them is a language of the interface.
    """
    wanted = [part.split(";")[0].strip()[:2].lower() for part in (preferred or "").split(",")]
    return next((language for name in (named, chosen, *wanted) for language in LANGUAGES if language == name), "en")


@cache
def catalogue(language: Language) -> dict[str, str]:
    """Return the translations by English text, from every .po file of the language; empty for English."""
    words: dict[str, str] = {}
    for path in sorted((ROOT / "locale" / language).glob("*.po")):
        with path.open("rb") as file:
            words.update({str(m.id): str(m.string) for m in read_po(file, locale=language) if m.id and m.string})
    return words


def translate(text: str, language: Language) -> str:
    """Return *text* in *language*; the English text where a translation is missing."""
    return catalogue(language).get(text, text)


LEAST_LETTERS = 12  # of a message besides its places; shorter ones match too much


@cache
def _messages_with_places() -> list[tuple[list[str], str]]:
    """Return each message with places, split into literals and names in turn, those with the longest text first."""
    messages = []
    for message in catalogue("zh"):
        parts = re.split(r"\{(\w+)\}", message)
        literal = "".join(parts[::2])
        if len(parts) > 1 and not re.search("[{}]", literal) and len(literal) >= LEAST_LETTERS:
            messages.append((parts, message))
    return sorted(messages, key=lambda pair: -sum(map(len, pair[0][::2])))


def _values(parts: Sequence[str], text: str) -> dict[str, str] | None:
    """Return the values of the places if *text* is the message, else None.

    Each literal is looked for once, from the left, so the time is linear in *text*, which may come from a file.
    """
    names, literals = parts[1::2], parts[2::2]
    if not text.startswith(parts[0]) or not text.endswith(literals[-1]):
        return None
    start, values = len(parts[0]), dict[str, str]()
    for number, (name, literal) in enumerate(zip(names, literals, strict=True), 1):
        end = len(text) - len(literal) if number == len(names) else text.find(literal, start + 1)
        if end <= start or values.setdefault(name, text[start:end]) != text[start:end]:
            return None
        start = end + len(literal)
    return values


@lru_cache(maxsize=1_000)
def message_of(text: str) -> tuple[str, dict[str, str]]:
    """Return the message and the values of an English sentence that was stored whole, as in a file of scores.

    A sentence that no message of the catalogue gives is returned as its own message without values.
    """
    if text not in catalogue("zh"):
        for parts, message in _messages_with_places():
            if (values := _values(parts, text)) is not None:
                return message, values
    return text, {}


def translate_stored(text: str, say: Say) -> str:
    """Return a stored English sentence in the language of *say*, with the values that it holds."""
    message, values = message_of(text)
    return say(message).format(**values) if values else say(message)


def one_after_another(sentences: Iterable[str]) -> str:
    """Return sentences as a paragraph: a space between two of them, but none after the full stop of Chinese."""
    return re.sub("(?<=[。！？；]) ", "", " ".join(sentences))


class Count(int):
    """A number of things for a message: {n} writes it with thousands, {n:text|texts} the noun that goes with it.

    The Chinese of a message uses {n} only.
    """

    def __format__(self, spec: str) -> str:
        """Write the number, or of two words the first for one thing, else the second."""
        if "|" in spec:
            return spec.split("|")[self != 1]
        return format(int(self), spec or ",")


def significant(number: float, digits: int = 3) -> str:
    """Return a number with *digits* significant digits, without programming notation: 1,220, 0.0452, 4.2 × 10⁻⁹."""
    text = f"{number:.{digits}g}"
    if "e" not in text:
        return text
    if abs(number) >= 1:
        return f"{float(text):,.0f}"
    mantissa, exponent = text.split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}"


def share_text(value: float | None, of: float | None = None) -> str:
    """Return a share of 1 with two significant digits: 43%, 7.5%, 0.25%, 4.2 × 10⁻⁹; a dash where it is undefined.

    Only a share of exactly 0 or 1 is 0% or 100%. *of*: the share whose interval ends at *value*; it gives the digits,
    so that both are equally fine: 7.5% with 3.1% and 12.4%.
    """
    if value is None or math.isnan(value):
        return "—"
    if of is None and 1e-12 < value < LEAST_SHARE:
        return significant(value, 2)
    if of is None and MOST_SHARE < value < 1:
        return f"> {100 * MOST_SHARE:g}%"
    return f"{100 * value:z.{_places(value if of is None else of)}f}%"


def share_ends(value: float | None, low: float | None, high: float | None) -> str:
    """Return the interval of a share, with the digits of its *value*: 38% – 49%; "" where there is none."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"{share_text(low, value)} – {share_text(high, value)}"


def _places(value: float) -> int:
    """Return how many decimals give the percentage of a share two significant digits, and keep it from 100."""
    percentage = abs(float(f"{100 * value:.2g}")) if value == value else 0.0
    if percentage < 1e-10 or value == 1:
        return 0
    left = 100 * abs(1 - value)
    return max(0, 1 - math.floor(math.log10(percentage)), -math.floor(math.log10(left)) if left < 0.5 + 1e-9 else 0)


def p_value(p: float | None, equals: str = "") -> str:
    """Return a p-value with four decimals after *equals*; < 0.0001 where these are 0; a dash where it is undefined."""
    if p is None:
        return "—"
    return "< 0.0001" if p < 1e-4 else f"{equals}{p:.4f}"


def columns_wide(text: str) -> int:
    """Return how many columns of a terminal *text* takes: two for a Chinese character."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def explain(error: EvenhandError, language: Language) -> str:
    """Return the message of an error in *language*."""
    message = translate(error.message, language)
    return message.format(**error.values) if error.values else message
