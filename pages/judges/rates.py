"""Rates of the project from people alone, the judge alone and both, and differences between models."""

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.estimates import Estimates, ModelDifference, RateCell
from evenhand.annotations.types import Project
from evenhand.core.language import Count, significant
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import Rates
from evenhand.pages.judges.against_people import Found, chosen_judge
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, POINTS, estimate_columns, methods_text, note_text, number
from evenhand.pages.ui.sentences import names_of, setting_name
from evenhand.pages.ui.tables import (
    Tile,
    below,
    estimate_cell,
    estimate_tile,
    number_columns,
    show_html,
    show_tiles,
    table,
)
from evenhand.pages.ui.text import _, caption, paragraph, plain, show_signature


def show_rates(store: Store, project: Project, found: Found) -> None:
    """Show the chosen judge: the rate of all, of each group, and what sets models apart."""
    judge = chosen_judge(found)
    rates = found.estimates[judge.name]
    names = {
        "misgendering": _("Misgendering"),
        "extraneous": _("Extraneous gendered language"),
        "accept": _("Accepted"),
    }
    names = names_of(store, project) | names
    measure = choose(_("Measure"), {name: plain(names[name]) for name in rates.measures}, "judge-measure")
    (overall,) = rates.cells(measure)
    with st.container(key="judge-rates"):
        show_tiles(_tiles(overall), 3)
    st.caption(plain(_about(rates, overall)))
    _groups(rates, measure)
    if project.kind == "generations":
        _differences(rates, measure)
    method = methods_text([overall.rates.people, overall.rates.both])
    st.caption(plain(paragraph(filter(None, (_assumption(rates), method)))))
    show_signature(rates.signature)


def _tiles(cell: RateCell) -> list[Tile]:
    rates = cell.rates
    both = estimate_tile(_("People and judge"), rates.both, _worth(rates, cell.people), "z.1%")
    people = _("{number} fully labelled {number:text|texts}.", number=Count(cell.counted))
    judge = _("{number} {number:text|texts}. Inherits the judge's bias; the interval ignores it.")
    return [
        estimate_tile(_("People alone"), rates.people, people, "z.1%"),
        estimate_tile(_("Judge alone"), rates.judge, judge.format(number=Count(cell.people + cell.further)), "z.1%"),
        both,
    ]


def _worth(rates: Rates, people: int) -> str:
    if not rates.weight or rates.worth is None:
        return ""
    text = _("Effective sample size: {worth} human labels, of which the judge contributes {number}.")
    return text.format(number=f"{max(0.0, rates.worth - people):,.0f}", worth=f"{rates.worth:,.0f}")


def _about(rates: Estimates, cell: RateCell) -> str:
    """Return which texts and labels the rate is of."""
    parts = [_("Share of texts; intervals over contexts."), *map(note_text, rates.basis(cell))]
    if cell.without_judge:
        text = _(
            "{number} fully labelled {number:text has|texts have} no label by the judge and"
            " {number:counts|count} only in the rate by people alone."
        )
        parts.append(text.format(number=Count(cell.without_judge)))
    if rates.samples and cell.rates.effect is not None:
        text = _("Design effect of the rate by people: {effect} (1 = simple random sampling).")
        parts.append(text.format(effect=number(cell.rates.effect)))
    return paragraph(parts)


def _assumption(rates: Estimates) -> str:
    if rates.samples:
        return _(
            "The judge's error is estimated on the labelled items, weighted by inverse inclusion probability,"
            " and subtracted."
        )
    return _(
        "The judge's error is estimated on the texts labelled by people and subtracted; these must be a"
        " random sample of all."
    )


def _groups(rates: Estimates, measure: str) -> None:
    ways = {"model": _("model"), "pronoun": _("pronouns"), "setting": _("setting"), "dataset": _("data set"),
            "language": _("language")}  # fmt: skip
    used = [name for name in ways if rates.table[name].nunique() > 1 or name == "model"]
    st.header(_("By group"))
    by = choose(_("Group by"), {name: ways[name] for name in used}, "judge-rates-by")
    cells = rates.cells(measure, (by,))
    heads = (
        ways[by],
        _("People alone"),
        _("Judge alone"),
        _("People and judge"),
        _("Effective sample size"),
        _("Labelled / judged"),
    )
    rows = [_row(cell) for cell in cells]
    with st.container(key="judge-rates-by-group"):
        show_html(table(number_columns(heads, range(1, 6)), rows, kind="stacked"))
    downloads([_columns(cell, by) for cell in cells], key="judge-rates-table")


def _row(cell: RateCell) -> list[str | Markup]:
    rates = cell.rates
    return [
        setting_name(cell.key[0]) or _("not named"), estimate_cell(rates.people, ".1%", stacked=True),
        estimate_cell(rates.judge, ".1%", stacked=True), _both(rates, ".1%"), number(rates.worth, ",.0f"),
        f"{cell.counted:,} / {cell.people + cell.further:,}",
    ]  # fmt: skip


def _both(rates: Rates, form: str) -> Markup:
    """Return both together; where the judge's labels were not used, why."""
    cell = estimate_cell(rates.both, form, stacked=True)
    note = note_text(rates.both.note) if rates.weight == 0 and rates.both.low is not None else ""
    return Markup("{}{}").format(cell, below(note))


def _columns(cell: RateCell, by: str) -> dict[str, object]:
    rates = cell.rates
    return {
        by: cell.key[0], **estimate_columns("people", rates.people), **estimate_columns("judge", rates.judge),
        **estimate_columns("both", rates.both), "lambda": rates.weight, "worth": rates.worth,
        "design_effect": rates.effect, "labelled": cell.people,
        "further": cell.further, "without_judge": cell.without_judge,
    }  # fmt: skip


def _differences(rates: Estimates, measure: str) -> None:
    model_differences = rates.differences(measure)
    if not model_differences:
        return
    st.header(_("Differences between models"))
    heads = (_("Models"), _("People alone"), _("Judge alone"), _("People and judge"), _("Holm-adjusted"))
    rows = [_difference(model_difference) for model_difference in model_differences]
    with st.container(key="judge-differences"):
        show_html(table(number_columns(heads, (1, 2, 3)), rows, kind="stacked"))
    caption(
        "Paired by contexts. Expected false positives: {chance}.", chance=significant(0.05 * len(model_differences), 2)
    )


def _difference(model_difference: ModelDifference) -> list[str | Markup]:
    def cell(found: Estimate) -> Markup:
        return estimate_cell(found, POINTS, stacked=True)

    models = " − ".join(name or _("model not named") for name in (model_difference.one, model_difference.other))
    stays = _("differs from 0") if model_difference.stays else DASH
    return [
        models,
        cell(model_difference.rates.people),
        cell(model_difference.rates.judge),
        _both(model_difference.rates, POINTS),
        stays,
    ]
