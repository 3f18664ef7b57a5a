"""One sentence on the page Try a sentence: the answers of models, other words in its place."""

from dataclasses import replace

import altair as alt
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.charts.sides import balance, balance_says
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.language import explain
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import corrected, whole_sentences
from evenhand.core.sentence_bias.compare_words import Unit, fill
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES
from evenhand.core.sentence_bias.model_answer import ModelAnswer
from evenhand.pages.sentence_bias.inputs import (
    BETWEEN,
    Answer,
    Question,
    answers,
    compared,
    link,
    prior_of,
    read_as,
    settings,
)
from evenhand.pages.sentence_bias.model_card import show_model, show_verdict
from evenhand.pages.sentence_bias.presenter import present
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import AUTO, choose, first_models, language_name
from evenhand.pages.ui.notices import trial_banner, trial_notice
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.text import _, inform, language, literal, show_signature, write
from evenhand.pages.ui.verdicts import is_builtin, note, show_sentence
from evenhand.pages.ui.visitor import show_error

MOST_WORDS = 40


SIDE_BY_SIDE = 3
WHOLE = N_("scores whole sentences")  # on the axis of models that fill a slot: another measure (docs/models.md#methods)


def _answer_row(model: str, reading: ModelAnswer) -> dict[str, object]:
    about = note(model) or (_(WHOLE) if whole_sentences(reading.signature) else "")
    same = ("p_male", "p_female", "pair_mass", "bias_log10", "bias_ln")
    return {
        "model": model, "note": about, "sentence": reading.slot.text, "pair": reading.slot.name,
        **{name: getattr(reading, name) for name in same}, "prior_log10": reading.prior.value,
        "corrected_log10": reading.corrected_log10, "status": reading.reason or "ok", "signature": reading.signature,
    }  # fmt: skip


def show_sentence_view(top: DeltaGenerator, models: list[str], question: Question) -> None:
    """Show one sentence: in *top*, above the controls, its verdicts; below them a card per model."""
    try:
        slot = question.slot()
    except Refused as refusal:
        show_error(refusal)
        return
    with top:
        show_sentence(slot)
    read_as(slot, models)
    if not models:
        inform("Choose a model.", icon=":material/arrow_upward:")
        return
    with top, st.spinner(_("Running the models …"), show_time=True):
        found = answers(models, question)
    with top:
        for answer in found:
            if answer.reading is not None:
                show_verdict(answer.model, answer.reading)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(_("Present"), icon=":material/slideshow:", on_click=present, type="primary", key="present")
            show_link()
            unit = settings()
        _show_balance(found)
    _show_cards(found, question, unit)


def show_link() -> None:
    """Show the address of this view with a button that copies it."""
    with st.popover(_("Link to this result"), icon=":material/link:", type="tertiary"):
        st.code(link(), language=None, wrap_lines=True)


def _show_balance(found: list[Answer]) -> None:
    """Show the chart of all models that have an answer."""
    readings = [(answer.model, answer.reading) for answer in found if answer.reading is not None]
    if not readings:
        return
    data = pd.DataFrame([_answer_row(model, reading) for model, reading in readings])
    slot = readings[0][1].slot
    says = balance_says(data, say=_, words=slot.own_words)
    chart = balance(
        data, male=slot.male, female=slot.female, description=says, say=_, sided=slot.sided, palette=colours()
    )
    show_chart(chart, data, key="balance", says=says)
    trial_banner(list(data["model"]))


def _show_cards(found: list[Answer], question: Question, unit: Unit) -> None:
    for start in range(0, len(found), SIDE_BY_SIDE):
        row = found[start : start + SIDE_BY_SIDE]
        for column, answer in zip(st.columns(min(len(found), SIDE_BY_SIDE)), row, strict=False):
            with column:
                show_model(answer, question, unit)


def show_gallery() -> None:
    """Show the built-in example sentences; a button opens one in the first view."""
    write("Example sentences written for this app. Each shows one effect.")
    names = {text: language_name(text) for text in LANGUAGES}
    chosen = choose(_("Language of the sentences"), names, "gallery-language", first=language())
    for number, row in enumerate(table("gallery")):
        if row["language"] != chosen:
            continue
        with st.container(border=True, key=f"gallery-{number}"):
            words, button = st.columns([5, 1], vertical_alignment="center")
            with words:
                literal(row["text"], size=20)
                st.caption(row[language()])
            button.button(_("Try it"), key=f"try-{number}", on_click=_open, args=(row,))


def _open(row: dict[str, str]) -> None:
    given: dict[str, object] = {"text": row["text"], "options": row["options"], "view": "sentence", "written": AUTO}
    if models := first_models(row["language"]):
        given["model"] = models
    st.session_state.update(given)


def show_words_view(models: list[str], question: Question) -> None:
    """Show the heatmap of Bias_c for each word and model, and what could not be measured."""
    words = tuple(dict.fromkeys(word for word in BETWEEN.split(st.session_state["words"]) if word))
    template = st.session_state["template"]
    try:
        _check(template, words)
    except Refused as refusal:
        show_error(refusal)
        return
    if not models:
        inform("Choose a model.", icon=":material/arrow_upward:")
        return
    values = {"bias_log10": _("Bias_c"), "corrected_log10": _("minus the pair baseline")}
    value = choose(_("Value"), values, "value")
    rows: list[dict[str, object]] = []
    with st.spinner(_("Running the models …"), show_time=True):
        for model in models:
            try:
                rows += _rows(model, template, words, question)
            except EvenhandError as error:
                literal(model)
                show_error(error)
    if rows:
        _draw(pd.DataFrame(rows), value, values, models, _towards(rows, question))
        show_link()


def _check(template: str, words: tuple[str, ...]) -> None:
    fill(template, "")
    if not words:
        raise Refused(N_("Give at least one word to compare."))
    if len(words) > MOST_WORDS:
        raise Refused(N_("{count} words are too many; the maximum is {most}."), count=len(words), most=MOST_WORDS)


def _rows(model: str, template: str, words: tuple[str, ...], question: Question) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for entry in compared(model, template, words, replace(question, text="")):
        lean = None
        if entry.bias_log10 is not None:
            lean = prior_of(model, question.slot(entry.sentence).entry, question.joint).value
        rows.append(
            {
                "word": entry.word,
                "model": model,
                "sentence": entry.sentence,
                "bias_log10": entry.bias_log10,
                "corrected_log10": corrected(entry.bias_log10, lean),
                "pair_mass": entry.pair_mass,
                "status": "ok" if entry.reason is None else explain(entry.reason, language()),
                "signature": entry.signature,
            }
        )
    return rows


def _towards(rows: list[dict[str, object]], question: Question) -> str:
    """Return what positive values lean towards: the male word, or the first of two words that are not a pair."""
    sentence = next((str(row["sentence"]) for row in rows if row["status"] == "ok"), None)
    words = None if sentence is None else question.slot(sentence).own_words
    return words[0] if words else _("the male word")


def _draw(data: pd.DataFrame, value: str, names: dict[str, str], models: list[str], towards: str) -> None:
    trial_banner([model for model in models if is_builtin(model)])
    numbers = pd.to_numeric(data[value], errors="coerce")
    known = numbers.abs() < float("inf")  # an infinite ratio has no colour: a dash, and its number in the CSV
    finite = data[known]
    says = _says(finite, value, names, towards)
    chart = heatmap(
        data.assign(**{value: numbers.where(known)}),
        "model",
        "word",
        value,
        description=says,
        scale="sides",
        titles={"model": _("Model"), "word": _("Word"), value: names[value], "sentence": _("Sentence")},
        tooltip=("sentence",),
        palette=colours(),
    )
    if notice := trial_notice(models):
        chart = chart.properties(title=alt.Title("", subtitle=notice))  # also in the picture that is taken away
    show_chart(chart, data, key="words-chart", says=says)
    for reason in dict.fromkeys(data.loc[data["status"] != "ok", "status"]):
        literal(f"{DASH} {reason}")
    with st.expander(_("Signatures"), icon=":material/fingerprint:"):
        show_signature("\n".join(dict.fromkeys(data["signature"])))


def _says(finite: pd.DataFrame, value: str, names: dict[str, str], towards: str) -> str:
    if finite.empty:
        return _("No word has a finite value.")
    most, least = finite.loc[finite[value].astype(float).idxmax()], finite.loc[finite[value].astype(float).idxmin()]
    return _(
        "{value} in log10; positive values (purple) lean towards {towards}. Highest: {high}"
        " ({high_model}, {high_value}); lowest: {low} ({low_model}, {low_value}).",
        value=names[value],
        towards=towards,
        high=most["word"],
        high_model=most["model"],
        high_value=f"{most[value]:+.2f}",
        low=least["word"],
        low_model=least["model"],
        low_value=f"{least[value]:+.2f}",
    )
