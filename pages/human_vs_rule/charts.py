"""The numbers of the page Human vs. automatic rule, kept until something is added: tiles, charts, tables, method."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.human_vs_rule.people_by_instance import design_of
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.catalogue import QUANTITIES
from evenhand.annotations.quantities.generations import OVERALL
from evenhand.annotations.types import Project
from evenhand.core.charts.misgendering import counted, shares
from evenhand.core.human_vs_rule.apply_rule import CHOICES, NAMES
from evenhand.core.human_vs_rule.compare import Cell, Difference, comparison, repetition
from evenhand.core.human_vs_rule.means_over_contexts import Mean, Weighted
from evenhand.core.language import Count
from evenhand.core.statistics import Estimate, holm
from evenhand.core.statistics.prediction_powered import ALL_THE_SAME, NO_GAIN, Rates
from evenhand.core.text.repetition import Repeated, Variant, signature
from evenhand.core.types import TableRow
from evenhand.pages.ui import results
from evenhand.pages.ui.charts import caption_with_files, colours, range_says, show_chart, show_heatmap
from evenhand.pages.ui.choose import choose, choose_project
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.numbers import DASH, POINTS, interval_or_reason, note_text, percent, with_interval
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.sentences import setting_name
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, inform, named, paragraph, plain, series
from evenhand.pages.ui.visitor import may, own_projects, page_link, remembered

VARIANTS: tuple[Variant, ...] = ("published", "completion")
WEIGHTED = ("agreement", *CHOICES, "extraneous")
BY = ("dataset", "model", "pronoun", "setting")


@dataclass(frozen=True, slots=True)
class PageNumbers:
    """Every number of the page. `cells`: by data set, model, pronoun set and setting; `groups`: without the setting."""

    generations: int
    finished: int
    labels: int
    overall: dict[str, Mean]
    rule_less_people: Estimate
    both: Rates
    kappa: Estimate
    confusion: dict[str, tuple[int, int]]
    cells: list[Cell]
    groups: list[Cell]
    differences: list[Difference]
    weighted: dict[str, Weighted]
    repetition: dict[Variant, dict[tuple[str, ...], Repeated]]
    signature: str
    sampled: bool = False  # whether samples decide which generations count in rates of all


def chosen_project(store: Store) -> Project | None:
    """Ask for a project of generations; if there is none, show what to do and return None."""
    if not any(project.kind == "generations" for project in own_projects(store)):
        inform(
            "There is no project of generations yet. Import model output on the Projects page, then label it.",
            icon=":material/upload_file:",
        )
        page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return None
    return choose_project(store, "generations-project", kind="generations")


def current(store: Store, project: Project) -> PageNumbers:
    """Return the numbers of a project as they are now."""
    active = [person.uid for person in annotators(store, project)]
    page_numbers = remembered((*state(store), *active), _numbers, project)
    if may(store, "see_names", project):
        return page_numbers
    codes = pseudonyms(store, project)
    return replace(page_numbers, differences=[_coded(difference, codes) for difference in page_numbers.differences])


def _coded(difference: Difference, codes: Mapping[str, str]) -> Difference:
    labels = tuple(replace(label, annotator=codes.get(label.annotator, "?")) for label in difference.labels)
    return replace(difference, labels=labels)


def _numbers(store: Store, project: Project) -> PageNumbers:
    items, labels = generations(store, project), labels_of_generations(store, project)
    design = design_of(store, project, items)
    made = comparison(items, labels, design=design)
    return PageNumbers(
        generations=len(items),
        finished=len(made.table),
        labels=len(made.labels),
        overall=made.overall,
        rule_less_people=made.rule_less_people,
        both=made.both,
        kappa=made.kappa,
        confusion=made.confusion,
        cells=made.cells(BY),
        groups=made.cells(BY[:3]),
        differences=made.differences,
        weighted={name: made.weighted(name) for name in WEIGHTED},
        repetition={variant: repetition(items, BY[:3], variant) for variant in VARIANTS},
        sampled=design is not None,
        signature=made.signature,
    )


OFFERED = (
    "agreement", "misgendering", "rule_misgendering", "extraneous", "no_pronoun", "rule_no_pronoun", "plural_they",
)  # fmt: skip


def group_name(dataset: str, model: str, several: bool) -> str:
    """Return the heading of a model, with the data set where there are several."""
    parts = [model or _("model not named"), dataset.upper() if several and dataset != "own" else ""]
    return " · ".join(part for part in parts if part)


def _several(page_numbers: PageNumbers) -> bool:
    return len({cell.key[0] for cell in page_numbers.cells}) > 1


def _pronouns(name: str) -> str:
    return name or _("not named")


def by_cell(page_numbers: PageNumbers) -> None:
    """Show one measure per model, pronoun set and setting, with both errors."""
    name = st.selectbox(_("Measure"), OFFERED, format_func=measure_name, key="measure")
    rows = [_cell_row(page_numbers, cell, name) for cell in page_numbers.cells]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        st.info(note_text(page_numbers.overall[name].estimate.reason))
        return
    says = range_says(measure_name(name), known, percent, "group", "label", "series")
    chart = shares(pd.DataFrame(rows), title=measure_name(name), description=says, say=_, palette=colours())
    show_chart(chart, [{**row, "measure": name} for row in rows], key="cells", says=says)
    st.caption(plain(_about_errors(page_numbers, name)))


def _cell_row(page_numbers: PageNumbers, cell: Any, name: str) -> TableRow:
    dataset, model, pronoun, setting = cell.key
    mean = cell.means[name]
    estimate = mean.estimate
    return {
        "group": group_name(dataset, model, _several(page_numbers)),
        "label": _pronouns(pronoun),
        "series": setting_name(setting) or _("setting not named"),
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "se": estimate.se,
        "published": mean.published,
        "n": mean.rows,
        "contexts": estimate.units,
        "method": estimate.method,
        "note": note_text(estimate.note or estimate.reason),
        "signature": page_numbers.signature,
    }


def _about_errors(page_numbers: PageNumbers, name: str) -> str:
    parts = [
        _(
            "Line: 95% interval over contexts. Pale band: ± the published standard error, which treats"
            " every generation as independent."
        )
    ]
    cells = [cell.means[name].estimate for cell in page_numbers.cells if cell.means[name].value is not None]
    if name == "agreement" and len(cells) > 1:
        overall = page_numbers.overall[name].value or 0.0
        apart = [replace(estimate, value=(estimate.value or 0.0) - overall) for estimate in cells]
        tested = sum(1 for estimate in apart if estimate.se)
        text = _(
            "Expected false positives: {k:.1f} of {m} {m:interval|intervals}. After Holm adjustment, {n}"
            " {n:differs|differ} from the overall share."
        )
        parts.append(text.format(m=Count(tested), k=0.05 * tested, n=Count(sum(holm(apart)))))
    few = min((estimate.units for estimate in cells), default=0)
    if few < 15:
        parts.append(_("Some cells have few contexts (minimum: {few}), so their t intervals are wide.", few=few))
    if few < 2:
        parts.append(_("A point without a line comes from a single context, so its spread cannot be estimated."))
    return paragraph(parts)


def four_labels(page_numbers: PageNumbers) -> None:
    """Draw how often each label was given, per model and pronoun set."""
    several = _several(page_numbers)
    rows: list[TableRow] = [
        {
            "group": group_name(cell.key[0], cell.key[1], several),
            "label": _pronouns(cell.key[2]),
            "choice": choice,
            "count": count,
            "signature": page_numbers.signature,
        }
        for cell in page_numbers.groups
        for choice, count in cell.counts.items()
    ]
    total = Counter[str]()
    for cell in page_numbers.groups:
        total.update(cell.counts)
    counts = series(f"{_(NAMES[choice])} {count:,}" for choice, count in total.items())
    says = _("{n:,} labels: {counts}.", n=sum(total.values()), counts=counts)
    chart = counted(pd.DataFrame(rows), description=says, say=_, palette=colours())
    show_chart(chart, rows, key="labels", says=says)


def confusion(page_numbers: PageNumbers) -> None:
    """Show the stored labels against the rule's two verdicts, as counts of labels."""
    heads = [_(NAMES[choice]) for choice in ("correct", "misgendering")]
    rows: list[TableRow] = [
        {"label": _(NAMES[choice]), "rule": head, "labels": count, "signature": page_numbers.signature}
        for choice, counts in page_numbers.confusion.items()
        for head, count in zip(heads, counts, strict=True)
    ]
    missed = page_numbers.confusion["misgendering"][0]
    alarmed = sum(counts[1] for choice, counts in page_numbers.confusion.items() if choice != "misgendering")
    says = _(
        "The rule misses {missed:,} labels of misgendering and reports misgendering for {alarmed:,} labels without it.",
        missed=missed,
        alarmed=alarmed,
    )
    show_heatmap(
        rows, "rule", "label", "labels", key="confusion", says=says, data=rows, digits=0, width=420,
        domain=(0, max(1, *(count for counts in page_numbers.confusion.values() for count in counts))),
        titles={"label": _("people"), "rule": _("the rule"), "labels": _("labels")},
    )  # fmt: skip


def repeated(page_numbers: PageNumbers) -> None:
    """Draw how repetitive the texts are, per model and pronoun set, in both variants."""
    names: dict[Variant, str] = {
        "published": _("Context and completion, as published"),
        "completion": _("Completion only"),
    }
    variant = choose(_("Text"), names, "repetition-text")
    groups = page_numbers.repetition[variant]
    several = len({key[0] for key in groups}) > 1
    rows: list[TableRow] = [
        {
            "model": group_name(key[0], key[1], several),
            "pronouns": _pronouns(key[2]),
            "mean": rr.mean,
            "std": rr.std,
            "texts": rr.texts,
            "short": rr.short,
            "signature": signature(variant),
        }
        for key, rr in groups.items()
    ]
    known = [rr.mean for rr in groups.values() if rr.mean is not None]
    if not known:
        inform("No text has four tokens or more.")
        return
    short = sum(rr.short for rr in groups.values())
    says = _(
        "Mean repetition from {low:.3f} to {high:.3f}: 0 = no n-gram is repeated for some n from 1 to 4,"
        " 1 = everything is repeated. All generations; population standard deviations are in the file."
    ).format(low=min(known), high=max(known))
    if short:
        text = _("{short} {short:text with fewer than four tokens is|texts with fewer than four tokens are} excluded.")
        says = paragraph((says, text.format(short=Count(short))))
    titles = {"mean": _("mean"), "std": _("standard deviation"), "texts": _("texts"), "model": _("Model")}
    show_heatmap(
        rows, "pronouns", "model", "mean", key="repetition", says=says, data=rows, domain=(0, max(0.05, *known)),
        titles=titles | {"pronouns": _("Pronouns")}, tooltip=("std", "texts", "short"), digits=3,
    )  # fmt: skip


def measure_name(name: str) -> str:
    """Return a measure of the comparison as the visitor reads it."""
    return _(QUANTITIES[OVERALL[name]].name)


def nothing_yet(page_numbers: PageNumbers) -> bool:
    """Say in words why there is nothing to compare, if that is so."""
    if page_numbers.generations == 0:
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
    elif page_numbers.finished == 0:
        inform(
            "No generation is fully labelled yet. The rule's verdicts stay hidden until then so that they do"
            " not influence annotators. Label on the Review page.",
            icon=":material/visibility_off:",
        )
        page_link("review/page.py", label=_("Review"), icon=":material/rate_review:")
    else:
        return False
    return True


MEASURES = ("agreement", "misgendering", "rule_misgendering", "no_pronoun", "rule_no_pronoun", "extraneous")


def say_conclusion(page_numbers: PageNumbers) -> None:
    """Say in one sentence how often people and rule agree, and how much misgendering each finds."""
    rates = [page_numbers.overall[name].value for name in ("agreement", "misgendering", "rule_misgendering")]
    agreed, people, rule = map(percent, rates)
    text = _("Humans and rule agree on {agreed}. Misgendering: {people} by humans, {rule} by the rule.")
    results.show_conclusion(text.format(agreed=agreed, people=people, rule=rule))


def show_measures(page_numbers: PageNumbers) -> None:
    """Show the numbers over all finished generations as a forest plot, and the difference of rule and people."""
    overall = page_numbers.overall
    contexts = overall["agreement"].estimate.units or overall["misgendering"].estimate.units
    says = _(
        "{finished:,} of {all:,} generations are fully labelled: {labels:,} labels, {contexts:,} contexts.",
        finished=page_numbers.finished, all=page_numbers.generations, labels=page_numbers.labels, contexts=contexts,
    )  # fmt: skip
    rows = [results.forest_row(OVERALL[name], overall[name].estimate, n=overall[name].rows) for name in MEASURES]
    kappa = results.forest_row("generations.kappa_with_rule", page_numbers.kappa, n=overall["agreement"].rows)
    results.show_forest([rows[0], kappa, *rows[1:]], key="human-vs-rule", says=says, signature=page_numbers.signature)
    if page_numbers.rule_less_people.value is None:
        return
    with st.expander(_("Rule less humans, against a margin"), icon=":material/straighten:"):
        _rule_less_people(page_numbers)


def _rule_less_people(page_numbers: PageNumbers) -> None:
    margin = margin_box("share", "rule-margin")
    first = _(
        "Misgendering, rule − humans: {difference}.",
        difference=with_interval(page_numbers.rule_less_people, POINTS, level=True),
    )
    st.caption(plain(paragraph((first, difference_says(page_numbers.rule_less_people, margin)))))


def _measures_explained(page_numbers: PageNumbers) -> Iterator[str]:
    """Yield what each measure means, of which generations it is, and both its standard errors."""
    meanings = {
        "agreement": _("How often annotator and rule agree on whether a text misgenders."),
        "misgendering": _("A wrong pronoun anywhere in the text."),
        "no_pronoun": _("No pronoun refers to the person."),
        "extraneous": _("Gendered words that the context does not imply."),
    }
    for name, meaning in meanings.items():
        mean = page_numbers.overall[name]
        if mean.published is not None and mean.estimate.se is not None:
            own, published = percent(mean.estimate.se), percent(mean.published)
            errors = _("Standard error: {own} over contexts, {published} as published.")
            meaning = paragraph((meaning, errors.format(own=own, published=published)))
        yield named(measure_name(name), explained(OVERALL[name], meaning))
    kappa = _("Chance-corrected agreement: 0 = chance level, 1 = perfect.")
    yield named(_("Cohen's kappa with the rule"), explained("generations.kappa_with_rule", kappa))


def weighted_back(page_numbers: PageNumbers) -> None:
    """Show the rates weighted to all generations."""
    one = page_numbers.weighted["misgendering"]
    by_sample = _(
        "{labelled:,} of {all:,} generations are fully labelled. Sampled generations are weighted by inverse"
        " inclusion probability; those labelled before count once each."
    )
    by_strata = _(
        "{labelled:,} of {all:,} generations are fully labelled. Each is weighted to its stratum (model,"
        " pronouns, data set and setting), so that heavily labelled strata do not count more."
    )
    text = by_sample if page_numbers.sampled else by_strata
    st.write(plain(text.format(labelled=one.labelled, all=one.population)))
    rows: list[TableRow] = [
        {
            _("Measure"): measure_name(name),
            _("In the sample"): rate.sample,
            _("All, weighted"): rate.estimate.value,
            _("95% interval"): DASH if rate.estimate.value is None else interval_or_reason(rate.estimate, ".1%"),
            _("Labelled"): rate.labelled,
            _("Strata covered"): rate.covered,
        }
        for name, rate in page_numbers.weighted.items()
    ]
    shares = (_("In the sample"), _("All, weighted"), _("Strata covered"))
    shown = [
        row | dict(zip(shares, map(percent, (rate.sample, rate.estimate.value, rate.covered)), strict=True))
        for row, rate in zip(rows, page_numbers.weighted.values(), strict=True)
    ]
    show_records(shown)
    caption_with_files(
        _coverage(page_numbers), [{**row, "signature": page_numbers.signature} for row in rows], key="weighted-table"
    )
    _with_the_rule(page_numbers.both, one.labelled, sampled=page_numbers.sampled)


def _with_the_rule(rates: Rates, labelled: int, *, sampled: bool) -> None:
    """Show misgendering from the labels of people and the rule's labels of the other generations.

    The text adds how many labelled generations this is worth, or the reason if the rule adds nothing.
    """
    if not rates.weight:
        if rates.both.note in (ALL_THE_SAME, NO_GAIN):
            st.caption(plain(note_text(rates.both.note)))
        return
    text = _("Misgendering, with the rule's verdicts on unlabelled generations: {rate}.")
    parts = [text.format(rate=with_interval(rates.both, ".1%", level=True))]
    if rates.worth is not None:
        text = _("Effective sample size: {worth:,.0f} labelled generations; {labelled:,} are labelled.")
        parts.append(text.format(worth=rates.worth, labelled=labelled))
    if not sampled:
        parts.append(
            _(
                "The rule's error is estimated on the labelled generations and subtracted. This requires them"
                " to be a random sample of all generations."
            )
        )
    st.caption(plain(paragraph(parts)))


def _coverage(page_numbers: PageNumbers) -> str:
    one = page_numbers.weighted["misgendering"]
    parts = [_("Intervals over contexts, without finite-population correction.")]
    if one.covered < 1:
        text = _("{share} of the generations are in strata without labels; the rates do not cover them.")
        parts.append(text.format(share=percent(1 - one.covered)))
    if one.thin:
        text = _("{thin} of {strata} strata have a single labelled generation.")
        parts.append(text.format(thin=one.thin, strata=one.strata))
    note = one.estimate.note
    return paragraph([*parts, note_text(note)] if note else parts)


def show_method(page_numbers: PageNumbers) -> None:
    """Show how the numbers were computed and what they mean, folded, with the signature."""
    text = _(
        "Computed from each annotator's last label before any opinion was shown; every fully labelled"
        " generation counts once. 95% intervals: jackknife t over contexts; for kappa, a Bayesian"
        " bootstrap over contexts. Coverage in simulations: docs/coverage.md."
    )
    results.show_method(text, *_measures_explained(page_numbers), signature=page_numbers.signature)
