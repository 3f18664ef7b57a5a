"""Equivalence next to a difference, alike on every page: the margin that a visitor sets, and what the tests say."""

import streamlit as st

from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import ANSWERS, MARGINS, SCALES, Equivalence, Scale, equivalence
from evenhand.pages.ui.numbers import SIZE_IN_POINTS, note_text, number
from evenhand.pages.ui.text import _, clauses, paragraph

LARGEST: dict[Scale, float] = {"log10": 5.0, "ln": 5.0, "auc": 1.0, "share": 1.0}
STEP: dict[Scale, float] = {"log10": 0.05, "ln": 0.05, "auc": 0.01, "share": 0.01}


def margin_box(scale: Scale, key: str) -> float | None:
    """Ask how large a difference on *scale* may be and still count as none. It begins with the default; return None for
    0."""
    name, default = _(SCALES[scale]), MARGINS[scale]
    text = _("Largest difference that counts as negligible. Default for this scale: {margin}; 0: no test.")
    help = (
        text.format(margin=f"{default:g}")
        if default
        else _("Largest difference that counts as negligible; 0: no test.")
    )
    label = _("Equivalence margin ({scale})", scale=name)
    value = st.number_input(
        label, 0.0, LARGEST[scale], default or 0.0, STEP[scale], key=key, help=help, width=420,
    )  # fmt: skip
    return value or None


def against(found: Equivalence, form: str = "z.3f") -> str:
    """Return the answer of a test against the margin, and the smallest difference that such data show, if known."""
    return clauses(filter(None, (_(ANSWERS[found.answer]), shown_from(found, form))))


def shown_from(found: Equivalence, form: str = "z.3f") -> str:
    """Return the smallest difference that such data show; "" where there is none."""
    if found.smallest is None:
        return ""
    return _("minimum detectable difference: {smallest}", smallest=number(found.smallest, form))


def difference_says(difference: Estimate, margin: float | None, form: str = SIZE_IN_POINTS) -> str:
    """Return a difference (of shares) against *margin* in sentences, and how that is tested; "" where there is none."""
    if difference.value is None:
        return ""
    result = equivalence(difference, margin)
    text = _("Against the margin: {answer}.", answer=against(result, form))
    return paragraph((text, note_text(result.remark), how_tested()))


def how_tested() -> str:
    """Return what the words of `against` mean."""
    return _(
        "Two one-sided tests (equivalent if the 90% interval lies within the margin). Minimum detectable"
        " difference: approximate, at 80% power (two-sided, 0.05)."
    )
