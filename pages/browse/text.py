"""Texts and marks of items on the page Browse: keyword and searched words are framed; nothing of a text is HTML."""

import re
from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from evenhand.annotations.browse.search import SearchRow
from evenhand.annotations.types import Item, Project
from evenhand.core.types import Span
from evenhand.pages.browse.filters import flag_names, status_name
from evenhand.pages.ui.sentences import side_word
from evenhand.pages.ui.tables import element, joined

LONGEST = 600  # characters of a text in a list
SIGN = {"accepted": "✓", "rejected": "✕", "pending": "…"}


def veiled(project: Project, item: Item) -> bool:
    """Whether a text is blurred until the pointer is over it: flagged sentences and generations, if the project says
    so.
    """
    return project.blur and (project.kind == "generations" or bool(item.extra.get("flags")))


def state_name(row: SearchRow, project: Project) -> str:
    """The status of an item with its sign; for leads."""
    status = row.item.status
    return f"{SIGN[status]} {status_name(status, project.kind, full=row.labels >= row.wanted)}"


def marks(row: SearchRow, project: Project) -> list[str]:
    """The marks of an item, in words; for leads."""
    names = flag_names(project, None)
    held = {
        "aside": row.aside,
        "split": row.split,
        "settled": row.settled,
        "imported_gold": row.imported_gold,
        "pilot": row.pilot,
        "known": row.known is not None,
        "shared": row.shared and project.plan == "stop",
        "mined": bool(row.item.extra.get("flags")),
    }
    return [names[flag] for flag, is_so in held.items() if is_so and flag in names]


def marked(item: Item, words: Sequence[str], *, longest: int | None = None) -> Markup:
    """The text of *item*: its keyword tinted, underlined and named, searched words framed."""
    whole = item.whole_text
    text = whole if longest is None or len(whole) <= longest else whole[:longest] + " …"
    word = item.word if item.word and item.word[1] <= len(text) else None
    return _framed(text, places(text, words), word, item.side or "")


def found_in(text: str, words: Sequence[str]) -> Markup:
    """Any other text with the searched words framed."""
    return _framed(text, places(text, words), None, "")


def _framed(text: str, hits: Sequence[Span], word: Span | None, side: str) -> Markup:
    edges = sorted({0, len(text), *(edge for span in hits for edge in span), *(word or ())})
    parts: list[str | Markup] = []
    for start, end in pairwise(edges):
        inside = word is not None and word[0] <= start and end <= word[1]
        hit = any(first <= start and end <= last for first, last in hits)
        looks = [f"word {side}"] * inside + ["hit"] * hit
        parts.append(element("mark", text[start:end], " ".join(looks)) if looks else text[start:end])
        if inside and word is not None and end == word[1] and side:
            parts.append(element("small", side_word(side), f"side {side}"))
    return joined(parts)


def places(text: str, words: Sequence[str]) -> list[Span]:
    """The places of the searched words in *text*, in either case, as half-open code points."""
    return [match.span() for word in words for match in re.finditer(re.escape(word), text, re.IGNORECASE | re.ASCII)]
