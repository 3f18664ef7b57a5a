"""A finished measurement: one chart of model, untrained twin, control and print, the figures, what is against it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.core.charts.dots import ROLE_NAMES, measure_dots
from evenhand.core.errors import N_
from evenhand.core.language import significant
from evenhand.core.other_measures.measured_values import MeasuredValue
from evenhand.core.other_measures.settings import BY_NAME, Measure
from evenhand.core.runs.records import Run
from evenhand.core.statistics import Estimate
from evenhand.core.types import JsonObject
from evenhand.pages.other_measures.start import MEASURED, names_of_tests, show_criticism, variant_names
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, interval, note_text, number, with_brackets
from evenhand.pages.ui.quantities import entry_of, explained_all, quantity_number
from evenhand.pages.ui.results import show_conclusion, show_method
from evenhand.pages.ui.runs import choose_run, finished_at, result_bar, show_facts, show_notices
from evenhand.pages.ui.tables import below, joined, number_columns, show_html, table
from evenhand.pages.ui.text import (
    _,
    caption,
    clauses,
    in_brackets,
    inform,
    named,
    paragraph,
    plain,
)

NO_PRINT = N_("No published values of these models are included.")


def quantity_names() -> Mapping[str, str]:
    """Return the name of each quantity for people."""
    return {
        "share": _("share of pairs"), "lms": "lms", "ss": "ss", "icat": "icat", "gap": _("gap (points)"),
        "pro": _("accuracy, pro-stereotypical"), "anti": _("accuracy, anti-stereotypical"),
        "they": _("accuracy with they"),
        "all": _("all professions"), "female": _("professions dominated by women"),
        "male": _("professions dominated by men"), "balanced": _("balanced professions"),
        "all kinds": _("all kinds of bias"), **names_of_tests(),
    }  # fmt: skip


def show_finished(store: Store) -> None:
    """Show the finished measurement that is chosen, the newest at first."""
    runs = MEASURED.finished(store)
    if not runs:
        inform("No measurements yet. Choose a measure and a model under New measurement, and start.")
        return
    bar = result_bar()
    with bar.change:
        run = choose_run(runs, "om-run")
    bar.offer_run(MEASURED, run)
    what = BY_NAME.get(str(run.record.get("measure")))
    if what is None:
        bar.say(run.name, run.models)
        caption("This record contains no results.")
        return
    variant = str(run.record.get("variant") or "")
    title = in_brackets(_(what.title), variant_names().get(variant, variant)) if variant else _(what.title)
    bar.say(run.name, run.models, title)
    show_notices(run)
    trial_banner(run.models)
    figures = [
        (str(entry.get("model")), MeasuredValue.of(figure))
        for entry in run.answered
        for figure in entry.get("figures") or []
    ]
    show_conclusion(_conclusion(title, what, figures))
    neutrals = list(dict.fromkeys(one.neutral for _model, one in figures))
    for place, neutral in enumerate(neutrals):
        own = [(model, one) for model, one in figures if one.neutral == neutral and one.estimate.value is not None]
        if not own:
            continue
        rows = [_row(model, one) for model, one in own]
        rows += [_printed(entry) for entry in run.record.get("published") or [] if entry["model"] in run.models]
        shown = [row for row in rows if row["group"] in {_group(model, one.quantity) for model, one in own}]
        rows = sorted(shown, key=lambda row: list(dict.fromkeys(entry["group"] for entry in shown)).index(row["group"]))
        says = _says(neutral, rows)
        chart = measure_dots(rows, what.scale, neutral, description=says, say=_, palette=colours())
        show_chart(chart, rows, key=f"om-chart-{place}", says=says)
    _show_table(what, figures)
    _show_published(run, what)
    show_criticism(what)
    text = _("{name}; items: {items}; finished {time}")
    name = str(run.source.get("name", ""))
    show_facts(run, text.format(items=f"{run.sentences:,}", name=name, time=finished_at(run)))
    twins = [str(entry["untrained_signature"]) for entry in run.answered if entry.get("untrained_signature")]
    show_method(signature="\n".join([*run.signatures, *twins]))


def _conclusion(title: str, what: Measure, figures: "Sequence[tuple[str, MeasuredValue]]") -> str:
    """Return the first number of each model, with its interval, as one sentence."""
    first: dict[str, MeasuredValue] = {}
    for model, figure in figures:
        if figure.role == "model" and figure.estimate.value is not None:
            first.setdefault(model, figure)
    parts = []
    for model, figure in first.items():
        quantity = quantity_names().get(figure.quantity, figure.quantity)
        (id_, estimate), *_rest = run_estimates(what.name, [figure]).items()
        value = with_brackets(estimate, FORMS[entry_of(id_).unit])
        more = [_("no bias: {value}", value=f"{figure.neutral:g}")] if figure.neutral is not None else []
        if figure.band is not None and estimate.value is not None:
            inside = figure.band[0] <= estimate.value <= figure.band[1]
            more.append(_("within the chance range") if inside else _("outside the chance range"))
        parts.append(named(model, f"{quantity} {in_brackets(value, clauses(more)) if more else value}"))
    return _("{text}.", text=clauses(parts) if parts else named(title, DASH))


def _says(neutral: float | None, rows: Sequence[Mapping[str, Any]]) -> str:
    marks = {
        "model": _("Filled circle: the model."), "untrained": _("Hollow circle: a randomly initialised copy."),
        "control": _("Square: a control without gender."), "published": _("Diamond: the published value."),
    }  # fmt: skip
    parts = [words for role, words in marks.items() if any(row["role"] == role for row in rows)]
    if neutral is not None:
        parts.append(_("Dashed line: no bias ({value}).", value=f"{neutral:g}"))
    if any(row["band_low"] is not None for row in rows):
        parts.append(_("Grey bar: the range of 95% of values under chance."))
    if any(row["low"] is not None for row in rows):
        parts.append(_("Line through a mark: its 95% interval."))
    return paragraph(parts)


def _row(model: str, one: MeasuredValue) -> JsonObject:
    estimate, (low, high) = one.estimate, one.band or (None, None)
    return {
        "group": _group(model, one.quantity), "label": _(ROLE_NAMES[one.role]), "role": one.role,
        "value": estimate.value, "low": estimate.low, "high": estimate.high, "band_low": low, "band_high": high,
    }  # fmt: skip


def _printed(one: Mapping[str, str]) -> JsonObject:
    ends = dict.fromkeys(("low", "high", "band_low", "band_high"))
    group, label = _group(one["model"], one["quantity"]), _(ROLE_NAMES["published"])
    return {"group": group, "label": label, "role": "published", "value": float(one["value"]), **ends}


def _group(model: str, quantity: str) -> str:
    return f"{model} · {quantity_names().get(quantity, quantity)}"


def _show_table(what: Measure, figures: Sequence[tuple[str, MeasuredValue]]) -> None:
    heads = [_("model"), _("quantity"), _("subject"), _("value"), _("95% interval"), _("chance range"), "p", _("notes")]
    titles, rows, reasons = quantity_names(), [], dict[str, None]()
    for model, one in figures:
        stated = run_estimates(what.name, [one])
        (id_, estimate), *of_chance = stated.items()
        form = FORMS[entry_of(id_).unit]
        reasons |= {} if estimate.low is not None or estimate.value is None else {note_text(estimate.note): None}
        value = quantity_number(id_, estimate)
        rows.append(
            (
                model,
                titles.get(one.quantity, one.quantity),
                _(ROLE_NAMES[one.role]),
                value if estimate.value is not None else joined([value, below(note_text(estimate.reason))]),
                interval(estimate, form) or DASH,
                interval(Estimate(None, *one.band), form) if one.band else DASH,
                *([quantity_number(*one_p) for one_p in of_chance] or [joined([DASH])]),
                clauses(_beside(one.facts)),
            )
        )
    show_html(table(number_columns(heads, (3, 4, 5, 6)), rows, kind="stacked"))
    for reason in filter(None, reasons):
        st.caption(plain(reason))
    said = [_("Of m values, about 0.05 m are expected outside the chance range by chance.")]
    if any(one.p is not None for _model, one in figures):
        of_sets = _("p: the share of partitions that reach the effect, P(s ≥ s_obs), one-sided.")
        coins = _("p: how often random choices deviate at least as far from no bias (two-sided).")
        said.insert(0, of_sets if what.scale == "effect" else coins)
    names = run_estimates(what.name, [one for _model, one in figures])
    st.caption(plain(paragraph(said)), help=explained_all(names))


def _beside(facts: Mapping[str, Any]) -> list[str]:
    """Return the counts behind a number as texts."""
    names = {
        "ties": _("ties"), "left_out": _("excluded"), "size": _("median difference"), "items": _("items"),
        "terms": _("target terms"), "writers": _("writers"), "word_pairs": _("word pairs"),
        "missing": _("words without a vector"), "sentences": _("sentences"),
        "twins": _("sentence pairs"), "unlike": _("pairs differing beyond the pronoun"),
        "partitions": _("partitions"),
    }  # fmt: skip
    result = []
    for key, name in names.items():
        value = facts.get(key)
        if value is None or (key in ("left_out", "missing", "unlike") and not value):
            continue
        result.append(named(name, f"{value:,}" if isinstance(value, int) else significant(value)))
    return result


def _show_published(run: Run, what: Measure) -> None:
    rows = run.record.get("published") or []
    with st.expander(_("Published values"), expanded=any(row["model"] in run.models for row in rows)):
        if not any(row["model"] in run.models for row in rows):
            st.caption(_(NO_PRINT))
        if what.name == "seat":
            caption(
                "The published BERT values of SEAT came from a model that was loaded wrongly, so none is shown here."
            )
        if rows:
            heads = [_("model"), _("quantity"), _("value"), _("Source")]
            names = quantity_names()
            cells = [(row["model"], names.get(row["quantity"], row["quantity"]), number(float(row["value"]), ".2f"),
                      row["source"]) for row in rows]  # fmt: skip
            show_html(table(number_columns(heads, (2,)), cells))
