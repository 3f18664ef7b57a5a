"""What a model says of one sentence, as every page draws it: both words in their slot, the ratio, the mass."""

import math

from markupsafe import Markup, escape

from evenhand.core.sentence_bias.bias import odds, times
from evenhand.core.sentence_bias.slot import Slot
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.numbers import percent
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _


def is_builtin(model: str) -> bool:
    """Return whether a model ships with the app."""
    return any(entry.name == model and entry.builtin for entry in known_models(None))


def note(model: str) -> str:
    """Return a few words to put next to a model's name; empty for a model that does not ship with the app."""
    notes = {
        "random-zh": _("untrained, for reference"),
        "known": _("planted answers"),
        "demo-zh": _("demo model"),
        "demo-en": _("demo model"),
        "demo-en-causal": _("demo model, scores whole sentences"),
    }
    return notes.get(model, "") if is_builtin(model) else ""


def _word(slot: Slot, word: str, side: str) -> Markup:
    """Return a word in the colour of its side, or in a neutral one where the two words are not a pair."""
    return span(word, side if slot.sided else "strong")


def show_sentence(slot: Slot) -> None:
    """Show the sentence, large, with both words in the slot and in what agrees with it, male first."""
    parts: list[str | Markup] = []
    at = 0
    for place in slot.probe.places():
        male, female = place.options[:2]
        words = joined([_word(slot, male, "male"), span(" / ", "soft"), _word(slot, female, "female")])
        parts += [slot.text[at : place.start], span(words, "try-slot")]
        at = place.end
    show_html(element("div", joined([*parts, slot.text[at:]]), "try-sentence", lang=slot.language))


def ratio_html(slot: Slot, bias_log10: float | None) -> Markup:
    """Return the ratio in words, both words of the sentence in their colours: 她 is 12 times as likely as 他."""
    male, female = _word(slot, slot.male, "male"), _word(slot, slot.female, "female")
    if bias_log10 is None or math.isinf(bias_log10) or times(bias_log10) == "1.0":
        message, values = odds(bias_log10, slot.own_words)
        return escape(_(message).format(**values))
    likelier, other = (male, female) if bias_log10 > 0 else (female, male)
    sentence = escape(_("{likelier} is {times} times as likely as {other}"))
    return sentence.format(likelier=likelier, times=times(bias_log10), other=other)


def mass_html(p_male: float | None, p_female: float | None, *, sided: bool) -> Markup:
    """Return how the probability at the slot is shared out: female word from the left, then male word, the rest grey.

    *sided*: False for two words that are not a pair; their colours belong to neither side.
    """
    if p_male is None or p_female is None:
        return Markup("")
    neither = _("neither word: {share}", share=percent(max(0.0, 1 - p_male - p_female)))
    parts = joined(
        element("i", "", kind, style=f"width:{100 * share:.2f}%")
        for kind, share in (("female" if sided else "other", p_female), ("male" if sided else "ink", p_male))
    )
    return joined([element("div", parts, "bar try-mass", role="img", aria_label=neither), span(neither, "small")])
