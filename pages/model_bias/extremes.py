"""Extremes (tables 5 and 6, and the case study), with filters that can be saved, and topic words (table 7)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from evenhand.core.charts.sides import word_sides, words_say
from evenhand.core.errors import EvenhandError
from evenhand.core.model_bias import extremes, undefined_rows
from evenhand.core.model_bias.extremes import BUILT_IN, SavedFilter, remove_filter, save_filter, saved_filters
from evenhand.core.report.numbers import signed_number
from evenhand.core.report.several_models import words_of as topics
from evenhand.core.runs.records import runs_folder
from evenhand.core.sentence_bias.bias import OBVIOUS
from evenhand.pages.model_bias.selection import links_of, picked, rows_of_pick
from evenhand.pages.model_bias.source import (
    REMEMBERED,
    Settings,
    at_once,
    for_file,
    rows_for,
    sentence_list,
    show_sentences,
)
from evenhand.pages.ui.charts import caption_with_files, colours, downloads, show_chart
from evenhand.pages.ui.choose import choose, model_label, switch
from evenhand.pages.ui.numbers import percent
from evenhand.pages.ui.runs import ScoreFile
from evenhand.pages.ui.tables import element, show_html
from evenhand.pages.ui.text import _, caption, inform, plain
from evenhand.pages.ui.visitor import errors_shown, open_store, show_error

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

PARTS = ("pair", "word", "contains", "followed_by")


@st.fragment
def show_extremes(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show two lists, the female word's side and the male word's, and the sentences without a finite value."""
    rows = rows_for(source, models, at_once(settings))
    selection = picked(models)
    if selection is not None:
        rows = rows[rows["row"].isin(rows_of_pick(source, selection, settings)["row"])]
    model, wanted, count, corrected = _ask(rows, models)
    rows = rows[rows["model"] == model]
    kept = wanted.keep(rows)
    _count(rows, kept)
    value = "corrected_log10" if corrected else "bias_log10"
    left, right = st.columns(2, gap="large")
    with left:
        _side(source, kept, "female", value, count, _("Strongest towards the female word"))
    with right:
        _side(source, kept, "male", value, count, _("Strongest towards the male word"))
    if corrected:
        caption("Sorted by Bias_c minus the mean of its keyword pair, shown in large type.")
    _without(source, kept)


def _ask(rows: "pd.DataFrame", models: list[str]) -> tuple[str, SavedFilter, int, bool]:
    chosen = st.session_state.pop("filter-to-apply", None)
    if chosen is not None:
        for part in PARTS:
            value = getattr(chosen, part)
            st.session_state[f"extremes-{part}"] = (value or None) if part in ("pair", "word") else value
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = st.selectbox(_("Model"), models, key="extremes-model", width=230, format_func=model_label)
        count = st.number_input(_("Number of sentences"), 1, 100, 5, key="extremes-count", width=120)
        picked, save = st.container(width=230), st.container(width="content")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = list(rows["pair"].drop_duplicates())
        pair = st.selectbox(
            _("Keyword pair"), pairs, index=None, key="extremes-pair", placeholder=_("All pairs"), width=150
        )
        words = list(rows.loc[rows["pair"] == pair, "keyword"].drop_duplicates()) if pair else []
        word = st.selectbox(
            _("Word in the source"), words, index=None, key="extremes-word", placeholder=_("Either"), width=150
        )
        followed = st.text_input(_("Directly after the word"), key="extremes-followed_by", max_chars=40, width=160)
        contains = st.text_input(_("Text in the sentence"), key="extremes-contains", max_chars=80, width=190)
    wanted = SavedFilter("", pair or "", word or "", contains, followed)
    _saved(wanted, picked, save)
    corrected = st.toggle(_("Minus the pair mean"), key="extremes-corrected")
    return str(model), wanted, int(count), corrected


def _folder() -> Path:
    with open_store() as store:
        return runs_folder(store.path, "scores")


def _chosen(filters: dict[str, SavedFilter]) -> None:
    name = st.session_state.get("saved-filter")
    st.session_state["filter-to-apply"] = filters.get(str(name), SavedFilter(""))


def _saved(wanted: SavedFilter, picked: "DeltaGenerator", save: "DeltaGenerator") -> None:
    try:
        filters = {saved_filter.name: saved_filter for saved_filter in saved_filters(_folder())}
    except EvenhandError as error:
        show_error(error)
        filters = {saved_filter.name: saved_filter for saved_filter in BUILT_IN}
    picked.selectbox(
        _("Saved filters"),
        list(filters),
        index=None,
        key="saved-filter",
        placeholder=_("None"),
        on_change=_chosen,
        args=(filters,),
    )
    with save, st.popover(_("Save"), icon=":material/bookmark_add:", type="tertiary", key="filter-menu"):
        name = st.text_input(_("Filter name"), key="filter-name", max_chars=60)
        if st.button(_("Save the current settings"), key="filter-save"):
            with errors_shown():
                save_filter(_folder(), SavedFilter(name, wanted.pair, wanted.word, wanted.contains, wanted.followed_by))
                st.toast(_("Filter saved."))
                st.rerun(scope="fragment")
        own = [filter_ for filter_ in filters if filter_ not in {built.name for built in BUILT_IN}]
        if own and (old := st.selectbox(_("Remove a saved filter"), own, index=None, key="filter-old")):
            remove_filter(_folder(), old)
            st.rerun(scope="fragment")


def _count(rows: "pd.DataFrame", kept: "pd.DataFrame") -> None:
    finite = kept["bias_log10"][np.isfinite(kept["bias_log10"])]
    text = _("{kept} of {all} sentences; {male} lean towards the male word, {female} towards the female word.")
    said = text.format(
        kept=f"{len(kept):,}",
        all=f"{len(rows):,}",
        male=f"{int((finite > 0).sum()):,}",
        female=f"{int((finite < 0).sum()):,}",
    )
    caption_with_files(said, for_file(kept), key="extremes-all")


def _side(source: ScoreFile, kept: "pd.DataFrame", side: str, value: str, count: int, title: str) -> None:
    sign = "male" if side == "male" else "female"
    found = extremes(kept, count, sign="male" if sign == "male" else "female", by=value)
    arrow = f"{title} ▶" if side == "male" else f"◀ {title}"
    show_html(element("div", arrow, f"models-side {sign[0]}"))
    if found.empty:
        caption("No sentence leans this way.")
        return
    sentence_list(found, value=value, links=links_of(source))
    with st.container(horizontal=True, horizontal_alignment="right"):
        downloads(for_file(found), key=f"extremes-{side}")


def _without(source: ScoreFile, kept: "pd.DataFrame") -> None:
    none = undefined_rows(kept)
    infinite = kept[np.isinf(kept["bias_log10"])]
    lost = len(none) + len(infinite)
    if not lost:
        return
    title = _("Without a finite value: {n}", n=f"{lost:,}")
    with st.expander(plain(title), icon=":material/help:"):
        show_sentences(
            pd.concat([infinite, none]),
            key="without",
            says=_("Excluded from all means; infinite values first, then undefined ones."),
            links=links_of(source),
        )


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def words_of(source: ScoreFile, model: str, settings: Settings, top: int, corrected: bool) -> "pd.DataFrame":
    """Return the topic words of one model, with their signature."""
    rows = rows_for(source, [model], settings)
    value = "corrected_log10" if corrected else "bias_log10"
    result = topics(rows, top=top, value=value)
    male, female = int((rows[value] > OBVIOUS).sum()), int((rows[value] < -OBVIOUS).sum())
    signature = rows["signature"].iloc[0] if len(rows) else ""
    return result.assign(model=model, male_sentences=male, female_sentences=female, signature=signature)


@st.fragment
def show_words(source: ScoreFile, models: list[str], settings: Settings) -> None:
    """Show one model: its words by one of two methods, and whether the two sides differ in them."""
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
        words = words_of(source, str(model), at_once(settings), int(top), corrected)
    shown = words[words["method"] == method]
    if shown.empty:
        inform("This model has no sentence with obvious bias here, so there are no topic words.")
        return
    says = words_say(shown, say=_)
    tips = [_tip(row) for row in shown.to_dict("records")]
    chart = word_sides(shown.assign(tip=tips), description=says, say=_, palette=colours())
    show_chart(chart, shown, key="topic-words", says=says)
    _table(shown)


def _tip(row: Mapping[str, Any]) -> str:
    text = _(
        "Occurs in {male} of the sentences that lean towards the male word and {female} of"
        " those that lean towards the female word; p {p}"
    )
    return text.format(male=percent(row["male_rate"]), female=percent(row["female_rate"]), p=p_value(row["p"]))


def p_value(p: float) -> str:
    """Return a p-value as people read it: never 0."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _table(shown: "pd.DataFrame") -> None:
    first = shown.iloc[0]
    st.header(_("Do the sides differ?"))
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
