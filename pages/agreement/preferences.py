"""Comparisons of two texts: which model is preferred, how sure that is, and what else decided (ties, the left side)."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from evenhand.annotations.agreement.preferences import ModelPreferences, preferences
from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import judges, state_of_judges
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.bradley_terry import FEWEST_ANNOTATORS, Preferences, chance_of
from evenhand.core.types import TableRow
from evenhand.pages.ui import numbers
from evenhand.pages.ui.charts import caption_with_files, show_heatmap
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, named, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import asks, remembered

PEOPLE = ""


@asks("see_all_labels")
def show_preferences(store: Store, project: Project) -> None:
    """Show the preferences between models from the labels of people or of one judge."""
    labelled = {
        str(stored_judge.id): stored_judge.name for stored_judge in judges(store, project) if stored_judge.labels
    }
    who = PEOPLE
    if labelled:
        who = choose(_("Labels of"), {PEOPLE: _("People"), **{k: plain(v) for k, v in labelled.items()}}, "preferred")
    changing = (*state(store), *state_of_judges(store))
    without = tuple(st.session_state.get("preferences-without", ()))
    judge = int(who) if who else None
    made = remembered(changing, preferences, project, judge=judge, without=without)
    everyone = sorted({*made.comparisons.models, *without})
    if len(everyone) > 2:
        st.multiselect(_("Exclude models"), everyone, key="preferences-without", placeholder=_("None"))
    text = _("{labels} labels on {items} comparisons in {contexts} contexts.")
    values = {"labels": made.labels, "items": made.items, "contexts": made.contexts}
    said = [text.format(**{name: f"{n:,}" for name, n in values.items()})]
    if made.left_out:
        text = _("{n} labels are excluded: a model is excluded or not named, or both texts are by the same model.")
        said.append(text.format(n=f"{made.left_out:,}"))
    st.markdown(plain(paragraph(said)))
    strengths = made.found
    if strengths.reason is not None:
        st.info(plain(numbers.note_text(strengths.reason)), icon=":material/balance:")
    if made.labels:
        _strengths(made)
    if strengths.reason is None:
        _against_each_other(strengths)
        for line in _what_else(strengths):
            st.markdown(plain(line))
    if made.offered and made.labels:
        _by_group(project, changing, judge, without, made)
    show_signature(strengths.signature)


def place(ranks: tuple[int, int]) -> str:
    """Return the places that are possible: 2, or 1 to 3."""
    return str(ranks[0]) if ranks[0] == ranks[1] else numbers.to(*map(str, ranks))


def _strengths(made: ModelPreferences) -> None:
    strengths = made.found
    rows = sorted(
        zip(strengths.models, strengths.strengths, strengths.ranks, made.counts, strict=True),
        key=lambda row: (-(row[1].value or 0.0), -row[3][1] / max(1, row[3][0])),
    )
    show_records(
        [
            {
                _("Model"): name,
                _("Strength"): numbers.with_interval(one, "+z.2f"),
                _("Rank"): numbers.DASH if one.value is None else place(ranks),
                _("Compared"): f"{compared:,}",
                _("Preferred"): numbers.percent(preferred / compared),
                _("Tie"): numbers.percent(tied / compared),
            }
            for name, one, ranks, (compared, preferred, tied) in rows
        ]
    )
    table = [
        {"model": name, **numbers.estimate_columns("strength", one), "best_place": ranks[0], "worst_place": ranks[1],
         "compared": compared, "preferred": preferred, "tied": tied, "signature": strengths.signature}
        for name, one, ranks, (compared, preferred, tied) in rows
    ]  # fmt: skip
    caption_with_files(_method(made), table, key="preferences")


def _method(made: ModelPreferences) -> str:
    """Return how the numbers were made, worded for a method section."""
    if made.found.reason is not None:
        return ""
    strengths = _(
        "Strength: Bradley–Terry model with Davidson ties; natural log scale with sum 0, so a difference of 1 means"
        " odds of 2.7 to 1. Rank: the ranks compatible with the Holm-adjusted differences."
    )
    over = _("Intervals are over contexts and annotators.")
    if made.annotators < FEWEST_ANNOTATORS:
        over = _("Intervals are over contexts and hold for these annotators only; others may differ.")
    return paragraph([strengths, numbers.methods_text(made.found.strengths), over])


def _against_each_other(strengths: Preferences) -> None:
    order = sorted(range(len(strengths.models)), key=lambda at: -(strengths.strengths[at].value or 0.0))
    stays = {frozenset((difference.one, difference.other)): difference.stays for difference in strengths.differences}
    rows: list[TableRow] = []
    for number in order:
        for other in order:
            chance = Estimate(None) if number == other else chance_of(strengths.difference(number, other))
            ends = {"low": chance.low, "high": chance.high}
            rows.append(
                {"model": strengths.models[number], "other": strengths.models[other], "preferred": chance.value, **ends,
                 "interval": "" if number == other else numbers.interval_or_reason(chance, ".0%"),
                 "differs": stays.get(frozenset((number, other)), False)}
            )  # fmt: skip
    says = _(
        "Estimated probability that the row model is preferred to the column model, given no tie, with 95% intervals."
        " An asterisk marks differences that remain significant after Holm's adjustment."
    )
    table = [{**row, "signature": strengths.signature} for row in rows if row["model"] != row["other"]]
    titles = {
        "model": _("Model"),
        "other": _("preferred to"),
        "preferred": _("probability"),
        "interval": _("95% interval"),
    }
    show_heatmap(
        rows, "other", "model", "preferred", key="preferred-to", says=says, data=table, domain=(0, 1), titles=titles,
        tooltip=("interval",), mark="differs", interval=("low", "high"),
    )  # fmt: skip


def _what_else(strengths: Preferences) -> list[str]:
    """Return sentences about the left side, ties, and the transitivity of preferences."""
    said = [
        named(_("Preference for left, equal texts"), _estimate(strengths.left)),
        named(_("Ties, equal models"), _estimate(strengths.tie)),
    ]
    fit = strengths.fit
    if fit.p is None:
        said.append(named(_("Transitivity of preferences"), numbers.note_text(fit.reason)))
    elif fit.p < 0.05:
        text = _(
            "Preferences are not transitive (p {p}): one strength per model does not fit. Compare models pair by pair."
        )
        said.append(text.format(p=f"= {fit.p:.3f}" if fit.p >= 0.001 else "< 0.001"))
    else:
        said.append(_("No evidence against transitivity (p = {p}).", p=f"{fit.p:.3f}"))
    return said


def _estimate(estimate: Estimate) -> str:
    return numbers.note_text(estimate.reason) if estimate.value is None else numbers.with_interval(estimate, ".1%")


def _by_group(
    project: Project, changing: tuple[str, ...], judge: int | None, without: tuple[str, ...], made: ModelPreferences
) -> None:
    st.header(_("Within groups"))
    names = {"dataset": _("Data set"), "pronoun": _("Pronouns"), "setting": _("Setting")}
    by = choose(_("Group by"), {name: names[name] for name in made.offered}, "preferences-by")
    groups = remembered(changing, preferences, project, judge=judge, by=by, without=without).groups
    strengths = dict(zip(made.found.models, (strength.value or 0.0 for strength in made.found.strengths), strict=True))
    models = sorted(made.comparisons.models, key=lambda name: -strengths[name])
    show_records([{_("Model"): name, **{value or numbers.DASH: _in(group, name) for value, group in groups.items()}}
                  for name in models])  # fmt: skip
    reasons = [
        named(value or numbers.DASH, numbers.note_text(group.reason)) for value, group in groups.items() if group.reason
    ]
    text = _("Strengths within each group sum to 0 there, so compare differences between models, not columns.")
    caption_with_files(paragraph([text, *reasons]), _rows(by, groups.items()), key="preferences-by-group")


def _in(strengths: Preferences, name: str) -> str:
    if strengths.reason is not None or name not in strengths.models:
        return numbers.DASH
    return numbers.with_interval(strengths.strengths[strengths.models.index(name)], "+z.2f")


def _rows(by: str, groups: Any) -> Sequence[TableRow]:
    return [
        {by: value, "model": name, **numbers.estimate_columns("strength", strength), "signature": found.signature}
        for value, found in groups
        for name, strength in zip(found.models, found.strengths, strict=True)
    ]
