"""What the page Agreement shows of the labels of annotators: the conclusion, charts, categories, the method."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport, TwoAnnotators, agreement
from evenhand.annotations.agreement.merged_labels import Way, mark_agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline, has_own_scheme
from evenhand.annotations.items.provenance import only_files
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.steps import latest, state
from evenhand.annotations.quantities.agreement import measure_id, some_unused
from evenhand.annotations.types import Project
from evenhand.core.charts.style import styled
from evenhand.core.statistics import Estimate, holm
from evenhand.core.types import TableRow
from evenhand.pages.agreement.selection import Selection, choose_cell, select_two
from evenhand.pages.ui import results
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart, show_confusion, show_heatmap
from evenhand.pages.ui.numbers import DASH, interval_or_reason, note_text, number, percent
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, clause, clauses, from_to, inform, named, paragraph, plain, series
from evenhand.pages.ui.visitor import remembered


def _numbers(estimate: Estimate) -> TableRow:
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "interval": interval_or_reason(estimate),
    }


def measure_names() -> dict[str, str]:
    """Return the measures of agreement as tables name them."""
    return {
        "unanimity": _("Full agreement"),
        "pairwise": _("Pairwise agreement"),
        "fleiss": "Fleiss κ",
        "alpha": "Krippendorff α",
        "ac1": "Gwet AC1",
    }


def by_chance(stays: list[bool], estimates: list[Estimate]) -> str:
    """Return how many of the intervals exclude 0, by chance and after Holm's adjustment; "" for one interval."""
    tested = sum(1 for e in estimates if e.value is not None and e.se)
    text = _("*: differs from 0 after Holm's adjustment ({n} of {m}; {k:.1f} would by chance without it).")
    return text.format(m=tested, k=0.05 * tested, n=sum(stays)) if tested > 1 else ""


def traced(rows: Iterable[Mapping[str, Any]], report: AgreementReport) -> list[TableRow]:
    """Return the rows for a file, each with the signature of the report, without what only a click needs."""
    kept = ({name: value for name, value in row.items() if name not in ("own", "chosen")} for row in rows)
    return [{**row, "signature": report.signature} for row in kept]


def labels_per_item(report: AgreementReport) -> None:
    """Show the number of items by number of labels as bars."""
    rows = [{"labels": str(n), "items": count} for n, count in sorted(report.by_labels.items())]
    look = colours()
    base = alt.Chart(pd.DataFrame(rows), height=alt.Step(30)).encode(
        y=alt.Y(field="labels", type="nominal", sort=None, title=_("labels"), axis=alt.Axis(ticks=False, domain=False)),
        x=alt.X(field="items", type="quantitative", title=None, axis=None),
        tooltip=[
            alt.Tooltip(field="labels", type="nominal", title=_("labels")),
            alt.Tooltip(field="items", type="quantitative", title=_("items")),
        ],
    )
    bars = base.mark_bar(color=look.neutral, cornerRadiusEnd=4, height=16)
    words = base.mark_text(align="left", dx=6, color=look.ink).encode(text=alt.Text(field="items", format=","))
    some = sum(count for number, count in report.by_labels.items() if number)
    every = sum(number * count for number, count in report.by_labels.items())
    says = _("{items} of {all} items have at least one label; {labels} labels in total.").format(
        items=f"{some:,}", all=f"{report.all_items:,}", labels=f"{every:,}"
    )
    show_chart(styled(alt.layer(bars, words), says, look), traced(rows, report), key="items-by-labels", says=says)


def _domain(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[int, int]:
    """Return from which to which value a heatmap of agreement is coloured."""
    return (-1, 1) if any((row[name] or 0) < 0 for row in rows) else (0, 1)


def _two_row(a: str, b: str, two: TwoAnnotators | None, differs: bool) -> TableRow:
    if two is None:
        reason = _("These two annotators have no labelled item in common yet.")
        return {"a": a, "b": b, "kappa": None, "interval": reason, "items": 0, "largest": None, "differs": False}
    numbers = _numbers(two.kappa)
    largest = None if two.largest.value is None else f"{two.largest.value:.2f}"
    return {
        "a": a, "b": b, "kappa": numbers.pop("value"), **numbers,
        "items": two.items, "largest": largest, "differs": differs,
    }  # fmt: skip


def _kappa_sentence(pairs: list[TwoAnnotators]) -> str:
    known = sorted((two for two in pairs if two.kappa.value is not None), key=lambda two: two.kappa.value or 0)
    if not known:
        return _("No two annotators have used more than one category on the items they share.")
    least, most = known[0], known[-1]
    low, high = ((f"{two.kappa.value:z.2f}".replace("-", "−"), series((two.a, two.b))) for two in (least, most))
    return from_to(_("Pairwise Cohen's kappa"), low, high)


def by_keyword_pair(report: AgreementReport, chosen: str | None, *, opens: bool) -> None:
    """Show the measures for each keyword pair as a heatmap, the *chosen* one outlined; *opens*: a click chooses a
    pair."""
    columns = {field: name for field, name in measure_names().items() if field != "pairwise"}
    rows: list[TableRow] = []
    tested: list[Estimate] = []
    for name, measures in report.by_pair:
        for field, title in columns.items():
            estimate: Estimate = getattr(measures, field)
            row = {"pair": name or _("(no pair)"), "measure": title, **_numbers(estimate), "items": estimate.units}
            row |= {"own": name, "chosen": bool(name) and name == chosen}
            # 0 means chance for the three coefficients, not for the percentage.
            tested.append(estimate if field != "unanimity" else Estimate(None))
            rows.append(row)
    stays = holm(tested)
    for row, differs in zip(rows, stays, strict=True):
        row["differs"] = differs
    text = _(
        "Agreement by keyword pair; pairs with the most items first. Full agreement is of items with at"
        " least two blind labels."
    )
    says = paragraph(filter(None, (text, by_chance(stays, tested))))
    show_heatmap(
        rows, "measure", "pair", "value", key="by-pair", says=says.strip(), data=traced(rows, report),
        domain=_domain(rows, "value"), tooltip=("interval", "items"), mark="differs",
        titles={"interval": _("95% interval"), "items": _("items"), "value": _("value")}, row=34,
        on_click=lambda cell: results.select("pair", None if cell["own"] == chosen else cell["own"]),
        outlined="chosen", click=("own",) if opens else (),
    )  # fmt: skip


def confusion(two: TwoAnnotators, report: AgreementReport, chosen: Selection, *, opens: bool) -> None:
    """Draw the choices of two annotators against each other, as a heatmap of counts; *opens*: a click lists items."""
    codes = [choice.code for choice in report.choices]
    at = "/".join(str(codes.index(code)) for code in chosen.cell) if chosen.cell else None

    def clicked(place: str) -> None:
        cell = "/".join(codes[int(number)] for number in place.split("/"))
        select_two(two.a, two.b)
        results.select("cell", None if place == at else cell)

    names = [choice_name(choice) for choice in report.choices]
    same = sum(row[place] for place, row in enumerate(two.table))
    text = _("{a} and {b} both labelled {n} items and chose the same on {same}.")
    show_confusion(
        two.table, names, "a", "b", key="confusion", says=text.format(a=two.a, b=two.b, n=two.items, same=same),
        titles={"a": two.a, "b": two.b}, signature=report.signature, width=300, chosen=at,
        on_click=clicked if opens else None,
    )  # fmt: skip


def by_model(report: AgreementReport) -> None:
    """Show one measure for each model and pronoun set as a heatmap."""
    names = {
        "pairwise": _("Pairwise agreement"),
        "unanimity": _("Full agreement of items with at least two blind labels"),
        "alpha": _("Krippendorff's alpha"),
        "ac1": _("Gwet's AC1"),
    }
    measure = st.selectbox(_("Measure"), list(names), format_func=names.__getitem__, key="cells-measure")
    estimates: list[Estimate] = [getattr(measures, measure) for _model, _pronoun, measures in report.cells]
    # 0 means chance for the two coefficients, not for the shares.
    tested = estimates if measure in ("alpha", "ac1") else [Estimate(None)] * len(estimates)
    stays = holm(tested)
    rows: list[TableRow] = [
        {
            "model": model or _("model not named"),
            "pronouns": pronoun or _("not named"),
            **_numbers(estimate),
            "items": measures.items,
            "differs": differs,
        }
        for (model, pronoun, measures), estimate, differs in zip(report.cells, estimates, stays, strict=True)
    ]
    says = _("{measure} by model and pronouns; 95% intervals over contexts.", measure=names[measure])
    says = paragraph(filter(None, (says, by_chance(stays, tested))))
    titles = {
        "model": _("Model"), "pronouns": _("Pronouns"), "value": names[measure], "interval": _("95% interval"),
        "items": _("items"),
    }  # fmt: skip
    show_heatmap(
        rows, "pronouns", "model", "value", key="by-model", says=says,
        data=traced([{**row, "measure": measure} for row in rows], report), domain=_domain(rows, "value"),
        titles=titles, tooltip=("interval", "items"), mark="differs", interval=("low", "high"),
    )  # fmt: skip


def marks(store: Store, project: Project, report: AgreementReport) -> None:
    """Show how far two annotators marked the same characters, for wrong pronouns and for gendered words."""
    names = {option.code: choice_name(option) for option in guideline(store, project).options}
    if not has_own_scheme(store, project):
        names = {"pronoun": _("Wrong pronouns"), "extraneous": _("Extraneous gendered words")}
    mark_agreements = remembered(state(store), mark_agreement, project)
    rows = [
        {
            _("Marks"): names[one.kind],
            "F1": one.pooled.value,
            _("95% interval"): interval_or_reason(one.pooled) if one.pooled.value is not None else DASH,
            _("Mean over texts"): one.mean,
            _("Pairs with marks"): one.pairs,
            _("Both marked"): one.both,
            _("Identical"): one.same,
        }
        for one in mark_agreements
    ]
    shown = [
        row | {"F1": number(one.pooled.value, ".3f"), _("Mean over texts"): number(one.mean, ".3f")}
        for row, one in zip(rows, mark_agreements, strict=True)
    ]
    show_records(shown)
    text = _(
        "F1 of the characters marked by two annotators: 0 = no overlap, 1 = identical. Pairs in which"
        " neither marked anything are excluded. Interval over contexts."
    )
    caption_with_files(text, traced(rows, report), key="marks-table")
    for one in mark_agreements:
        if one.pooled.value is None:
            st.caption(plain(named(names[one.kind], note_text(one.pooled.reason))))


SHOWN = 10  # annotators in the heatmap until the visitor chooses others


def current_report(
    store: Store, chosen: Project, way: Way = "four", on: ItemScope = "all", version: int | None = None
) -> AgreementReport:
    """Return the report of a project, recomputed after a new label, item or guideline."""
    changing = (*state(store), str(guideline(store, chosen).version))
    return remembered(changing, agreement, chosen, way=way, on=on, version=version)


def nothing_yet(report: AgreementReport) -> bool:
    """Return whether there is nothing to compare; if so, show why."""
    if report.on == "share" and report.items == 0 and report.version is None:
        st.info(plain(note_text(report.overall.unanimity.reason)), icon=":material/casino:")
    elif report.all_items == 0:
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
    elif report.labels == 0:
        inform("No item has been labelled yet. Start on the Review page.", icon=":material/rate_review:")
    elif report.overall.unanimity.value is None:
        inform("No item has labels by two annotators yet; agreement needs a second label.", icon=":material/group:")
    else:
        return False
    return True


def say_conclusion(report: AgreementReport) -> None:
    """Say in one sentence how often all annotators chose the same, and how far beyond chance they agree."""
    full, alpha = report.overall.unanimity, report.overall.alpha
    text = _("All annotators chose the same on {share} of {n:,} items", share=percent(full.value), n=full.units)
    if alpha.value is None:
        results.show_conclusion(_("{text}.", text=text))
        return
    beyond = _("Krippendorff's alpha {alpha}", alpha=number(alpha.value, "z.2f"))
    results.show_conclusion(_("{text}.", text=clauses((text, beyond))))


def show_measures(report: AgreementReport) -> None:
    """Show the measures of all annotators together as a forest plot: value, interval and number of items."""
    names = measure_names() | ({"ac1_used": _("Gwet AC1, used categories")} if some_unused(report.overall) else {})
    says = _(
        "{items:,} of {all:,} items, {labels:,} labels by {people} annotators.",
        items=report.items, all=report.all_items, labels=report.labels, people=len(report.annotators),
    )  # fmt: skip
    rows = [
        results.forest_row(measure_id(field, report.on), getattr(report.overall, field), name)
        for field, name in names.items()
    ]
    results.show_forest(rows, key="measures", says=says, signature=report.signature)


def measures_explained(report: AgreementReport) -> Iterator[str]:
    """Yield what each measure means, and of which items it is."""
    meanings = {
        "unanimity": _("How often all annotators of an item with at least two blind labels chose the same."),
        "pairwise": _("How often two randomly drawn annotators of an item chose the same."),
        "fleiss": _(
            "Chance-corrected agreement: 0 is chance level, 1 is perfect. Only items with the same number of labels."
        ),
        "alpha": _("Chance-corrected agreement that allows missing labels."),
        "ac1": _(
            "Chance agreement is estimated differently, so that a skewed distribution lowers the value less. This is"
            " not a corrected kappa. Over the {categories} categories of the scheme.",
            categories=report.overall.categories.scheme,
        ),
    }
    for field, meaning in meanings.items():
        id_ = measure_id(field, report.on)
        yield named(measure_names()[field], explained(id_, meaning))


def categories(report: AgreementReport) -> None:
    """Show each category: how common it is, and how often a second annotator chose it where one did."""
    rows: list[TableRow] = [
        {
            _("Category"): choice_name(row.choice),
            _("Labels"): row.labels,
            _("Prevalence"): row.prevalence.value,
            _("Prevalence, 95%"): interval_or_reason(row.prevalence, ".1%"),
            _("Specific agreement"): row.specific.value,
            _("Specific agreement, 95%"): interval_or_reason(row.specific, ".1%"),
        }
        for row in report.categories
    ]
    shown = [
        row | {_("Prevalence"): percent(one.prevalence.value), _("Specific agreement"): percent(one.specific.value)}
        for row, one in zip(rows, report.categories, strict=True)
    ]
    show_records(shown)
    text = _(
        "Specific agreement: when one annotator chose this category, how often another annotator of"
        " the same item did too."
    )
    caption_with_files(text, traced(rows, report), key="categories-table")


def annotators_in_twos(report: AgreementReport, chosen: tuple[str, str] | None) -> None:
    """Show Cohen's kappa of each pair of annotators; above `SHOWN` annotators the visitor chooses which.

    A click compares two of them; the *chosen* two are outlined.
    """
    names = list(report.annotators)
    if len(names) > SHOWN:
        names = st.multiselect(_("Annotators"), names, default=names[:SHOWN], key="annotators")
    if len(names) < 2:
        inform("Choose at least two annotators.")
        return
    found = [(a, b, report.two(a, b)) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs = [two for *_names, two in found if two is not None]
    stays = dict(zip(map(id, pairs), holm([two.kappa for two in pairs]), strict=True))
    rows = [
        _two_row(a, b, two, stays.get(id(two), False)) | {"chosen": {a, b} == {*(chosen or ())}} for a, b, two in found
    ]
    chance = by_chance(list(stays.values()), [two.kappa for two in pairs])
    says = paragraph(filter(None, (_kappa_sentence(pairs), chance)))
    below = paragraph(filter(None, (_("Cohen's kappa of every two annotators."), chance)))
    titles = {
        "kappa": _("Cohen's kappa"), "interval": _("95% interval"), "items": _("items"), "largest": _("maximum"),
    }  # fmt: skip
    show_heatmap(
        rows, "b", "a", "kappa", key="cohen-kappa", says=says, below=below, data=traced(rows, report),
        titles=titles,
        domain=_domain(rows, "kappa"), tooltip=("interval", "items", "largest"), mark="differs", width=300,
        outlined="chosen", click=("a", "b"), on_click=lambda cell: select_two(cell["a"], cell["b"]),
    )  # fmt: skip


def two_annotators(report: AgreementReport, chosen: Selection, *, opens: bool) -> None:
    """Show the confusion matrix of two annotators, their kappa, and the largest one that their margins allow; *opens*:
    its cells open their items."""
    a, b = _chosen_two(report, chosen)
    two = report.two(a, b) if a and b else None
    if two is None:
        inform("These two annotators have no labelled item in common yet.")
        return
    confusion(two, report, chosen, opens=opens)
    if opens:
        choose_cell(report, (a, b))
    if two.kappa.value is None or two.largest.value is None:
        st.caption(plain(note_text(two.kappa.reason)))
        return
    text = _("Cohen's kappa {kappa} ({interval}). Maximum given their marginals: {largest}.")
    kappa, largest = (f"{estimate.value:z.2f}".replace("-", "−") for estimate in (two.kappa, two.largest))
    st.caption(plain(text.format(kappa=kappa, largest=largest, interval=clause(interval_or_reason(two.kappa)))))


def _chosen_two(report: AgreementReport, chosen: Selection) -> tuple[str, str]:
    """Let the visitor choose two annotators, at the start those with most labels; the address keeps the choice."""
    a, b = chosen.two or (*report.annotators[:2], "", "")[:2]
    st.session_state["confusion-a"], st.session_state["confusion-b"] = a, b

    def select_both() -> None:
        first, second = st.session_state["confusion-a"], st.session_state["confusion-b"]
        select_two(first, second if second != first else a)

    with st.container(horizontal=True):
        st.selectbox(_("In the rows"), report.annotators, key="confusion-a", on_change=select_both)
        others = [name for name in report.annotators if name != a]
        st.selectbox(_("In the columns"), others, key="confusion-b", on_change=select_both)
    return a, b


def show_method(store: Store, project: Project, report: AgreementReport) -> None:
    """Show how the numbers were computed: which labels, which intervals, what each measure means, the signature."""
    text = _(
        "Computed on all items with a label, accepted or not, from each annotator's last label before any opinion was"
        " shown."
    )
    if "unit:context" in report.signature:
        text = _(
            "Computed on all generations with a label, from each annotator's last label before any opinion"
            " was shown. The annotators are treated as fixed, so another team may differ by more than the"
            " intervals suggest."
        )
    elif report.on == "share":
        text = _(
            "Computed on the fully labelled items of the random share, accepted or not, from each"
            " annotator's last label before any opinion was shown."
        )
    files = remembered(latest(store), only_files, project)
    caveat = [_(files.message).format(**files.values)] if files else []
    sure = paragraph([_how_sure(report), *caveat])
    results.show_method(text, sure, *measures_explained(report), signature=report.signature)


def _how_sure(report: AgreementReport) -> str:
    """Return how the intervals were made, over which units and over how many."""
    units = report.overall.pairwise.clusters
    if not units:
        return _(
            "95% intervals. Full agreement: Wilson, modified for rare counts. Accept rates by form: Bayesian bootstrap"
            " over items; their differences: jackknife t interval over items. All others: Dirichlet posterior over the"
            " label patterns of an item. Coverage in simulations: docs/coverage.md, written by make coverage."
        )
    if "unit:context" in report.signature:
        text = _(
            "95% intervals: Bayesian bootstrap over {units} contexts with all their labels, because"
            " generations of one context resemble each other; unseen label patterns get some weight. No"
            " interval with fewer than 5 contexts. Coverage in simulations: docs/coverage.md, written by make"
            " coverage."
        )
    else:
        text = _(
            "95% intervals, clustered by source article ({units}), because sentences of one article resemble each"
            " other: Bayesian bootstrap over articles, with some weight for unseen label patterns; differences between"
            " forms: jackknife t interval. With fewer than 5 articles there are no intervals. Coverage in simulations:"
            " docs/coverage.md, written by make coverage."
        )
    return text.format(units=units)
