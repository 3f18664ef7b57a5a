"""Whether a quota can be met: the same words, signs and colours on the pages Mine, Progress and Labelling plan."""

from markupsafe import Markup

from evenhand.core.forecast.quota import WORDS, Verdict
from evenhand.pages.ui.language import _
from evenhand.pages.ui.tables import span

SIGNS: dict[Verdict, str] = {"none": "", "met": "✓", "yes": "✓", "no": "✗", "undecided": "?", "unknown": "?"}
TONES: dict[Verdict, str] = {"met": "good", "yes": "good", "no": "bad"}


def quota_answer(verdict: Verdict) -> Markup:
    """The answer to "Can it be met?" for a cell of a table, never by colour alone."""
    text = f"{SIGNS[verdict]} {_(WORDS[verdict])}".strip()
    return span(text, f"nowrap strong {TONES.get(verdict, 'soft')}")
