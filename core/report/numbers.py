"""Write numbers for people, alike on pages and in reports. An undefined number is an em dash, never 0."""

import math
from typing import TYPE_CHECKING

from evenhand.core.language import RAISED

if TYPE_CHECKING:
    from evenhand.core.statistics.estimate import Estimate

DASH = "—"


def plain_number(value: float | None, digits: int = 3) -> str:
    """Return a number without a plus sign: 0.531; a dash where it is undefined."""
    if value is None or math.isnan(value):
        return DASH
    return f"{value:z.{digits}f}".replace("-", "−").replace("inf", "∞")


def signed_number(value: float | None, digits: int = 3) -> str:
    """Return a number with its sign: +0.531, −0.020, +∞; a dash where it is undefined."""
    if value is None or math.isnan(value):
        return DASH
    return f"{value:+z.{digits}f}".replace("-", "−").replace("inf", "∞")


def interval(low: float | None, high: float | None, digits: int = 3, *, signed: bool = False) -> str:
    """Return a 95% interval as text: [0.52, 0.54]; "" without one."""
    if low is None or high is None:
        return ""
    write = signed_number if signed else plain_number
    return f"[{write(low, digits)}, {write(high, digits)}]"


def percent(share: float | None) -> str:
    """Return a share of 1 as percent: 43%, 7.5%, 0.25%; a dash where it is undefined."""
    if share is None or math.isnan(share):
        return DASH
    if share < 1e-12 or share == 1:  # below that only rounding is left
        return f"{100 * share:.0f}%"
    if share < 5e-6:
        return "< 0.001%"
    return f"{100 * share:.1f}%" if share >= 0.01 else f"{100 * share:.2g}%"


def points(difference: float) -> str:
    """Return a difference of two shares of 1 in percentage points, in English: +6.0 points."""
    return f"{100 * difference:+z.1f} points"


def difference_in_points(difference: "Estimate") -> str:
    """Return a difference of two shares in percentage points with its interval, in English, or why it has none."""
    if difference.value is None:
        return f"-  ({difference.reason})"
    if difference.low is None or difference.high is None:
        return f"{points(difference.value)}  (no interval: {difference.note})"
    return f"{points(difference.value)}  95% {100 * difference.low:+z.1f} to {100 * difference.high:+z.1f}"


def percents(low: float | None, high: float | None) -> str:
    """Return a 95% interval of a share: [28.1%, 54.4%]; "" without one."""
    return "" if low is None or high is None else f"[{100 * low:.1f}%, {100 * high:.1f}%]"


def probability(p: float | None) -> str:
    """Return a probability as the papers print it: 0.987, 4.19 × 10⁻⁷; a dash where it is undefined."""
    if p is None or math.isnan(p):
        return DASH
    if p == 0:
        return "0"
    if p >= 0.001:
        return f"{p:.3f}"
    digits, exponent = f"{p:.2e}".split("e")
    return f"{digits} × 10{str(int(exponent)).translate(RAISED)}"
