"""What the page Human vs. automatic rule shows in tiles and tables, and how its numbers were made."""

from typing import Any

import streamlit as st

from evenhand.core.human_vs_rule.means_over_contexts import Mean
from evenhand.core.human_vs_rule.schemes import NAMES
from evenhand.core.report.numbers import percent
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import ALL_THE_SAME, NO_GAIN, Rates
from evenhand.pages.human_vs_rule.source import WEIGHTED, PageNumbers
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, POINTS, interval_or_reason, note_text, with_interval
from evenhand.pages.ui.text import paragraph, plain, show_signature
from evenhand.pages.ui.tiles import estimate_tile, show_tile
from evenhand.pages.ui.visitor import page_link


def measure_name(name: str) -> str:
    """A measure of the comparison as the visitor reads it."""
    own = {
        "agreement": _("Humans and rule agree"),
        "extraneous": _("Extraneous gendered language"),
        "rule_misgendering": _("Misgendering, by the rule"),
        "rule_no_pronoun": _("No pronoun, by the rule"),
        "no_pronoun": _("No pronoun, by people"),
        "misgendering": _("Misgendering, by people"),
        "plural_they": _("Plural they, by people"),
        "correct": _("Correct, by people"),
    }
    return own.get(name) or _(NAMES[name])


def nothing_yet(found: PageNumbers) -> bool:
    """Say in words why there is nothing to compare, if that is so."""
    if found.generations == 0:
        st.info(_("This project has no items yet. Import a file on the Projects page."), icon=":material/upload_file:")
    elif found.finished == 0:
        text = _(
            "No generation is fully labelled yet. The rule's verdict stays hidden until then, so that it"
            " influences nobody. Label on the Review page."
        )
        st.info(text, icon=":material/visibility_off:")
        page_link("review/page.py", label=_("Review"), icon=":material/rate_review:")
    else:
        return False
    return True


def tiles(found: PageNumbers) -> None:
    """The numbers over all finished generations, each with its interval and what it means."""
    first, second, third = st.columns(3)
    with first, st.container(border=True, height="stretch"):
        st.metric(_("Fully labelled generations"), f"{found.finished:,}")
        text = _("of {all:,} in the project; {labels:,} labels; {contexts:,} contexts")
        contexts = found.overall["agreement"].estimate.units or found.overall["misgendering"].estimate.units
        st.caption(plain(text.format(all=found.generations, labels=found.labels, contexts=contexts)))
    with second:
        text = _("How often annotator and rule agree on whether a text misgenders.")
        _tile("agreement", found.overall["agreement"], text)
    with third:
        text = _("Agreement beyond chance: 0 is chance, 1 is complete.")
        show_tile(estimate_tile(_("Cohen's kappa with the rule"), found.kappa, text))
    first, second, third = st.columns(3)
    with first:
        rule = found.overall["rule_misgendering"].value
        text = _("A wrong pronoun anywhere in the text. The rule finds {rule}.").format(rule=percent(rule))
        _tile("misgendering", found.overall["misgendering"], text)
    with second:
        rule = found.overall["rule_no_pronoun"].value
        text = _("No pronoun refers to the person. The rule finds no pronoun at all in {rule}.")
        _tile("no_pronoun", found.overall["no_pronoun"], text.format(rule=percent(rule)))
    with third:
        text = _("Gendered words that the context does not imply.")
        _tile("extraneous", found.overall["extraneous"], text)
    _rule_less_people(found.rule_less_people)


def _rule_less_people(apart: Estimate) -> None:
    """Whether rule and people find the same share of misgendering, against the margin."""
    if apart.value is None:
        return
    margin = margin_box("share", "rule-margin")
    text = _("Misgendering, rule − humans: {difference}.")
    first = text.format(difference=with_interval(apart, POINTS, level=True))
    st.caption(plain(paragraph((first, difference_says(apart, margin)))))


def _tile(name: str, mean: Mean, meaning: str) -> None:
    if mean.published is not None and mean.estimate.se is not None:
        errors = _("Standard error: {own} over contexts, {published} as published.")
        own, published = percent(mean.estimate.se), percent(mean.published)
        meaning = f"{meaning} {errors.format(own=own, published=published)}"
    show_tile(estimate_tile(measure_name(name), mean.estimate, meaning, "z.1%"))


def weighted_back(found: PageNumbers) -> None:
    """Rates of all generations, where only a sample is finished."""
    if found.finished == found.generations:
        return
    st.subheader(_("Weighted to all generations"))
    one = found.weighted["misgendering"]
    by_sample = _(
        "{labelled:,} of {all:,} generations are fully labelled. Those that a sample drew are weighed by inclusion"
        " probability; those labelled before count once each."
    )
    by_strata = _(
        "{labelled:,} of {all:,} generations are fully labelled. Each represents those of its model,"
        " pronouns, data set and setting, so that more heavily labelled strata do not count more."
    )
    text = by_sample if found.sampled else by_strata
    st.write(plain(text.format(labelled=one.labelled, all=one.population)))
    rows: list[dict[str, Any]] = []
    for name in WEIGHTED:
        rate = found.weighted[name]
        rows.append(
            {
                _("Measure"): measure_name(name),
                _("In the sample"): rate.sample,
                _("Of all, weighted"): rate.estimate.value,
                _("95% interval"): interval_or_reason(rate.estimate, ".1%")
                if rate.estimate.value is not None
                else DASH,
                _("Labelled"): rate.labelled,
                _("Strata covered"): rate.covered,
            }
        )
    shares = (_("In the sample"), _("Of all, weighted"), _("Strata covered"))
    columns = dict.fromkeys(shares, st.column_config.TextColumn(alignment="right"))
    shown = [{name: percent(value) if name in shares else value for name, value in row.items()} for row in rows]
    st.dataframe(shown, hide_index=True, key="weighted", column_config=columns)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(plain(_coverage(found)))
        downloads([{**row, "signature": found.signature} for row in rows], key="weighted-table")
    _with_the_rule(found.both, one.labelled, sampled=found.sampled)


def _with_the_rule(rates: Rates, labelled: int, *, sampled: bool) -> None:
    """Misgendering from people's labels and from the rule's of the other generations, and what these are worth: now and
    then less than the labels alone, which is said."""
    if not rates.weight:
        if rates.both.note in (ALL_THE_SAME, NO_GAIN):
            st.caption(plain(note_text(rates.both.note)))
        return
    text = _("Misgendering, with the rule's verdicts on the generations still awaiting labels: {rate}.")
    parts = [text.format(rate=with_interval(rates.both, ".1%", level=True))]
    if rates.worth is not None:
        text = _("As precise as {worth:,.0f} labelled generations alone; {labelled:,} are labelled.")
        parts.append(text.format(worth=rates.worth, labelled=labelled))
    if not sampled:
        parts.append(
            _(
                "The rule's error is estimated on the labelled generations and subtracted. This requires them"
                " to be a random sample of all generations."
            )
        )
    st.caption(plain(paragraph(parts)))


def _coverage(found: PageNumbers) -> str:
    one = found.weighted["misgendering"]
    parts = [_("Intervals over contexts, without a finite population correction.")]
    if one.covered < 1:
        text = _("{share} of the generations are in strata without labels; the rates do not cover them.")
        parts.append(text.format(share=percent(1 - one.covered)))
    if one.thin:
        text = _("{thin} of {strata} strata have a single labelled generation.")
        parts.append(text.format(thin=one.thin, strata=one.strata))
    note = one.estimate.note
    return paragraph([*parts, note_text(note)] if note else parts)


def show_method(found: PageNumbers) -> None:
    """The signature, and in words what it says."""
    text = _(
        "Computed from each annotator's last label before any opinion was shown; every fully labelled"
        " generation counts once. Intervals: 95%, t on the jackknife over contexts; for kappa, a Bayesian"
        " bootstrap of contexts. Coverage in simulations: docs/coverage.md."
    )
    st.caption(plain(text))
    show_signature(found.signature)
