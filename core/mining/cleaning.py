"""Removes spaces, invisible characters, tags, entities and Markdown from a line before it is split.

Punctuation stays as it is; full-width digits and letters become ASCII. Every
change is one alternative of one pattern, so that the cleaned line and the map
back to the line as read cannot disagree.
"""

import html
import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from evenhand.core.mining.sources import Shape
from evenhand.core.types import Span

# Invisible: soft hyphen, zero width, direction, byte-order mark, controls but the separators of lines.
_INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\x00-\x08\x0e-\x1f\x7f-\x9f"
_ENTITY = r"&(?:amp;)*(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
_BARE_ENTITY = r"(?:(?:amp|quot|nbsp|lt|gt|ldquo|rdquo|hellip);){1,4}"  # rest of entities escaped twice
_TAG = r"</?[a-zA-Z][a-zA-Z0-9:-]{0,30}(?:\s[^<>=]{0,200}=[^<>]{0,1000})?\s*/?>|<!--.{0,5000}?-->"
_COMMENT, _COMMENT_ENDS, _LONGEST_COMMENT = "<!--", "-->", 5_000  # characters of a comment, as in _TAG
_MANY = 16  # comments of a line, from which those without an end are looked for before
_ESCAPED_AGAIN = re.compile("&(?:amp;)+")
_WIDE = "[０-９Ａ-Ｚａ-ｚ]+"
_MARKDOWN = (
    r"^\s*(?:\#{1,6}\s|>\s?|[-*+]\s|\d{1,3}\.\s|```.*)|!?\[(?P<words>[^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)|\*{1,3}|`+|~~"
)
_NARROW = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_NOTHING = re.compile(rf"[\s{_INVISIBLE}]+")
_SPACE = re.compile(r"\s+")
_SOME = re.compile(rf"[{_INVISIBLE}]+")

# Who reports from where, before the first sentence of an article.
_AGENCY = "本报|本刊|本台|新华社|新华网|中新社|中新网|人民网|人民日报|央视网|央视|央广网|光明网|法新社|路透社|美联社"
_BYLINE = re.compile(
    rf"(?:【(?:{_AGENCY})[^【】]{{0,20}}】)"
    rf"|(?:{_AGENCY})[^，。：；？！（）()“”]{{0,24}}?(?:讯|消息|电(?!话|视|影|脑|子|力|器|台|动|梯|商|信|报|网))"
    r"(?:[（(][^（）()]{0,40}[）)])?[：:]?"
    rf"|(?:{_AGENCY})?(?:消息|电)?[（(](?:[^（）()]{{0,12}}(?:记者|通讯员|编辑|新闻联播|实习生)[^（）()]{{0,24}}|新闻联播)[）)][：:]?"
)
BYLINE_BEGINS = frozenset("【（(消电" + "".join(name[0] for name in _AGENCY.split("|")))


@cache
def _pattern(shape: Literal["plain", "markdown"], spaced: bool) -> re.Pattern[str]:
    """Everything that changes in a line."""
    spaces = rf"\s{{2,}}|[^\S ]+|[{_INVISIBLE}]+" if spaced else rf"[\s{_INVISIBLE}]+"
    parts = [_TAG, _ENTITY, _BARE_ENTITY, _WIDE, spaces]
    if shape == "markdown":
        parts.insert(0, _MARKDOWN)
    return re.compile("|".join(parts))


@cache
def _markdown() -> re.Pattern[str]:
    return re.compile(r"[#>*`~\[]|^\s*[-+\d]")


FULL_WIDTH = re.compile(_WIDE)


class Cleaner:
    """Cleans lines of one shape; `spaced` keeps single spaces between words.

    `wide` may be set to False for a stretch of text that is known to have no full-width digits or letters.
    """

    def __init__(self, shape: Shape, spaced: bool) -> None:
        kind: Literal["plain", "markdown"] = "markdown" if shape == "markdown" else "plain"
        self._pattern, self._spaced = _pattern(kind, spaced), spaced
        self._marked = _markdown().search if kind == "markdown" else None
        self.wide = True

    def clean(self, line: str) -> str:
        """Return *line* cleaned."""
        if line.count(_COMMENT) > _MANY:
            line, sign = _without_endless_comments(line)
            return self._pattern.sub(self._instead, line).replace(sign, "<")
        # The pattern is slow where it finds nothing, so what needs it is told first. ; ends what is left of entities.
        if "<" in line or "&" in line or ";" in line or (self._marked and self._marked(line)):
            return self._pattern.sub(self._instead, line)
        if self.wide and FULL_WIDTH.search(line):
            line = FULL_WIDTH.sub(self._instead, line)
        if line.isprintable():  # a blank is the only space that is printable
            if not self._spaced:
                return line.replace(" ", "")
            if "  " not in line:
                return line
        return self._pattern.sub(self._instead, line) if self._spaced else _NOTHING.sub("", line)

    def positions(self, line: str) -> list[int]:
        """Return the place in *line* of each character of the cleaned line, and at the end len(line)."""
        result: list[int] = []
        for start, end, instead in self._changes(line):
            kept = end - start == len(instead)
            result += range(start, end) if kept else [start] * len(instead)
        return [*result, len(line)]

    def _changes(self, line: str) -> Iterator[tuple[int, int, str]]:
        at = 0
        if line.count(_COMMENT) > _MANY:
            line, _ = _without_endless_comments(line)
        for match in self._pattern.finditer(line):
            if match.start() > at:
                yield at, match.start(), line[at : match.start()]
            yield match.start(), match.end(), self._instead(match)
            at = match.end()
        if at < len(line):
            yield at, len(line), line[at:]

    def _instead(self, match: re.Match[str]) -> str:
        result = match[0]
        first = result[0]
        if "０" <= first <= "ｚ":
            return result.translate(_NARROW)
        if first == "&" or result[-1] == ";":
            return self._bare(_entity(result))
        if match.re.groupindex and match["words"] is not None:
            return self._bare(match["words"])
        return " " if self._spaced and first.isspace() and first.isprintable() else self._gap(result)

    def _gap(self, found: str) -> str:
        return " " if self._spaced and found.isspace() else ""

    def _bare(self, text: str) -> str:
        return _SOME.sub("", _SPACE.sub(" ", text)) if self._spaced else _NOTHING.sub("", text)


def _without_endless_comments(line: str) -> tuple[str, str]:
    """*line* with another sign for the < of each comment that does not end, and the sign, which the line lacks.

    Otherwise the pattern would read 5,000 characters for each of them.
    """
    sign = next(text for text in map(chr, range(0xE000, 0x110000)) if text not in line)
    pieces, done, end = [], 0, 0
    at = line.find(_COMMENT)
    while at >= 0:
        begins = at + len(_COMMENT)
        end = line.find(_COMMENT_ENDS, begins) if 0 <= end < begins else end
        if end < 0 or end - begins > _LONGEST_COMMENT or "\n" in line[begins:end]:
            pieces += [line[done:at], sign]
            done = at + 1
        at = line.find(_COMMENT, begins)
    return "".join([*pieces, line[done:]]), sign


def _entity(found: str) -> str:
    if found[0] != "&":
        return ""
    character = html.unescape(_ESCAPED_AGAIN.sub("&", found))
    return "" if len(character) > 2 or character in ("<", ">") else character


def without_byline(sentence: str) -> str:
    """Return *sentence* without the agency, place, date and reporter that an article begins with."""
    match = _BYLINE.match(sentence)
    return sentence[match.end() :] if match else sentence


_OPENS = r"<(?:(?P<body>script|style)\b|(?P<comment>!--)|"
_WHOLE_TAG = re.compile(r"[^>]*>")
_BLOCK_TAG = re.compile(r"[^<>]*>")
_ANY = re.compile(_OPENS + r"/?[a-zA-Z!])", re.IGNORECASE)
_BLOCK = re.compile(
    _OPENS
    + r"/?(?:p|div|li|ul|ol|td|th|tr|table|h[1-6]|br|hr|title|body|head|html|section|article|blockquote|option)\b)",
    re.IGNORECASE,
)
_CLOSES = {
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
    "comment": re.compile("-->"),
}


def tags(text: str) -> Iterator[Span]:
    """Start and end of every tag, comment, script and style of *text*, in order; what has no end is none.

    A search for an end that never comes is made once: `<!--` thirty thousand times takes a moment, not a minute.
    """
    return _spans(text, _ANY, _WHOLE_TAG)


def block_ends(text: str) -> Iterator[Span]:
    """Start and end of every comment, script, style and tag of *text* that ends a paragraph, in order."""
    return _spans(text, _BLOCK, _BLOCK_TAG)


def _spans(text: str, opens: re.Pattern[str], tag: re.Pattern[str]) -> Iterator[Span]:
    endless: set[str] = set()  # what is opened and has no end from here on
    at = 0
    while match := opens.search(text, at):
        kind = "comment" if match["comment"] else (match["body"] or "").lower()
        end = None
        if kind in _CLOSES and kind not in endless:
            end = _CLOSES[kind].search(text, match.end())
            if end is None:
                endless.add(kind)
        if end is None and (opens is _ANY or not kind) and "tag" not in endless:
            end = tag.match(text, match.end())
            if end is None and opens is _ANY:
                endless.add("tag")
        if end is not None:
            yield match.start(), end.end()
        at = match.end() if end is None else end.end()
