"""One sentence under all models, with the guess before it, and the gallery of examples."""

from typing import Any

import pandas as pd
import streamlit as st

from evenhand.core.charts.word_balance import balance, balance_says
from evenhand.core.errors import N_, Refused
from evenhand.core.resources import table
from evenhand.core.sentence_bias import Slot, Unit
from evenhand.core.sentence_bias.bias import odds, whole_sentences
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES
from evenhand.pages.sentence_bias.ask_models import Answer, Question, answers
from evenhand.pages.sentence_bias.drawings import show_sentence
from evenhand.pages.sentence_bias.inputs import link, read_as, sentence_language, settings
from evenhand.pages.sentence_bias.model_card import note, show_model
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.choose import choose, first_models, switch
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.own_words import AUTO, language_name
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import literal

STEPS = (-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0)  # log10, male word on the right as in the balance


def guess_toggle() -> None:
    """The switch that hides the answer until the viewer has guessed."""
    help_text = _("Hides the result until you have entered a guess.")
    switch(_("Guess first"), key="guess", persist_state="session", explained=help_text)


def guessed(question: Question, slot: Slot) -> tuple[bool, float | None]:
    """Whether the answer may be shown, and what was guessed (log10, positive male); asks where it is time to."""
    if not st.session_state.get("guess"):
        return True, None
    made: dict[str, float] = st.session_state.setdefault("guesses", {})
    if (known := made.get(question.signed())) is not None:
        st.caption(_("Your guess: {sentence}").format(sentence=in_words(known, slot)))
        return True, known
    key = f"guess-{len(made)}"
    with st.container(border=True, key="guessing"):
        st.select_slider(
            _("Which way does the model lean at the slot of this sentence?"),
            STEPS,
            value=0.0,
            format_func=lambda value: in_words(value, slot),
            key=key,
        )
        st.button(_("Show the result"), key="show-answer", type="primary", on_click=_keep, args=(question, key))
    return False, None


def _keep(question: Question, key: str) -> None:
    st.session_state["guesses"][question.signed()] = st.session_state[key]


def in_words(value: float, slot: Slot) -> str:
    """A step of the guess as a sentence."""
    message, values = odds(value, slot.own_words)
    return _(message).format(**values)


SIDE_BY_SIDE = 3
WHOLE = N_("scores whole sentences")  # on the axis of models that fill a slot: another measure (SPEC 6.1)


def answers_frame(found: list[Answer]) -> pd.DataFrame:
    """A row per model that answered: the numbers of the balance and of its CSV."""
    rows: list[dict[str, Any]] = []
    for answer in found:
        reading = answer.reading
        if reading is None:
            continue
        rows.append(
            {
                "model": answer.model,
                "note": note(answer.model) or (_(WHOLE) if whole_sentences(reading.signature) else ""),
                "sentence": reading.slot.text,
                "pair": reading.slot.name,
                "p_male": reading.p_male,
                "p_female": reading.p_female,
                "pair_mass": reading.pair_mass,
                "bias_log10": reading.bias_log10,
                "bias_ln": reading.bias_ln,
                "prior_log10": reading.prior.value,
                "corrected_log10": reading.corrected_log10,
                "status": reading.reason or "ok",
                "signature": reading.signature,
            }
        )
    return pd.DataFrame(rows)


def show_sentence_view(models: list[str], question: Question) -> None:
    """One sentence: the balance of all models, then a card per model."""
    try:
        slot = question.slot()
    except Refused as refusal:
        show_error(refusal)
        return
    show_sentence(slot)
    read_as(slot, models)
    if not models:
        st.info(_("Choose a model."), icon=":material/arrow_upward:")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        guess_toggle()
        unit = settings()
    ready, guess = guessed(question, slot)
    if not ready:
        return
    with st.spinner(_("Running the models …"), show_time=True):
        found = answers(models, question)
    data = answers_frame(found)
    if len(data):
        trial_banner(list(data["model"]))
        says = balance_says(data, say=_, words=slot.own_words)
        chart = balance(
            data, male=slot.male, female=slot.female, description=says, say=_, guess=guess, sided=slot.sided,
            palette=colours(),
        )  # fmt: skip
        show_chart(chart, data, key="balance", says=says)
        st.caption(
            _(
                "Solid bar: ratio of the two probabilities. Hollow dot: the same minus the pair baseline"
                " in neutral contexts. Shaded: one word less than twice as likely as the other."
            )
        )
    _show_cards(found, question, unit)
    with st.expander(_("Link to this result"), icon=":material/link:"):
        st.code(link(), language=None, wrap_lines=True)


def _show_cards(found: list[Answer], question: Question, unit: Unit) -> None:
    for start in range(0, len(found), SIDE_BY_SIDE):
        row = found[start : start + SIDE_BY_SIDE]
        for column, answer in zip(st.columns(min(len(found), SIDE_BY_SIDE)), row, strict=False):
            with column:
                show_model(answer, question, unit)


def show_gallery() -> None:
    """Our own example sentences; a button puts one into the first view."""
    st.write(_("Example sentences written for this app. Each shows one effect."))
    names = {one: language_name(one) for one in LANGUAGES}
    chosen = choose(_("Language of the sentences"), names, "gallery-language", first=sentence_language())
    for number, row in enumerate(table("gallery")):
        if row["language"] != chosen:
            continue
        with st.container(border=True, key=f"gallery-{number}"):
            words, button = st.columns([5, 1], vertical_alignment="center")
            with words:
                literal(row["text"], size="1.2rem")
                st.caption(row[language()])
            button.button(_("Try it"), key=f"try-{number}", on_click=_open, args=(row,))


def _open(row: dict[str, str]) -> None:
    given: dict[str, object] = {"text": row["text"], "options": row["options"], "view": "sentence", "written": AUTO}
    if models := first_models(row["language"]):
        given["model"] = models
    st.session_state.update(given)
