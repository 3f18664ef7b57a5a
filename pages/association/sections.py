"""The sections of a finished run: hypotheses with their tables, professions, shares of women, person words, print."""

from pathlib import Path

import pandas as pd
import streamlit as st

from evenhand.core.association import measures
from evenhand.core.association.crossing import signature
from evenhand.core.association.hypotheses import Verdict, means_of, multilingual, verdicts
from evenhand.core.association.measures import Difference, Group
from evenhand.core.association.published import compared_models, printed, printed_verdicts
from evenhand.core.association.table import read_associations, rows_of
from evenhand.core.charts.association import CLASS_NAMES, CLASS_ROW, leans, shares, warmth
from evenhand.core.report.numbers import interval
from evenhand.core.statistics import Estimate
from evenhand.pages.association.tables import difference_table, group_table, printed_table, verdict_cards, word_table
from evenhand.pages.ui.charts import colours, downloads, show_chart
from evenhand.pages.ui.choose import choose, model_label
from evenhand.pages.ui.equivalence import margin_box
from evenhand.pages.ui.numbers import methods_text, note_text, undefined
from evenhand.pages.ui.tables import show_html
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain, show_signature

CHANCE = 0.05


@st.cache_data(max_entries=8, show_spinner=False)
def rows(table: str, version: str, model: str) -> pd.DataFrame:
    """The rows of one model of a run."""
    del version  # only part of the key
    return rows_of(read_associations(Path(table)), model)


@st.cache_data(max_entries=16, show_spinner=False)
def described(table: str, version: str, model: str) -> tuple[list[Group], list[Difference], list[Difference]]:
    """Groups, differences by class, and the same without pairs of one word."""
    frame = rows(table, version, model)
    return measures.groups(frame), measures.differences(frame), measures.differences_without_equal(frame)


@st.cache_data(max_entries=16, show_spinner=False)
def by(table: str, version: str, model: str, column: str) -> list[Difference]:
    """Differences by profession or field."""
    return measures.differences(rows(table, version, model), column)


def show_hypotheses(table: str, version: str, model: str, models: tuple[str, ...]) -> None:
    """H1 to H4 in both readings, then the numbers they rest on."""
    with st.spinner(_("Computing intervals over professions and person words …"), show_time=True):
        groups, found, without = described(table, version, model)
    margin = margin_box("ln", "margin")
    result = verdicts(means_of(groups), found, margin)
    result.append(_fourth(table, version, model, models, margin))
    show_html(verdict_cards(result))
    if any(one.name == "balanced" for one in found):
        caption("The verdict follows the values, as in the thesis; a note says whether the intervals agree.")
    st.subheader(_("Differences"), anchor=False)
    data = frame_of(found)
    says = paragraph((_direction(), _chance(found)))
    chart = leans(_named(data), description=says, row=CLASS_ROW, say=_, palette=colours())
    show_chart(chart, data, key="differences", says=says)
    show_html(difference_table(found, without, margin=margin))
    text = _(
        "In brackets: 95% interval. *: differs from 0 after the Holm correction over the rows. Against"
        " the margin: two one-sided tests. Minimum detectable difference: about the smallest difference that data like"
        " these detect in 80 of 100 cases."
    )
    st.caption(plain(text))
    st.caption(plain(methods_text(one.estimate for one in found)))
    fields = [one for one in by(table, version, model, "field") if one.name]
    if fields:
        st.subheader(_("By field"), anchor=False)
        show_html(difference_table(fields, [], head=_("Field"), margin=margin))
    st.subheader(_("Mean association per group (ln)"), anchor=False)
    show_html(group_table(groups))
    downloads(_group_rows(groups), key="groups")
    show_signature(signature(found[0].unit if found else "pair"))


def _fourth(table: str, version: str, model: str, models: tuple[str, ...], margin: float | None) -> Verdict:
    """H4 of this model against the other kind in the run: this one monolingual, or this one multilingual."""
    compared = compared_models(model, models)
    if compared is None:
        return multilingual(None, None)
    one, other = (rows(table, version, name) for name in compared)
    return multilingual(one, other, margin)


def frame_of(found: list[Difference]) -> pd.DataFrame:
    """Differences as a table: name, value, low, high (M - W, ln), W, M, professions, words, women, stays."""
    missing = float("nan")
    data = [
        {
            "name": one.name,
            "value": missing if one.estimate.value is None else one.estimate.value,
            "low": missing if one.estimate.low is None else one.estimate.low,
            "high": missing if one.estimate.high is None else one.estimate.high,
            "W": one.female,
            "M": one.male,
            "professions": one.professions,
            one.unit: one.words,
            "women": missing if one.women is None else one.women,
            "stays": one.stays,
            "method": one.estimate.method,
        }
        for one in found
    ]
    return pd.DataFrame(data)


def _named(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(name=[_(CLASS_NAMES.get(name, name)) for name in data["name"]])


def _direction() -> str:
    return _("M − W in ln: on the right the profession raises the male words more, on the left the female words.")


def _chance(found: list[Difference]) -> str:
    many = sum(one.estimate.low is not None for one in found)
    text = _(
        "Expected false positives among {m} intervals: {n:.1f}. Filled points exclude 0 after the Holm correction."
    )
    return text.format(m=many, n=CHANCE * many)


def show_professions(table: str, version: str, model: str) -> None:
    """A ranking of professions by M - W, and the mean association of each with each group of words."""
    with st.spinner(_("Computing intervals over professions and person words …"), show_time=True):
        found = measures.ranked(by(table, version, model, "profession_key"))
    frame = rows(table, version, model)
    kind_of = dict(zip(frame["profession_key"], frame["class"], strict=True))
    kinds = ["", *measures.kinds_of(frame)] if any(kind_of.values()) else [""]
    names = {"": _("all professions")} | {kind: _(CLASS_NAMES.get(kind, kind)) for kind in kinds if kind}
    kind = choose(_("Professions shown"), names, "kind")
    shown = [one for one in found if not kind or kind_of[one.name] == kind]
    data = frame_of(shown)
    data["class"] = [kind_of[name] for name in data["name"]]
    says = paragraph((_direction(), _chance(found)))
    show_chart(leans(data, description=says, say=_, palette=colours()), data, key="ranking", says=says)
    st.subheader(_("Mean association with each group of person words"), anchor=False)
    cells = measures.cells(frame)
    order = {one.name: i for i, one in enumerate(shown)}
    cells = cells[cells["profession"].isin(order)]
    cells = cells.sort_values("profession", key=lambda column: column.map(order), kind="stable")
    says = _(
        "Green: the profession makes these words likelier than the masked profession does; red: less likely."
        " Cells show ln."
    )
    show_chart(warmth(cells, description=says, say=_, palette=colours()), cells, key="warmth", says=says)


def show_shares(table: str, version: str, model: str) -> None:
    """M - W against the share of women, with both correlations."""
    found = by(table, version, model, "profession_key")
    correlations = {method: measures.share_correlation(found, method) for method in ("pearson", "spearman")}
    if correlations["pearson"].value is None:
        st.info(plain(note_text(correlations["pearson"].reason)))
        return
    frame = rows(table, version, model)
    kind_of = dict(zip(frame["profession_key"], frame["class"], strict=True))
    data = frame_of(found)
    data["class"] = [kind_of[name] for name in data["name"]]
    places = st.columns(2)
    names = {"pearson": _("Pearson correlation"), "spearman": _("Spearman correlation")}
    for place, (method, name) in zip(places, names.items(), strict=True):
        with place:
            _metric(name, correlations[method])
    says = _(
        "Each point is a profession. A correlation below 0 means: the more women work there, the further"
        " the model leans towards the female words. Interval: Fisher's z over professions. The shares form"
        " three clusters (few, half, most), so the correlation says little more than the classes do."
    )
    show_chart(shares(data, description=says, say=_, palette=colours()), data, key="shares", says=says)


def _metric(name: str, found: Estimate) -> None:
    text, why = undefined(found.value, note_text(found.reason), "{:+.3f}")
    span = interval(found.low, found.high, signed=True)
    units = _("{n} professions", n=found.units)
    st.metric(name, text.replace("-", "−"), help=why)
    st.caption(plain(f"{span} · {units}" if span else units))


def show_words(table: str, version: str, model: str) -> None:
    """Each person word: its pieces in this model, and its mean association by class."""
    found = measures.person_words(rows(table, version, model))
    caption(
        "Subwords: how many tokens the model splits the word into. Words of many subwords have smaller"
        " probabilities, which cancels in the ratio; but the model still knows such words less well."
    )
    show_html(word_table(found, measures.kinds_of(rows(table, version, model))))
    downloads(found, key="words")


def show_printed(language: str, table: str, version: str, model: str) -> None:
    """The thesis's table of this language as printed, and what its hypotheses come to."""
    found = printed(language)
    if not found:
        inform("The papers report no table for these sentences.")
        return
    caption(
        "As in the thesis, for reference, not for comparing decimals: its code attends to padding and"
        " truncates long sentences. Means of models with different tokenizers are not comparable, so"
        " these values share no axis with your own run."
    )
    own = described(table, version, model)[1]
    show_html(printed_table(found, printed_verdicts(language), model_label(model), own))
    data = [
        {"model": one.model, "class": one.kind, "W": float(one.woman), "M": float(one.man),
         "W - M as printed": float(one.difference), "follows": one.follows}
        for one in found
    ]  # fmt: skip
    downloads(data, key="printed")


def _group_rows(groups: list[Group]) -> list[dict[str, object]]:
    return [
        {"class": one.kind, "gender": one.gender, "n": one.numbers.n, "undefined": one.undefined,
         "mean": one.numbers.mean, "low": one.mean.low, "high": one.mean.high, "method": one.mean.method,
         "std": one.numbers.std, "max": one.numbers.max, "q75": one.numbers.q75, "q50": one.numbers.q50,
         "q25": one.numbers.q25, "min": one.numbers.min}
        for one in groups
    ]  # fmt: skip
