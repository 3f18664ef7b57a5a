"""Numbers as people read them, in the visitor's language. Undefined is a dash with its reason, never 0.

A *form* is a format specification of Python: ".2f", "+z.3f" with its sign, ",.0f". Every form that ends in "%" is that
of a share of 1, which `share_text` of core/language.py writes. A difference of two shares is not a share: its forms are
POINTS and, for its size, SIZE_IN_POINTS.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from evenhand.core.language import share_text, significant
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import note_text as note_words
from evenhand.core.types import TableRow
from evenhand.pages.ui.text import _, clauses, in_brackets, language, named

POINTS, SIZE_IN_POINTS = "+points", "points"  # forms of a difference of shares: +6.0 points; its size: 6.0 points
DASH = "—"  # an undefined value: never 0, never an empty cell on a page
UNITS = {"en": ((1e6, " M"), (1e9, " bn")), "zh": ((1e4, " 万"), (1e8, " 亿"))}
EXACT = 10_000  # numbers below it are written in full


def size(number: float) -> str:
    """Return a number of bytes with a unit: B, kB, MB or GB."""
    if number < 1000:
        return f"{number:.0f} B"
    for unit, limit in (("kB", 1e6), ("MB", 1e9)):
        if number < limit:
            return f"{significant(number / (limit / 1000))} {unit}"
    return f"{significant(number / 1e9)} GB"


def large(number: float) -> str:
    """Return a large number in the units of the visitor's language: 12.2 M, 1,220 万.

    Exact below 10,000, from there to three significant digits, in both languages.
    """
    if abs(number) < EXACT:
        return f"{number:,.0f}"
    number = float(f"{number:.3g}")
    size, unit = max(((size, unit) for size, unit in UNITS[language()] if number >= size), default=(1.0, ""))
    return f"{significant(number / size)}{unit}"


def duration(seconds: float) -> str:
    """Return a number of seconds as text, in s, min or h."""
    if seconds < 90:
        return _("{number} s", number=round(seconds))
    if seconds < 90 * 60:
        return _("{number} min", number=round(seconds / 60))
    return _("{number} h", number=round(seconds / 3600, 1))


def note_text(note: Note | str | None) -> str:
    """Return a reason or note in the visitor's language; "" for None."""
    return note_words(note, _)


def methods_text(estimates: Iterable[Estimate]) -> str:
    """Return how the intervals of *estimates* were made, and where to read their coverage; "" without intervals."""
    methods = dict.fromkeys(
        _(estimate.method) for estimate in estimates if estimate.low is not None and estimate.method
    )
    text = _("95% intervals: {methods}. For their coverage, see docs/coverage.md.")
    return text.format(methods=clauses(methods)) if methods else ""


def number(value: float | None, form: str = ".2f") -> str:
    """Return a number with a minus sign instead of a hyphen; a dash where it is undefined."""
    if value is None:
        return DASH
    bare = _bare(value, form)
    return _("{number} points", number=bare) if form in (POINTS, SIZE_IN_POINTS) else bare


def _bare(value: float, form: str, of: float | None = None) -> str:
    """Return a number without its unit, where the form has one. *of*: the share whose interval ends at *value*."""
    if form.endswith("%"):
        return share_text(value, of)
    if form in (POINTS, SIZE_IN_POINTS):
        value, form = 100 * value, "+z.1f" if form == POINTS else "z.1f"
    return f"{value:{form}}".replace("-", "−")


def percent(share: float | None) -> str:
    """Return a share of 1 as `share_text` writes it: 45%; a dash where it is undefined."""
    return share_text(share)


def interval(estimate: Estimate, form: str = ".2f") -> str:
    """Return the 95% interval: 0.41 – 0.62, or 41% – 62% (in Chinese 41%–62%); "" where there is none.

    The ends of a share have the digits of the share (`share_text`). Of a difference of shares they are in points too:
    +1.2 – +10.8.
    """
    if estimate.low is None or estimate.high is None:
        return ""
    low, high = (_bare(end, form, estimate.value) for end in (estimate.low, estimate.high))
    return to(low, high) if estimate.low >= 0 else f"{low} – {high}"  # next to a minus sign it needs its spaces


def to(low: str, high: str) -> str:
    """Return the range from *low* to *high*, two numbers without a sign: 14 – 20, in Chinese 14–20."""
    return f"{low}–{high}" if language() == "zh" else f"{low} – {high}"


def interval_or_reason(estimate: Estimate, form: str = ".2f") -> str:
    """Return the 95% interval, or why there is none."""
    return interval(estimate, form) or note_text(estimate.note or estimate.reason)


def bracketed(estimate: Estimate, form: str = ".3f") -> str:
    """Return the 95% interval as the papers print it: [0.412, 0.620]; "" where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{_bare(estimate.low, form, estimate.value)}, {_bare(estimate.high, form, estimate.value)}]"


def with_interval(estimate: Estimate, form: str = ".2f", *, level: bool = False) -> str:
    """Return value and 95% interval: 0.52 (0.41 – 0.62); without an interval the value, without a value a dash.

    *level*: write "95% interval:" before the ends, where nothing else next to the number says so.
    """
    ends = interval(estimate, form) if estimate.value is not None else ""
    ends = named(_("95% interval"), ends) if ends and level else ends
    return in_brackets(number(estimate.value, form), ends) if ends else number(estimate.value, form)


def with_brackets(estimate: Estimate, form: str = "+z.3f") -> str:
    """Return value and 95% interval: +0.521 [+0.412, +0.620]; no interval: the value; no value: a dash."""
    ends = bracketed(estimate, form) if estimate.value is not None else ""
    return f"{number(estimate.value, form)} {ends}".rstrip()


def estimate_columns(name: str, estimate: Estimate) -> TableRow:
    """Return an estimate for a downloaded table: value, ends of the interval, and why one of them is missing."""
    missing = estimate.reason or (None if estimate.low is not None else estimate.note)
    return {
        name: estimate.value,
        f"{name}_low": estimate.low,
        f"{name}_high": estimate.high,
        f"{name}_reason": note_text(missing),
    }


def time_zone() -> tzinfo:
    """Return the visitor's time zone; UTC where the browser does not say."""
    try:
        return ZoneInfo(st.context.timezone) if st.context.timezone else UTC
    except (KeyError, ValueError, OSError):
        return UTC


def zone_name() -> str:
    """Return the zone in which pages show moments, by its name and what it is ahead of UTC: Asia/Shanghai
    (UTC+08:00)."""
    zone = time_zone()
    if zone is UTC or str(zone) == "UTC":
        return "UTC"
    ahead = datetime.now(zone).strftime("%z")
    return f"{zone} (UTC{ahead[:3]}:{ahead[3:]})"


def moment(when: float | str | None) -> str:
    """Return a moment (unix seconds or ISO 8601) as every page shows it: in the visitor's time zone, to the minute.

    It ends in UTC where the browser does not say the zone; a dash for None. Files keep UTC.
    """
    if when is None:
        return DASH
    time = datetime.fromtimestamp(when, UTC) if isinstance(when, float | int) else datetime.fromisoformat(when)
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    zone = time_zone()
    return time.astimezone(zone).strftime("%Y-%m-%d %H:%M") + (" UTC" if zone is UTC else "")


def day(when: str) -> str:
    """Return the day of a moment in the visitor's time zone."""
    return moment(when)[:10]
