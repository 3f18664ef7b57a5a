"""The card of one model on the page Try a sentence, with its drawings."""

import streamlit as st
from markupsafe import Markup

from evenhand.core.mining.settings import WITHOUT_SPACES
from evenhand.core.sentence_bias.bias import OBVIOUS, times, whole_sentences
from evenhand.core.sentence_bias.compare_words import Push, Unit
from evenhand.core.sentence_bias.model_answer import ModelAnswer
from evenhand.core.sentence_bias.slot import Slot
from evenhand.core.types import Filler
from evenhand.pages.sentence_bias.inputs import Answer, Question, pushes_of
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.numbers import DASH, percent
from evenhand.pages.ui.sentences import side_word
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, literal, named, plain, series, show_signature, warn
from evenhand.pages.ui.verdicts import mass_html, note, ratio_html
from evenhand.pages.ui.visitor import errors_shown, show_error

MOST_SLOTS = 4  # of a word that a model cuts into many tokens
FAINT = 0.02  # log10 (5%): a push below this is not drawn


def show_error_card(answer: Answer) -> None:
    """Show why a model has no answer, and what to do about it."""
    if answer.error is None:
        return
    show_error(answer.error)
    if answer.died:
        st.button(_("Run again"), icon=":material/refresh:", key=f"again-{answer.model}")


def show_model(answer: Answer, question: Question, unit: Unit) -> None:
    """Show a card with everything that one model says."""
    with st.container(border=True, key=f"reading-{answer.model}"):
        literal(" · ".join(part for part in (answer.model, note(answer.model)) if part), size=16)
        if answer.reading is None:
            show_error_card(answer)
            return
        _show_forms(answer.reading)
        _show_pushes(answer.model, answer.reading, question, unit)
        with st.expander(_("Details"), icon=":material/functions:"):
            _show_facts(answer.reading)
            _show_fillers(answer.reading)
            show_signature(answer.reading.signature)


def show_verdict(model: str, reading: ModelAnswer) -> None:
    """Show a model's verdict in one sentence, and how the probability at the slot is shared out."""
    slot = reading.slot
    parts = [span(model, "soft"), element("div", ratio_html(slot, reading.bias_log10), "try-big")]
    mass = "" if reading.pair_mass is None else mass_html(reading.p_male, reading.p_female, sided=slot.sided)
    show_html(element("div", joined([*parts, mass]), "try-verdict"))
    if reading.reason:
        st.caption(_(reading.reason))
    if reading.small_mass:
        warn(
            "The two words together get less than 1% of the probability: interpret the ratio with caution.",
            icon=":material/visibility:",
        )


def _show_facts(reading: ModelAnswer) -> None:
    slot = reading.slot
    facts = [
        (_("probability of {word}", word=slot.male), percent(reading.p_male), ""),
        (_("probability of {word}", word=slot.female), percent(reading.p_female), ""),
        (
            _("both words together"),
            percent(reading.pair_mass),
            _(reading.mass_reason) if reading.mass_reason else "",
        ),
        (_signs(reading), signed(reading.bias_log10), ""),
        (_("Bias_c, natural log") if slot.sided else _("natural log"), signed(reading.bias_ln), ""),
    ]
    if slot.entry is not None:
        why = _(reading.corrected_reason) if reading.corrected_reason else ""
        facts.append((_("minus the pair baseline, log10"), signed(reading.corrected_log10), why))
    if reading.prior.value is not None:
        lean = _("pair baseline, mean of {n} neutral contexts", n=reading.prior.n)
        facts.append((lean, signed(reading.prior.value), ""))
    show_facts(facts)


def _signs(reading: ModelAnswer) -> str:
    """Return the name of the log ratio, and which word each sign is for."""
    if reading.slot.sided:
        return _("Bias_c, log10 (+ male word, − female word)")
    return _("log10 of the ratio (+ {first}, − {second})", first=reading.slot.male, second=reading.slot.female)


def _show_forms(reading: ModelAnswer) -> None:
    if not reading.forms:
        return
    text = _(
        "Each form's share of the total probability of all forms listed here. The rest of the sentence is unchanged."
    )
    if any(form.word.casefold() == "they" for form in reading.forms):  # only a subject has a verb that could agree
        text = _(
            "Each form's share of the total probability of all forms listed here. The rest of the"
            " sentence is unchanged, including the verbs (they was)."
        )
    st.markdown(f"**{_('All forms side by side')}**", help=plain(text))
    show_forms(reading)


def _show_fillers(reading: ModelAnswer) -> None:
    count = len(reading.fillers)
    for number, (likeliest, others) in enumerate(zip(reading.fillers, reading.others, strict=True), 1):
        if number > MOST_SLOTS:
            caption("{count} further slots are not shown.", count=count - MOST_SLOTS)
            break
        title = _("Top predictions at the slot")
        if count > 1:
            title = _("Top predictions at slot {number} of {count}", number=number, count=count)
        st.markdown(f"**{title}**")
        most = max((filler.probability or 0 for filler in likeliest), default=0) or 1
        parts = []
        for filler in likeliest:
            p = filler.probability or 0
            name, mark = span(filler.word), ""
            male, female = _tokens(reading.slot)
            if filler.word in male - female:
                name, mark = span(filler.word, "strong male" if reading.slot.sided else "strong"), " ▶"
            elif filler.word in female - male:
                name, mark = span(filler.word, "strong female" if reading.slot.sided else "strong"), " ◀"
            drawn = element("i", "", style=f"width:{100 * p / most:.1f}%")
            parts += [span(joined([name, mark])), drawn, span(percent(filler.probability))]
        show_html(element("div", joined(parts), "try-list"))
        if others and not reading.forms:
            show_others(others)


def _show_pushes(model: str, reading: ModelAnswer, question: Question, unit: Unit) -> None:
    if whole_sentences(reading.signature):
        return  # such a model is given the sentence as it is: no word of it can be hidden
    text = _(
        "How the ratio changes when the word is masked; this does not show a cause. ▶ 1.8: the word"
        " raises the odds of the male word 1.8-fold; ◀: the odds of the female word."
    )
    if not reading.slot.sided:
        text = _(
            "How the ratio changes when the word is masked; this does not show a cause. ▶ 1.8: the word"
            " raises the odds of {first} 1.8-fold; ◀: the odds of {second}."
        )
    text = text.format(first=reading.slot.male, second=reading.slot.female)
    st.markdown(f"**{_('Influence of each word')}**", help=plain(text))
    with errors_shown():
        pushes = pushes_of(model, question, unit)
        show_pushes(reading.slot, pushes)
        if any(push.reason for push in pushes):
            st.caption("  \n".join(dict.fromkeys(_(push.reason) for push in pushes if push.reason)))
        made = {"sentence": reading.slot.text, "model": model, "signature": reading.signature}
        rows = [
            {"word": push.word, "start": push.span[0], "end": push.span[1], "change_log10": push.change, **made}
            for push in pushes
        ]
        downloads(rows, key=f"pushes-{model}")


def signed(value: float | None, digits: int = 3) -> str:
    """Return a log ratio with its sign; ∞ where one word has probability 0, a dash where it is undefined."""
    if value is None:
        return DASH
    return f"{value:+.{digits}f}".replace("-", "−").replace("inf", "∞")


def show_facts(rows: list[tuple[str, str, str]]) -> None:
    """Show names and numbers in two columns; the third value is the reason of a dash, shown below it."""
    parts = []
    for name, value, reason in rows:
        parts += [span(name), element("b", value, "number")]
        if reason:
            parts.append(span(reason, "soft whole-row"))
    show_html(element("div", joined(parts), "facts"))


def _tokens(slot: Slot) -> tuple[set[str], set[str]]:
    """Return what tokens of the male and of the female word can read as: their characters in Chinese, else the word."""
    words = [place.options[:2] for place in slot.probe.places()]
    if slot.language in WITHOUT_SPACES:
        return {c for male, _female in words for c in male}, {c for _male, female in words for c in female}
    males = {written for male, _female in words for written in (male, male.lower())}
    return males, {written for _male, female in words for written in (female, female.lower())}


def show_forms(reading: ModelAnswer) -> None:
    """Show the two words in their colours and the other forms, each with its share of all of them as a bar."""
    parts = []
    for form in reading.forms:
        side = {reading.slot.male: "male", reading.slot.female: "female"}.get(form.word, "")
        side = side if reading.slot.sided else "strong" if form.word == reading.slot.keyword else ""
        share = form.share or 0.0
        drawn = element("i", "", side, style=f"width:{100 * share:.1f}%")
        value = span(percent(form.share), title=_(form.reason) if form.reason else "")
        parts += [span(form.word, f"strong {side}" if side else ""), drawn, value]
    show_html(element("div", joined(parts), "try-list"))
    why = dict.fromkeys(form.reason for form in reading.forms if form.share is None and form.reason)
    for reason in why:
        words = series(form.word for form in reading.forms if form.share is None and form.reason == reason)
        show_html(element("div", f"{DASH} {named(words, _(reason))}", "soft"))


def show_others(rows: tuple[Filler, ...]) -> None:
    """Show the fixed row of other forms."""
    parts = [joined([filler.word, element("b", percent(filler.probability))], " ") for filler in rows]
    show_html(joined([span(_("Other forms:"), "soft"), joined(parts, " · ")], " "))


def show_pushes(slot: Slot, pushes: list[Push]) -> None:
    """Show the sentence with each word tinted and underlined by its push; an arrow says the side too."""
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
