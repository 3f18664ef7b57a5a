"""Small drawings of the page Try: the sentence with its slot, words that push, numbers. All text is escaped."""

import math

from markupsafe import Markup, escape

from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias import Push, Reading, Slot
from evenhand.core.sentence_bias.bias import OBVIOUS, odds, times
from evenhand.core.types import Filler
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, probability
from evenhand.pages.ui.sentences import side_word
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import in_brackets, named, series

FAINT = 0.02  # log10 (5%): a push below this is not drawn


def signed(value: float | None, digits: int = 3) -> str:
    """A log ratio with its sign; ∞ where one word has probability 0, a dash where it is undefined."""
    if value is None:
        return DASH
    return f"{value:+.{digits}f}".replace("-", "−").replace("inf", "∞")


def _word(slot: Slot, word: str, side: str) -> Markup:
    """A word in the colour of its side, or in none where the two words are no pair."""
    return span(word, side if slot.sided else "strong")


def show_sentence(slot: Slot) -> None:
    """The sentence, large, with both words in the slot and in what agrees with it, male first."""
    parts: list[str | Markup] = []
    at = 0
    for place in slot.probe.places():
        male, female = place.options[:2]
        words = joined([_word(slot, male, "male"), span(" / ", "soft"), _word(slot, female, "female")])
        parts += [slot.text[at : place.start], span(words, "try-slot")]
        at = place.end
    show_html(element("div", joined([*parts, slot.text[at:]]), "try-sentence"))


def ratio_html(slot: Slot, bias_log10: float | None) -> Markup:
    """The ratio in words, with the two words of this sentence in their colours: 她 is 12 times as likely as 他."""
    male, female = _word(slot, slot.male, "male"), _word(slot, slot.female, "female")
    if bias_log10 is None or math.isinf(bias_log10) or times(bias_log10) == "1.0":
        message, values = odds(bias_log10, slot.own_words)
        return escape(_(message).format(**values))
    likelier, other = (male, female) if bias_log10 > 0 else (female, male)
    sentence = escape(_("{likelier} is {times} times as likely as {other}"))
    return sentence.format(likelier=likelier, times=times(bias_log10), other=other)


def show_mass(p_male: float | None, p_female: float | None, *, sided: bool) -> None:
    """How the probability at the slot is shared out: female word from the left, then male word, the rest grey.

    *sided*: False for two words that are no pair, in colours of no side.
    """
    if p_male is None or p_female is None:
        return
    neither = _("neither word: {share}").format(share=probability(max(0.0, 1 - p_male - p_female)))
    parts = joined(
        element("i", "", kind, style=f"width:{100 * share:.2f}%")
        for kind, share in (("female" if sided else "other", p_female), ("male" if sided else "ink", p_male))
    )
    show_html(joined([element("div", parts, "bar try-mass", role="img", aria_label=neither), element("div", neither)]))


def show_facts(rows: list[tuple[str, str, str]]) -> None:
    """Names and numbers in two columns; the third value is the reason of a dash, shown below it."""
    parts = []
    for name, value, reason in rows:
        parts += [span(name), element("b", value, "number")]
        if reason:
            parts.append(span(reason, "soft whole-row"))
    show_html(element("div", joined(parts), "facts"))


def show_fillers(rows: tuple[Filler, ...], slot: Slot) -> None:
    """The likeliest tokens with a bar each; the two words of the pair in their colours and with a mark."""
    most = max((filler.probability or 0 for filler in rows), default=0) or 1
    parts = []
    for filler in rows:
        p = filler.probability or 0
        name, mark = span(filler.word), ""
        male, female = _tokens(slot)
        if filler.word in male - female:
            name, mark = span(filler.word, "strong male" if slot.sided else "strong"), " ▶"
        elif filler.word in female - male:
            name, mark = span(filler.word, "strong female" if slot.sided else "strong"), " ◀"
        drawn = element("i", "", style=f"width:{100 * p / most:.1f}%")
        parts += [span(joined([name, mark])), drawn, span(probability(filler.probability))]
    show_html(element("div", joined(parts), "try-list"))


def _tokens(slot: Slot) -> tuple[set[str], set[str]]:
    """What a token of the male and of the female word can read as: their characters in Chinese, else the word."""
    words = [place.options[:2] for place in slot.probe.places()]
    if slot.language in WITHOUT_SPACES:
        return {c for male, _female in words for c in male}, {c for _male, female in words for c in female}
    males = {written for male, _female in words for written in (male, male.lower())}
    return males, {written for _male, female in words for written in (female, female.lower())}


def show_forms(reading: Reading) -> None:
    """The two words in their colours and the other forms, each with its share of all of them as a bar."""
    parts = []
    for form in reading.forms:
        side = {reading.slot.male: "male", reading.slot.female: "female"}.get(form.word, "")
        side = side if reading.slot.sided else ""
        share = form.share or 0.0
        drawn = element("i", "", side, style=f"width:{100 * share:.1f}%")
        value = span(probability(form.share), title=_(form.reason) if form.reason else "")
        parts += [span(form.word, f"strong {side}" if side else ""), drawn, value]
    show_html(element("div", joined(parts), "try-list"))
    why = dict.fromkeys(form.reason for form in reading.forms if form.share is None and form.reason)
    for reason in why:
        words = series(form.word for form in reading.forms if form.share is None and form.reason == reason)
        show_html(element("div", f"{DASH} {named(words, _(reason))}", "soft"))


def show_others(rows: tuple[Filler, ...]) -> None:
    """The fixed row of other forms."""
    parts = [joined([filler.word, element("b", probability(filler.probability))], " ") for filler in rows]
    show_html(joined([span(_("Other forms:"), "soft"), joined(parts, " · ")], " "))


def show_pushes(slot: Slot, pushes: list[Push]) -> None:
    """The sentence with each word tinted and underlined by its push; an arrow says the side too."""
    by_start = {push.span[0]: push for push in pushes}
    ends = {place.start: place.end for place in slot.probe.places()}
    parts: list[str | Markup] = []
    at = 0
    while at < len(slot.text):
        push = by_start.get(at)
        if at in ends:
            parts.append(span("\u2003", "try-slot"))
            at = ends[at]
        elif push is None:
            parts.append(slot.text[at])
            at += 1
        else:
            parts.append(_push(push, slot))
            at = push.span[1]
    show_html(element("div", joined(parts), "try-strip"))


def _push(push: Push, slot: Slot) -> str | Markup:
    if push.change is None or abs(push.change) < FAINT:
        return push.word
    side = "male" if push.change > 0 else "female"
    # A push as strong as the papers' "obvious" has the full tint.
    share = min(1.0, abs(push.change) / OBVIOUS)
    tint, line = (f"{side}-tint", side) if slot.sided else ("line", "ink")
    tint = f"background:color-mix(in srgb, var(--{tint}) {100 * share:.0f}%, transparent)"
    line = f"border-color:color-mix(in srgb, var(--{line}) {40 + 60 * share:.0f}%, transparent)"
    arrow = element("small", f"{'▶' if side == 'male' else '◀'}{times(push.change)}", side if slot.sided else "")
    word = side_word(side) if slot.sided else slot.male if side == "male" else slot.female
    title = in_brackets(signed(push.change), word)
    return element("span", joined([push.word, arrow]), "try-push", title=title, style=f"{tint};{line}")
