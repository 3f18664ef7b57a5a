"""Topic words (table 7): what the obviously female and the obviously male sentences of a model are about."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from evenhand.core.charts.sides import word_sides, words_say
from evenhand.core.report.numbers import signed_number
from evenhand.core.sentence_bias.bias import OBVIOUS
from evenhand.pages.model_bias.numbers import REMEMBERED, at_once, rows_for
from evenhand.pages.model_bias.source import Settings
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart
from evenhand.pages.ui.choose import choose, model_label, switch
from evenhand.pages.ui.numbers import percent
from evenhand.pages.ui.score_files import ScoreFile
from evenhand.pages.ui.text import _, inform

if TYPE_CHECKING:
    import pandas as pd


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def words_of(source: ScoreFile, model: str, settings: Settings, top: int, corrected: bool) -> "pd.DataFrame":
    """The topic words of one model, with their signature."""
    from evenhand.core.report.several_models import words_of as topics

    rows = rows_for(source, [model], settings)
    value = "corrected_log10" if corrected else "bias_log10"
    found = topics(rows, top=top, value=value)
    male, female = int((rows[value] > OBVIOUS).sum()), int((rows[value] < -OBVIOUS).sum())
    signature = rows["signature"].iloc[0] if len(rows) else ""
    return found.assign(model=model, male_sentences=male, female_sentences=female, signature=signature)


@st.fragment
def show_words(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """One model: its words by one of two methods, and whether the two sides differ in them."""
    methods = {"tfidf": "TF-IDF", "textrank": "TextRank"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = st.selectbox(_("Model"), models, key="words-model", width=260, format_func=model_label)
        top = st.number_input(_("Words per side"), 3, 20, 5, key="words-top", width=150)
        method = choose(_("Method"), methods, "words-method")
        corrected = switch(
            _("Minus the pair mean"),
            key="words-corrected",
            explained=_("Otherwise sentences may be on a side only because their keyword pair leans that way."),
        )
    with st.spinner(_("Segmenting the sentences …"), show_time=True):
        found = words_of(source, str(model), at_once(settings), int(top), corrected)
    shown = found[found["method"] == method]
    if shown.empty:
        inform("This model has no sentence with obvious bias here, so there are no topic words.")
        return
    says = words_say(shown, say=_)
    tips = [_tip(row) for row in shown.to_dict("records")]
    chart = word_sides(shown.assign(tip=tips), description=says, say=_, palette=colours())
    show_chart(chart, shown, key="topic-words", says=says)
    _table(shown)


def _tip(row: dict[str, Any]) -> str:
    text = _("In {male} of the sentences towards the male word, {female} of those towards the female word; p {p}")
    return text.format(male=percent(row["male_rate"]), female=percent(row["female_rate"]), p=p_value(row["p"]))


def p_value(p: float) -> str:
    """A p-value as people read it: never 0."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _table(shown: "pd.DataFrame") -> None:
    first = shown.iloc[0]
    st.subheader(_("Do the sides differ?"))
    hold = shown["holds_keyword"].any()
    sides = {"male": _("male word"), "female": _("female word")}
    rows = [
        {
            _("Side"): sides[row["side"]],
            _("Word"): row["word"],
            _("Weight"): f"{row['weight']:.4f}",
            _("Share, male side"): percent(row["male_rate"]),
            _("Share, female side"): percent(row["female_rate"]),
            _("Contrast"): signed_number(100 * row["contrast"], 1),
            "p": p_value(row["p"]),
            _("p, Holm"): p_value(row["p_holm"]) + (" *" if row["stays"] else ""),
        }
        | ({_("Contains a character of a keyword"): _("yes") if row["holds_keyword"] else ""} if bool(hold) else {})
        for row in shown.to_dict("records")
    ]
    st.dataframe(rows, hide_index=True, key="topic-table")
    text = _(
        "{male} sentences lean obviously towards the male word, {female} towards the female word. A high"
        " weight says that a word is common on a side. The contrast (percentage points, positive: more"
        " common on the male side) says whether the sides differ. p: permutation of the sides within each"
        " keyword pair; *: p < 0.05 after the Holm correction. Keywords are excluded."
    )
    counts = {name: f"{int(first[f'{name}_sentences']):,}" for name in ("male", "female")}
    caption_with_files(text.format(**counts), shown, key="topic-file")
