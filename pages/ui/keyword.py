"""A sentence as HTML with its keyword tinted, underlined and named by its side; nothing else of it is HTML."""

import html

from core.charts.style import Palette
from core.types import Span
from pages.ui.head import _


def with_keyword(text: str, word: Span | None, side: str, colours: Palette) -> str:
    """*text* escaped; *word*: the half-open code points of the keyword, None where it has none."""
    if word is None or side not in ("male", "female"):
        return html.escape(text)
    start, end = word
    male = side == "male"
    tint, line = (colours.male_tint, colours.male) if male else (colours.female_tint, colours.female)
    name = _("male word") if male else _("female word")
    return (
        f"{html.escape(text[:start])}"
        f'<mark style="background:{tint};color:inherit;border-bottom:3px solid {line};font-weight:700;padding:0 .1em">'
        f"{html.escape(text[start:end])}</mark>"
        f'<small style="color:{line};font-size:.72rem;margin:0 .25em">{html.escape(name)}</small>'
        f"{html.escape(text[end:])}"
    )
