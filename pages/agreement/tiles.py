"""What the page Agreement shows beside its charts: tiles, categories, two annotators, the signature."""

from typing import Any

import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport, Measures, agreement
from evenhand.annotations.agreement.schemes import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.articles import only_files
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.projects import guideline
from evenhand.annotations.projects.steps import latest, state
from evenhand.annotations.types import Project
from evenhand.pages.agreement.charts import confusion, each_two, traced
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.head import remembered
from evenhand.pages.ui.numbers import interval_or_reason, note_text, percent, with_brackets
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.tables import Tile, estimate_tile, show_tiles
from evenhand.pages.ui.text import _, clause, inform, paragraph, plain, show_signature

SHOWN = 10  # annotators in the heatmap before somebody chooses others


def current_report(
    store: Store, chosen: Project, way: Way = "four", on: ItemScope = "all", version: int | None = None
) -> AgreementReport:
    """The report of a project, recomputed after a new label, item or guideline."""
    changing = (*state(store), str(guideline(store, chosen).version))
    return remembered(changing, agreement, chosen, way=way, on=on, version=version)


def nothing_yet(report: AgreementReport) -> bool:
    """Whether there is nothing to compare; then it shows why."""
    if report.on == "share" and report.items == 0 and report.version is None:
        st.info(plain(note_text(report.overall.unanimity.reason)), icon=":material/casino:")
    elif report.all_items == 0:
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
    elif report.labels == 0:
        inform("Nobody has labelled an item yet. Start on the Review page.", icon=":material/rate_review:")
    elif report.overall.unanimity.value is None:
        inform("No item has labels by two annotators yet; agreement needs a second label.", icon=":material/group:")
    else:
        return False
    return True


def tiles(report: AgreementReport) -> None:
    """How much was labelled, and the measures of all annotators together, each with what it means."""
    found = report.overall
    agreed = round((found.unanimity.value or 0) * found.unanimity.units)
    where = _("of {all:,} in the project; {labels:,} labels by {people} annotators")
    if report.on == "share":
        where = _("of {all:,} in the random share; {labels:,} labels by {people} annotators")
    where = where.format(all=report.all_items, labels=report.labels, people=len(report.annotators))
    same = _(
        "On {k} of {n} items with at least two blind labels, everybody chose the same.",
        k=agreed,
        n=found.unanimity.units,
    )
    often = _("How often two annotators of an item, drawn at random, chose the same.")
    beyond = _(
        "Agreement beyond chance, as a share of what is possible: 0 is chance, 1 is complete. Computed"
        " on {n} items with equally many labels.",
        n=found.fleiss.units,
    )
    missing = _("Agreement beyond chance that also uses items with missing labels: {n} items.", n=found.alpha.units)
    rare = _(
        "Chance agreement is estimated differently, so that rare categories lower the value less. This"
        " is not a corrected kappa."
    )
    show_tiles(
        [
            Tile(_("Items with a label"), f"{report.items:,}", (where,)),
            estimate_tile(_("Full agreement"), found.unanimity, same, "z.1%"),
            estimate_tile(_("Pairwise agreement"), found.pairwise, often, "z.1%"),
            estimate_tile(_("Fleiss' kappa"), found.fleiss, beyond),
            estimate_tile(_("Krippendorff's alpha"), found.alpha, missing),
            estimate_tile(_("Gwet's AC1"), found.ac1, paragraph((rare, _ac1_categories(found)))),
        ]
    )


def _ac1_categories(found: Measures) -> str:
    """Over how many categories AC1 is, and its value over those that were used."""
    says = _("{n} items with a label, over the {categories} categories of the scheme.").format(
        n=found.ac1.units, categories=found.categories.scheme
    )
    if found.categories.used in (0, found.categories.scheme):
        return says
    value = with_brackets(found.ac1_used, "z.2f")
    text = _("Over the categories that were used ({used} of {all}): {value}.")
    return paragraph((says, text.format(used=found.categories.used, all=found.categories.scheme, value=value)))


def categories(report: AgreementReport) -> None:
    """Each category: how common it is, and how often a second annotator chose it where one did."""
    rows: list[dict[str, Any]] = [
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
    names = (_("Prevalence"), _("Specific agreement"))
    shown = [row | {name: percent(row[name]) for name in names} for row in rows]
    st.dataframe(shown, hide_index=True, key="categories")
    text = _(
        "Specific agreement: when one annotator chose this category, how often another annotator of"
        " the same item did too."
    )
    caption_with_files(text, traced(rows, report), key="categories-table")


def annotators_in_twos(report: AgreementReport) -> None:
    """Kappa of each two annotators; with many annotators, of those who are chosen."""
    names = list(report.annotators)
    if len(names) > SHOWN:
        names = st.multiselect(_("Annotators"), names, default=names[:SHOWN], key="annotators")
    if len(names) < 2:
        inform("Choose at least two annotators.")
        return
    each_two(report, names)


def two_annotators(report: AgreementReport) -> None:
    """The confusion matrix of two annotators, their kappa, and the largest one that their margins allow."""
    with st.container(horizontal=True):
        a = st.selectbox(_("In the rows"), report.annotators, key="confusion-a")
        b = st.selectbox(_("In the columns"), [name for name in report.annotators if name != a], key="confusion-b")
    two = report.two(a, b) if a and b else None
    if two is None:
        inform("These two annotators have no labelled item in common yet.")
        return
    confusion(two, report)
    if two.kappa.value is None or two.largest.value is None:
        st.caption(plain(note_text(two.kappa.reason)))
        return
    text = _("Cohen's kappa {kappa} ({interval}). Maximum given their marginals: {largest}.")
    kappa, largest = (f"{one.value:z.2f}".replace("-", "−") for one in (two.kappa, two.largest))
    st.caption(plain(text.format(kappa=kappa, largest=largest, interval=clause(interval_or_reason(two.kappa)))))


def show_method(store: Store, project: Project, report: AgreementReport) -> None:
    """The signature, and its meaning in words."""
    text = _(
        "Computed on all items with a label, kept or not, from each annotator's last label before any"
        " opinion was shown."
    )
    if "unit:context" in report.signature:
        text = _(
            "Computed on all generations with a label, from each annotator's last label before any opinion"
            " was shown. The annotators are treated as fixed: another team may differ by more."
        )
    elif report.on == "share":
        text = _(
            "Computed on the fully labelled items of the random share, kept or not, from each annotator's"
            " last label before any opinion was shown."
        )
    st.caption(plain(text))
    files = remembered(latest(store), only_files, project)
    caveat = [_(files.message).format(**files.values)] if files else []
    st.caption(plain(paragraph([_how_sure(report), *caveat])))
    show_signature(report.signature)


def _how_sure(report: AgreementReport) -> str:
    """How the intervals were made, over what and how many."""
    units = report.overall.pairwise.clusters
    if not units:
        return _(
            "Intervals: 95%. Full agreement: Wilson's, modified for rare counts. Accept rates by form:"
            " Bayesian bootstrap of items; their differences: t on the jackknife over items. All others:"
            " Dirichlet posterior over the patterns of labels that an item can have. Coverage in"
            " simulations: docs/coverage.md, written by make coverage."
        )
    if "unit:context" in report.signature:
        text = _(
            "Intervals: 95%, over {units} contexts with all their labels, since generations of one"
            " context resemble each other: Bayesian bootstrap of contexts, with some weight for label"
            " patterns that were not seen. Fewer than 5 contexts: none. Coverage in simulations:"
            " docs/coverage.md, written by make coverage."
        )
    else:
        text = _(
            "Intervals: 95%, over {units} source articles with all their labels, since sentences of one"
            " article resemble each other: Bayesian bootstrap of articles, with some weight for label"
            " patterns that were not seen; differences between forms: t on the jackknife. Fewer than 5"
            " articles: none. Coverage in simulations: docs/coverage.md, written by make coverage."
        )
    return text.format(units=units)
