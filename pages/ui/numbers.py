"""Numbers as people read them, in the visitor's language. Undefined is a dash with its reason, never 0."""

from pages.ui.language import _, language
from pages.ui.text import plain

DASH = "—"  # an undefined value: never 0, never an empty cell on a page
UNITS = {
    "en": ((1e3, " k"), (1e6, " M"), (1e9, " bn")),
    "zh": ((1e4, " 万"), (1e8, " 亿")),
}


def size(number: float) -> str:
    """Bytes as people read them."""
    if number < 1000:
        return f"{number:.0f} B"
    for unit, limit in (("kB", 1e6), ("MB", 1e9)):
        if number < limit:
            return f"{number / (limit / 1000):.3g} {unit}"
    return f"{number / 1e9:.3g} GB"


def large(number: float) -> str:
    """A large number as people read it, in the units of their language."""
    for size, unit in reversed(UNITS[language()]):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:,.0f}"


def duration(seconds: float) -> str:
    """Seconds in words, as exact as anybody needs it."""
    if seconds < 90:
        return _("{number} s").format(number=round(seconds))
    if seconds < 90 * 60:
        return _("{number} min").format(number=round(seconds / 60))
    return _("{number} h").format(number=round(seconds / 3600, 1))


def undefined(value: float | None, reason: str = "", form: str = "{:.3f}") -> tuple[str, str | None]:
    """What to show for *value*, and the help beside it: (a dash, the reason) where it is None.

    `text, help = undefined(kappa.value, _(kappa.reason)); st.metric(label, text, help=help)`
    """
    if value is None:
        return DASH, plain(reason) or None
    return form.format(value), None
