"""Text as it comes in: bytes to characters, sentences, and what a sentence must not contain."""

import codecs
import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

from evenhand.core.errors import N_, BadFile

Encoding = Literal["utf-8", "gb18030"]
LONGEST_SENTENCE = 512  # code points: the limit of the masked models of the papers

# The first bytes of files that users send by mistake as text files.
ARCHIVE = N_("{file} is a ZIP archive or an Excel workbook, not text. Save the sentences as UTF-8 text or CSV.")
DOCUMENT = N_("{file} is an old Excel or Word file, not text. Save the sentences as UTF-8 text or CSV.")
PDF = N_("{file} is a PDF, not text. Save the sentences as UTF-8 text or CSV.")
GZIP = N_("{file} is compressed (gzip). Unpack it first.")
DATABASE = N_("{file} is a SQLite database, not text.")
PICTURE = N_("{file} is an image, not text.")
UTF16 = N_("{file} is UTF-16 text. Save it as UTF-8 and try again.")
SIGNATURES = (
    (b"PK\x03\x04", ARCHIVE),
    (b"PK\x05\x06", ARCHIVE),
    (b"\xd0\xcf\x11\xe0", DOCUMENT),
    (b"%PDF", PDF),
    (b"\x1f\x8b", GZIP),
    (b"SQLite format 3", DATABASE),
    (b"\x89PNG", PICTURE),
    (b"\xff\xd8\xff", PICTURE),
    (b"\xff\xfe", UTF16),
    (b"\xfe\xff", UTF16),
)
CHUNK = 1 << 20
SURELY_UTF8 = 10  # so many three-byte characters in a row never come about by chance in GB18030 text
BINARY_SHARE = 0.05  # more C0 controls than this in the first characters: not text

# Invisible characters that can make a sentence read otherwise than it is stored. The joiners U+200C and U+200D
# are not among them: emoji and several scripts need them.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffd\ufdd0-\ufdef"
    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)

MARKS = "。？！?!"
CLOSERS = "”’」』）)》"
QUOTES = {"“": "”", "「": "」", "『": "』"}
EDGES = MARKS + CLOSERS + '"'  # a text of these alone is not a sentence
SPACES = re.compile(r"[\s\u200b\u2060\ufeff]+")
PARAGRAPH_ENDS = re.compile(r"[\r\n\u2028\u2029]+")
_END = re.compile(f"[{MARKS}]")
_PIECES = re.compile(f"[^{MARKS}]++(?:[{MARKS}][{MARKS}{CLOSERS}]*)?|[{MARKS}][{MARKS}{CLOSERS}]*")
_QUOTATION = re.compile(f"[{''.join(chain(*QUOTES.items()))}]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and the encoding its bytes were in."""

    text: str
    encoding: Encoding


def encoding_of(chunks: Callable[[], Iterable[bytes]], name: str) -> Encoding:
    """Return the encoding of a file: strict UTF-8 (a byte-order mark is allowed), else strict GB18030.

    `chunks()` reads the bytes from their beginning. Every byte is read and none
    is kept, because a guess from the first bytes is wrong for one file in
    three. Raises BadFile where the bytes are not text (an archive, a picture,
    UTF-16, NUL bytes), are in neither encoding, or are damaged UTF-8 (GB18030
    would turn them into other characters). *name*: the name of the file in messages.
    """
    for encoding in ("utf-8", "gb18030"):
        try:
            _decode_all(chunks(), encoding, name)
        except UnicodeDecodeError:
            continue
        return encoding
    message = N_("{file} is neither UTF-8 nor GB18030 text. Save it as UTF-8 and try again.")
    raise BadFile(message, file=name)


def _decode_all(chunks: Iterable[bytes], encoding: Encoding, name: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    wide, line = 0, 1
    for number, chunk in enumerate(chain(chunks, [b""])):
        if number == 0:
            refuse_signature(chunk, name)
        if b"\0" in chunk:
            raise BadFile(N_("{file} is not a text file: it contains NUL bytes (binary data or UTF-16)."), file=name)
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(encoding)
            if encoding == "utf-8" and wide + _wide(good) >= SURELY_UTF8:
                message = N_("{file} is UTF-8, but damaged or cut off in line {line}. Download the file again.")
                raise BadFile(message, file=name, line=line + good.count("\n")) from error
            raise
        if number == 0:
            refuse_noise(text[:4096], name)
        wide, line = wide + _wide(text[:4096]), line + text.count("\n")


def _wide(text: str) -> int:
    return sum(character > "\u07ff" for character in text)


def refuse_signature(start: bytes, name: str) -> None:
    """Raise BadFile where the first bytes are those of an archive, a picture, UTF-16 or the like."""
    for signature, message in SIGNATURES:
        if start.startswith(signature):
            raise BadFile(message, file=name)


def refuse_noise(start: str, name: str) -> None:
    """Raise BadFile where the first characters of a file are full of controls."""
    controls = sum(character < " " and character not in "\t\n\r" for character in start)
    if controls > max(3, BINARY_SHARE * len(start)):
        raise BadFile(N_("{file} is not a text file: it is full of control characters."), file=name)


def decode(data: bytes, name: str = "") -> Decoded:
    """Return *data* as text, without a byte-order mark, and its encoding; raises as `encoding_of` does."""
    encoding = encoding_of(lambda: [data], name)
    return Decoded(data.decode(encoding).removeprefix("\ufeff"), encoding)


def control_character(text: str) -> str | None:
    """Return the first control or invisible character of *text*, as "U+202E RIGHT-TO-LEFT OVERRIDE", or None.

    These characters count: all of Cc (tab and line breaks too), marks of the
    reading direction, zero-width spaces, the replacement character, lone
    surrogates, tags and noncharacters; not the joiners that emoji need.
    """
    match = HIDDEN.search(text)
    if match is None:
        return None
    code = ord(match[0])
    return f"U+{code:04X} {unicodedata.name(match[0], 'CONTROL CHARACTER' if code < 0xA0 else '')}".rstrip()


def text_hash(text: str) -> bytes:
    """Return the identity of a text: 16 bytes of SHA-256 of exactly these characters, not normalised."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def sentences(text: str, *, quotes: Literal["delete", "complete"] = "delete") -> list[str]:
    """Return the sentences of *text*, in order, cleaned as in docs/methods.md#sentences-of-a-text.

    A sentence ends after 。？！ (or ASCII ?!) and the closing quotes or brackets
    that follow. Indents and all spaces go; a quotation mark whose partner was
    lost in the split is deleted, or with `quotes="complete"` its partner is added
    (the paper does not say which). Full and half width stay as they are.
    """
    result: list[str] = []
    for paragraph in PARAGRAPH_ENDS.split(text):
        result += [repair_quotes(part, quotes) for part in split(SPACES.sub("", paragraph))]
    return [sentence for sentence in result if sentence.strip(EDGES)]


def split(text: str) -> list[str]:
    """Cut a paragraph without spaces after each end of a sentence and its closing marks; no character is lost."""
    if '"' not in text:
        return _PIECES.findall(text)
    parts, start, at = [], 0, 0
    while match := _END.search(text, at):
        at = match.end()
        # A straight quote closes only if one is open in this sentence.
        while at < len(text) and (
            text[at] in MARKS + CLOSERS or (text[at] == '"' and text.count('"', start, at) % 2 == 1)
        ):
            at += 1
        parts.append(text[start:at])
        start = at
    return [*parts, text[start:]] if start < len(text) else parts


def repair_quotes(sentence: str, how: Literal["delete", "complete"]) -> str:
    """Return *sentence* without quotation marks that lack a partner, or with the partner put at its start or end."""
    if _balanced("".join(_QUOTATION.findall(sentence))):
        return sentence
    for opening, closing in QUOTES.items():
        if opening not in sentence and closing not in sentence:
            continue
        waiting: list[int] = []
        orphans: set[int] = set()
        for match in _QUOTATION.finditer(sentence):
            at, character = match.start(), match[0]
            if character == opening:
                waiting.append(at)
            elif character == closing:
                if waiting:
                    waiting.pop()
                else:
                    orphans.add(at)
        if how == "complete":
            sentence = opening * len(orphans) + sentence + closing * len(waiting)
        elif lost := orphans.union(waiting):
            sentence = "".join(character for at, character in enumerate(sentence) if at not in lost)
    return sentence


@lru_cache(maxsize=1024)
def _balanced(marks: str) -> bool:
    for opening, closing in QUOTES.items():
        depth = 0
        for mark in marks:
            depth += (mark == opening) - (mark == closing)
            if depth < 0:
                return False
        if depth:
            return False
    return True
