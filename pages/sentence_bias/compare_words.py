"""Compare words: a list of words in one place of a sentence, by several models, as a heatmap."""

from dataclasses import replace

import altair as alt
import pandas as pd
import streamlit as st

from evenhand.core.charts.heatmap import heatmap
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.language import explain
from evenhand.core.sentence_bias import WordReading
from evenhand.core.sentence_bias.bias import corrected
from evenhand.core.sentence_bias.compare_words import fill
from evenhand.pages.sentence_bias.ask_models import Question, compared, prior_of
from evenhand.pages.sentence_bias.inputs import BETWEEN, link
from evenhand.pages.sentence_bias.model_card import is_builtin, trial_notice
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import literal, show_signature

MOST_WORDS = 40


def show_words_view(models: list[str], question: Question) -> None:
    """The heatmap of Bias_c for each word and model, and what could not be measured."""
    words = tuple(dict.fromkeys(word for word in BETWEEN.split(st.session_state["words"]) if word))
    template = st.session_state["template"]
    try:
        _check(template, words)
    except Refused as refusal:
        show_error(refusal)
        return
    if not models:
        st.info(_("Choose a model."), icon=":material/arrow_upward:")
        return
    values = {"bias_log10": _("Bias_c"), "corrected_log10": _("minus the pair baseline")}
    value = st.segmented_control(
        _("Value"), list(values), format_func=values.__getitem__, key="value", default="bias_log10", required=True
    )
    rows: list[dict[str, object]] = []
    with st.spinner(_("Running the models …"), show_time=True):
        for model in models:
            try:
                rows += _rows(model, template, words, question)
            except EvenhandError as error:
                literal(model)
                show_error(error)
    if rows:
        _draw(pd.DataFrame(rows), value or "bias_log10", values, models, _towards(rows, question))
        with st.expander(_("Link to this result"), icon=":material/link:"):
            st.code(link(), language=None, wrap_lines=True)


def _check(template: str, words: tuple[str, ...]) -> None:
    fill(template, "")
    if not words:
        raise Refused(N_("Give at least one word to compare."))
    if len(words) > MOST_WORDS:
        raise Refused(N_("{count} words are too many; the maximum is {most}."), count=len(words), most=MOST_WORDS)


def _rows(model: str, template: str, words: tuple[str, ...], question: Question) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for one in compared(model, template, words, replace(question, text="")):
        lean = None if one.bias_log10 is None else _lean(model, one, question)
        rows.append(
            {
                "word": one.word,
                "model": model,
                "sentence": one.sentence,
                "bias_log10": one.bias_log10,
                "corrected_log10": corrected(one.bias_log10, lean),
                "pair_mass": one.pair_mass,
                "status": "ok" if one.reason is None else explain(one.reason, language()),
                "signature": one.signature,
            }
        )
    return rows


def _towards(rows: list[dict[str, object]], question: Question) -> str:
    """What positive values lean towards: the male word, or the first of two words that are no pair."""
    sentence = next((str(row["sentence"]) for row in rows if row["status"] == "ok"), None)
    words = None if sentence is None else question.slot(sentence).own_words
    return words[0] if words else _("the male word")


def _lean(model: str, one: WordReading, question: Question) -> float | None:
    return prior_of(model, question.slot(one.sentence).entry, question.joint).value


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
    text = _(
        "{value} in log10; positive values (purple) lean towards {towards}. Highest: {high}"
        " ({high_model}, {high_value}); lowest: {low} ({low_model}, {low_value})."
    )
    return text.format(
        value=names[value],
        towards=towards,
        high=most["word"],
        high_model=most["model"],
        high_value=f"{most[value]:+.2f}",
        low=least["word"],
        low_model=least["model"],
        low_value=f"{least[value]:+.2f}",
    )
