"""Texts and marks of items on the page Browse: keyword and searched words are framed; nothing of a text is HTML."""

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from annotations.browse.search import Row
from annotations.types import Item, Project
from core.charts.style import Palette
from core.types import Span
from pages.browse.filters import flag_names, side_name, status_name

LONGEST = 600  # characters of a text in a list
SIGN = {"accepted": "✓", "rejected": "✕", "pending": "…"}
VEIL = "<style>.veiled{filter:blur(5px)} .veiled:hover,.veiled:focus{filter:none;outline:none}</style>"


def veiled(project: Project, item: Item) -> bool:
    """Whether a text is blurred until somebody points at it: flagged ones and generations where the project asks it."""
    return project.blur and (project.kind == "generations" or bool(item.extra.get("flags")))


def state_name(row: Row, project: Project) -> str:
    """Where an item stands, with its sign; for leads."""
    status = row.item.status
    return f"{SIGN[status]} {status_name(status, project.kind, full=row.labels >= row.wanted)}"


def marks(row: Row, project: Project) -> list[str]:
    """The marks of an item, in words; for leads."""
    names = flag_names(project, None)
    held = {
        "aside": row.aside,
        "split": row.split,
        "settled": row.settled,
        "pilot": row.pilot,
        "known": row.known is not None,
        "shared": row.shared and project.plan == "stop",
        "mined": bool(row.item.extra.get("flags")),
    }
    return [names[flag] for flag, is_so in held.items() if is_so and flag in names]


def marked(item: Item, words: Sequence[str], colours: Palette, *, longest: int | None = None) -> str:
    """The text of *item* as HTML: its keyword tinted, underlined and named, searched words framed."""
    text = item.text if longest is None or len(item.text) <= longest else item.text[:longest] + " …"
    word = item.word if item.word and item.word[1] <= len(text) else None
    hits = places(text, words)
    edges = sorted({0, len(text), *(edge for span in hits for edge in span), *(word or ())})
    parts = []
    for start, end in pairwise(edges):
        inside = word is not None and word[0] <= start and end <= word[1]
        hit = any(first <= start and end <= last for first, last in hits)
        parts.append(_piece(text[start:end], item.side if inside else None, hit, colours))
        if inside and word is not None and end == word[1] and item.side:
            line = colours.male if item.side == "male" else colours.female
            name = html.escape(side_name(item.side))
            parts.append(f'<small style="color:{line};font-size:.72rem;margin:0 .25em">{name}</small>')
    return "".join(parts)


def found_in(text: str, words: Sequence[str], colours: Palette) -> str:
    """Any other text as HTML with the searched words framed."""
    hits = places(text, words)
    edges = sorted({0, len(text), *(edge for span in hits for edge in span)})
    return "".join(
        _piece(text[start:end], None, any(first <= start and end <= last for first, last in hits), colours)
        for start, end in pairwise(edges)
    )


def places(text: str, words: Sequence[str]) -> list[Span]:
    """Where the searched words stand in *text*, in either case, as half-open code points."""
    return [match.span() for word in words for match in re.finditer(re.escape(word), text, re.IGNORECASE | re.ASCII)]


def _piece(text: str, side: str | None, hit: bool, colours: Palette) -> str:
    said = html.escape(text)
    if side is None and not hit:
        return said
    style = "color:inherit;background:none;"
    if side is not None:
        male = side == "male"
        tint, line = (colours.male_tint, colours.male) if male else (colours.female_tint, colours.female)
        style = f"color:inherit;background:{tint};border-bottom:3px {'solid' if male else 'double'} {line};"
        style += "font-weight:700;"
    if hit:
        style += f"outline:1.5px solid {colours.soft};outline-offset:1px;border-radius:2px;"
    return f'<mark style="{style}">{said}</mark>'
