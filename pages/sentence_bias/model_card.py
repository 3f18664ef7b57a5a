"""One model's card on the page Try: the ratio first, then what it is made of, fillers, pushes, signature."""

import streamlit as st

from evenhand.core.errors import EvenhandError
from evenhand.core.sentence_bias import Reading, Unit
from evenhand.core.sentence_bias.bias import whole_sentences
from evenhand.core.worker.client import known_models
from evenhand.pages.sentence_bias.ask_models import Answer, Question, pushes_of
from evenhand.pages.sentence_bias.drawings import (
    ratio_html,
    show_facts,
    show_fillers,
    show_forms,
    show_mass,
    show_others,
    show_pushes,
    signed,
)
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import probability
from evenhand.pages.ui.tables import element, show_html
from evenhand.pages.ui.text import literal, plain, series, show_signature

MOST_SLOTS = 4  # of a word that a model cuts into many tokens


def is_builtin(model: str) -> bool:
    """Whether a model ships with the app."""
    return any(entry.name == model and entry.builtin for entry in known_models(None))


def note(model: str) -> str:
    """A few words beside a model's name; empty for models that are not ours."""
    notes = {
        "random-zh": _("untrained, for reference"),
        "known": _("planted answers"),
        "demo-zh": _("demo model"),
        "demo-en": _("demo model"),
        "demo-en-causal": _("demo model, scores whole sentences"),
    }
    return notes.get(model, "") if is_builtin(model) else ""


def trial_notice(models: list[str]) -> str:
    """The sentence that goes with every chart of built-in models; empty where there is none among *models*."""
    built_in = [model for model in models if is_builtin(model)]
    text = _("Built-in models ({models}) are for trying out the app, not for findings.")
    return text.format(models=series(built_in)) if built_in else ""


def show_error_card(answer: Answer) -> None:
    """Why a model has no answer, and what to do about it."""
    if answer.error is None:
        return
    show_error(answer.error)
    if answer.died:
        st.button(_("Run again"), icon=":material/refresh:", key=f"again-{answer.model}")


def show_model(answer: Answer, question: Question, unit: Unit) -> None:
    """A card with everything that one model says."""
    with st.container(border=True, key=f"reading-{answer.model}"):
        literal(answer.model, size="1.05rem")
        if label := note(answer.model):
            st.caption(label)
        if answer.reading is None:
            show_error_card(answer)
            return
        _show_numbers(answer.reading)
        _show_forms(answer.reading)
        _show_fillers(answer.reading)
        _show_pushes(answer.model, answer.reading, question, unit)
        show_signature(answer.reading.signature)


def _show_numbers(reading: Reading) -> None:
    slot = reading.slot
    show_html(element("div", ratio_html(slot, reading.bias_log10), "try-big"))
    if reading.reason:
        st.caption(_(reading.reason))
    if reading.pair_mass is not None:
        show_mass(reading.p_male, reading.p_female, sided=slot.sided)
    if reading.small_mass:
        st.warning(
            _("The two words together get less than 1% of the probability: read the ratio with care."),
            icon=":material/visibility:",
        )
    facts = [
        (_("probability of {word}").format(word=slot.male), probability(reading.p_male), ""),
        (_("probability of {word}").format(word=slot.female), probability(reading.p_female), ""),
        (
            _("both words together"),
            probability(reading.pair_mass),
            _(reading.mass_reason) if reading.mass_reason else "",
        ),
        (_signs(reading), signed(reading.bias_log10), ""),
        (_("Bias_c, natural log") if slot.sided else _("natural log"), signed(reading.bias_ln), ""),
    ]
    if slot.entry is not None:
        why = _(reading.corrected_reason) if reading.corrected_reason else ""
        facts.append((_("minus the pair baseline, log10"), signed(reading.corrected_log10), why))
    if reading.prior.value is not None:
        lean = _("pair baseline, mean of {n} neutral contexts").format(n=reading.prior.n)
        facts.append((lean, signed(reading.prior.value), ""))
    show_facts(facts)


def _signs(reading: Reading) -> str:
    """The name of the log ratio, and which word each sign is for."""
    if reading.slot.sided:
        return _("Bias_c, log10 (+ male word, − female word)")
    text = _("log10 of the ratio (+ {first}, − {second})")
    return text.format(first=reading.slot.male, second=reading.slot.female)


def _show_forms(reading: Reading) -> None:
    if not reading.forms:
        return
    title = _("All forms side by side")
    st.markdown(f"**{title}**")
    show_forms(reading)
    text = _("Each form's share of the probability of all forms listed here. The rest of the sentence is unchanged.")
    if any(form.word.casefold() == "they" for form in reading.forms):  # only a subject has a verb that could agree
        text = _(
            "Each form's share of the probability of all forms listed here. The rest of the sentence is"
            " unchanged, including the verbs (they was)."
        )
    st.caption(text)


def _show_fillers(reading: Reading) -> None:
    count = len(reading.fillers)
    for number, (likeliest, others) in enumerate(zip(reading.fillers, reading.others, strict=True), 1):
        if number > MOST_SLOTS:
            st.caption(_("{count} further slots are not shown.").format(count=count - MOST_SLOTS))
            break
        title = _("Top predictions at the slot")
        if count > 1:
            title = _("Top predictions at slot {number} of {count}").format(number=number, count=count)
        st.markdown(f"**{title}**")
        show_fillers(likeliest, reading.slot)
        if others and not reading.forms:
            show_others(others)


def _show_pushes(model: str, reading: Reading, question: Question, unit: Unit) -> None:
    if whole_sentences(reading.signature):
        return  # such a model is given the sentence as it is: no word of it can be hidden
    title = _("Which words matter?")
    st.markdown(f"**{title}**")
    try:
        pushes = pushes_of(model, question, unit)
    except EvenhandError as error:
        show_error(error)
        return
    show_pushes(reading.slot, pushes)
    text = _(
        "How the ratio changes when the word is masked; this does not show a cause. ▶ 1.8: the word"
        " raises the odds of the male word 1.8-fold; ◀: the odds of the female word."
    )
    if not reading.slot.sided:
        text = _(
            "How the ratio changes when the word is masked; this does not show a cause. ▶ 1.8: the word"
            " raises the odds of {first} 1.8-fold; ◀: the odds of {second}."
        )
    st.caption(plain(text.format(first=reading.slot.male, second=reading.slot.female)))
    if any(push.reason for push in pushes):
        st.caption("  \n".join(dict.fromkeys(_(push.reason) for push in pushes if push.reason)))
    made = {"sentence": reading.slot.text, "model": model, "signature": reading.signature}
    rows = [
        {"word": push.word, "start": push.span[0], "end": push.span[1], "change_log10": push.change, **made}
        for push in pushes
    ]
    downloads(rows, key=f"pushes-{model}")
