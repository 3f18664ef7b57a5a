"""Small drawings of the page Try: the sentence with its slot, words that push, numbers. All text is escaped."""

import html
import math

import streamlit as st

from core.charts.style import Palette
from core.sentence_bias import Push, Slot
from core.sentence_bias.bias import OBVIOUS, odds, times
from core.types import Filler
from pages.ui.language import _
from pages.ui.numbers import DASH, probability
from pages.ui.try_style import colours

FAINT = 0.02  # log10 (5 %): a push below this is not drawn


def signed(value: float | None, digits: int = 3) -> str:
    """A log ratio with its sign; ∞ where one word has probability 0, a dash where it is undefined."""
    if value is None:
        return DASH
    return f"{value:+.{digits}f}".replace("-", "−").replace("inf", "∞")


def show_sentence(slot: Slot) -> None:
    """The sentence, large, with both words in the slot, male first."""
    before, after = slot.text[: slot.probe.start], slot.text[slot.probe.end :]
    male, female = (html.escape(option) for option in slot.probe.options[:2])
    st.html(
        f'<div class="try-sentence">{html.escape(before)}<span class="try-slot"><span class="try-m">{male}</span>'
        f'<span class="try-soft"> / </span><span class="try-f">{female}</span></span>{html.escape(after)}</div>'
    )


def ratio_html(slot: Slot, bias_log10: float | None) -> str:
    """The ratio in words, with the two words of this sentence in their colours: 她 is 12 times as likely as 他."""
    male = f'<span class="try-m">{html.escape(slot.male)}</span>'
    female = f'<span class="try-f">{html.escape(slot.female)}</span>'
    if bias_log10 is None or math.isinf(bias_log10) or times(bias_log10) == "1.0":
        return html.escape(_(odds(bias_log10)[0]))
    likelier, other = (male, female) if bias_log10 > 0 else (female, male)
    sentence = html.escape(_("{likelier} is {times} times as likely as {other}"))
    return sentence.format(likelier=likelier, times=times(bias_log10), other=other)


def show_mass(p_male: float | None, p_female: float | None) -> None:
    """How the probability at the slot is shared out: male word from the left, then female word, the rest grey."""
    if p_male is None or p_female is None:
        return
    p = colours()
    neither = html.escape(_("neither of the two: {share}").format(share=probability(max(0.0, 1 - p_male - p_female))))
    st.html(
        f'<div class="try-mass" role="img" aria-label="{neither}"><i style="width:{100 * p_male:.2f}%;'
        f'background:{p.male}"></i><i style="width:{100 * p_female:.2f}%;background:{p.female}"></i></div>'
        f"<div>{neither}</div>"
    )


def show_facts(rows: list[tuple[str, str, str]]) -> None:
    """Names and numbers in two columns; the third value is the reason of a dash, shown below it."""
    parts = []
    for name, value, reason in rows:
        parts.append(f"<span>{html.escape(name)}</span><b>{html.escape(value)}</b>")
        if reason:
            parts.append(f'<span class="try-soft" style="grid-column:1/-1">{html.escape(reason)}</span>')
    st.html(f'<div class="try-facts">{"".join(parts)}</div>')


def show_fillers(rows: tuple[Filler, ...], slot: Slot) -> None:
    """The likeliest tokens with a bar each; the two words of the pair in their colours and with a mark."""
    most = max((filler.probability or 0 for filler in rows), default=0) or 1
    parts = []
    for filler in rows:
        p = filler.probability or 0
        name, mark = html.escape(filler.word), ""
        male, female = ({*option} for option in slot.probe.options[:2])
        if filler.word in male - female:
            name, mark = f'<span class="try-m">{name}</span>', "◀"
        elif filler.word in female - male:
            name, mark = f'<span class="try-f">{name}</span>', "▶"
        bar = f'<i style="width:{100 * p / most:.1f}%"></i>'
        parts.append(f"<span>{name} {mark}</span>{bar}<span>{probability(filler.probability)}</span>")
    st.html(f'<div class="try-list">{"".join(parts)}</div>')


def show_others(rows: tuple[Filler, ...]) -> None:
    """The fixed row of other forms."""
    parts = [f"{html.escape(filler.word)} <b>{probability(filler.probability)}</b>" for filler in rows]
    title = html.escape(_("Other forms:"))
    st.html(f'<span class="try-soft">{title}</span> ' + " · ".join(parts))


def show_pushes(slot: Slot, pushes: list[Push]) -> None:
    """The sentence with each word tinted and underlined by its push; an arrow says the side too."""
    p = colours()
    by_start = {push.span[0]: push for push in pushes}
    parts, at = [], 0
    while at < len(slot.text):
        push = by_start.get(at)
        if at == slot.probe.start:
            parts.append('<span class="try-slot" style="padding:0 .7em"> </span>')
            at = slot.probe.end
        elif push is None:
            parts.append(html.escape(slot.text[at]))
            at += 1
        else:
            parts.append(_push(push, p))
            at = push.span[1]
    st.html(f'<div class="try-strip">{"".join(parts)}</div>')


def _push(push: Push, p: Palette) -> str:
    word = html.escape(push.word)
    if push.change is None or abs(push.change) < FAINT:
        return word
    male = push.change > 0
    colour, tint = (p.male, p.male_tint) if male else (p.female, p.female_tint)
    # A push as strong as the papers' "obvious" has the full tint.
    share = min(1.0, abs(push.change) / OBVIOUS)
    side = _("male word") if male else _("female word")
    title = html.escape(f"{signed(push.change)} ({side})", quote=True)
    return (
        f'<span class="try-push" title="{title}" style="background:color-mix(in srgb, {tint} {100 * share:.0f}%, '
        f'transparent);border-color:color-mix(in srgb, {colour} {40 + 60 * share:.0f}%, transparent)">{word}'
        f'<small style="color:{colour}">{"◀" if male else "▶"}{times(push.change)}</small></span>'
    )
