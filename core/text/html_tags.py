"""Where the tags, comments, scripts and styles of an HTML text stand, found in one pass.

A search for an end that never comes is made once. `<!--` thirty thousand times takes a moment, not a minute.
"""

import re
from collections.abc import Iterator

from evenhand.core.types import Span

_OPENS = r"<(?:(?P<body>script|style)\b|(?P<comment>!--)|"
_TAG = re.compile(r"[^>]*>")
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
    """Start and end of every tag, comment, script and style of *text*, in order; what has no end is none."""
    return _spans(text, _ANY, _TAG)


def block_ends(text: str) -> Iterator[Span]:
    """Start and end of every comment, script, style and tag of *text* that ends a paragraph, in order."""
    return _spans(text, _BLOCK, _BLOCK_TAG)


def _spans(text: str, opens: re.Pattern[str], tag: re.Pattern[str]) -> Iterator[Span]:
    endless: set[str] = set()  # what is opened and has no end from here on
    at = 0
    while found := opens.search(text, at):
        kind = "comment" if found["comment"] else (found["body"] or "").lower()
        end = None
        if kind in _CLOSES and kind not in endless:
            end = _CLOSES[kind].search(text, found.end())
            if end is None:
                endless.add(kind)
        if end is None and (opens is _ANY or not kind) and "tag" not in endless:
            end = tag.match(text, found.end())
            if end is None and opens is _ANY:
                endless.add("tag")
        if end is not None:
            yield found.start(), end.end()
        at = found.end() if end is None else end.end()
