"""Where annotators differ on the page Agreement: sentences with their labels, models of annotators, groups."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.annotator_models import AnnotatorModels, ModelledItem, annotator_models
from evenhand.annotations.agreement.disagreements import (
    ItemText,
    finished_items,
    item_texts,
    record_reveals,
)
from evenhand.annotations.agreement.groups import FEWEST_ON_ITEM, GroupDifferences, OpinionItem, group_differences
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.merged_labels import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.consent import Grouping, add_grouping, groupings, groups_of
from evenhand.annotations.projects.projects import guideline
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Annotator, Choice, Project
from evenhand.core.statistics import holm
from evenhand.core.statistics.annotator_models import FEWEST_LABELS
from evenhand.core.statistics.intervals import FEWEST_PEOPLE
from evenhand.pages.agreement.scope import points
from evenhand.pages.ui.charts import caption_with_files, downloads, foot
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.numbers import estimate_columns, note_text, number, percent
from evenhand.pages.ui.results import show_item_links
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, with_keyword
from evenhand.pages.ui.tables import page_of, show_html, show_pages, show_records
from evenhand.pages.ui.text import _, caption, clauses, inform, named, paragraph, plain, series, show_signature, warn
from evenhand.pages.ui.visitor import asks, errors_shown, may, remembered

PAGE = 10
Listed = TypeVar("Listed", ModelledItem, OpinionItem)


def list_items(
    store: Store, project: Project, reader: Annotator | None, listed: Sequence[Listed],
    card: Callable[[Listed, ItemText], Markup], *, key: str, rows: Sequence[Mapping[str, object]],
) -> None:  # fmt: skip
    """Show fully labelled items ten at a time, as *card* draws each with its text; *rows*: all of them for a file."""
    shown = page_of(listed, f"{key}-page", PAGE)
    texts = item_texts(store, [opinion_item.row for opinion_item in shown])
    if reader is not None:
        record_reveals(store, reader, texts)
    for opinion_item, text in zip(shown, texts, strict=True):
        show_html(card(opinion_item, text))
        show_item_links(project, text.item, text.text)
    with foot():
        caption("{n:,} items", n=len(listed))
        show_pages(len(listed), f"{key}-page", PAGE)
        downloads(rows, key=f"{key}-items")


def show_annotator_models(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """Show what the models estimate about annotators and, to visitors who may see labels, about items."""
    changing = (*state(store), str(guideline(store, project).version))
    with st.spinner(_("Comparing the labels …"), show_time=False):
        models = remembered(changing, annotator_models, project, way=way, on=report.on, version=report.version)
    caption(
        "Two models estimate, from at least {fewest} labels per item, how reliable each annotator is and which choice"
        " is probably correct. They are shown next to the majority vote and never determine a gold label.",
        fewest=FEWEST_LABELS,
    )
    if models.reason is not None:
        st.info(plain(note_text(models.reason)), icon=":material/group:")
        return
    if not models.settled:
        warn("A model did not converge; its estimates are provisional.", icon=":material/warning:")
    st.markdown(plain(_counts(models)))
    codes = {} if may(store, "see_names", project) else pseudonyms(store, project)
    names = [codes.get(annotator.name, annotator.name) for annotator in models.annotators]
    show_records(
        [
            {
                _("Annotator"): name,
                _("Labels"): f"{annotator.labels:,}",
                _("Accuracy (Dawid-Skene)"): percent(annotator.right),
                _("Competence (MACE)"): percent(annotator.competence),
            }
            for name, annotator in zip(names, models.annotators, strict=True)
        ]
    )
    text = _(
        "Accuracy: the share of an annotator's labels that Dawid-Skene expects to be correct. Competence: the share"
        " that MACE attributes to the item rather than to habit. Where many annotators share an error, or some hold a"
        " minority view, both models treat the majority as correct."
    )
    rows = [_person(name, annotator, models) for name, annotator in zip(names, models.annotators, strict=True)]
    caption_with_files(text, rows, key="annotator-models-people")
    if may(store, "see_all_labels", project):
        st.header(_("Where a model and the vote differ"))
        modelled_items(store, project, models)
    show_signature(models.signature)


def _counts(models: AnnotatorModels) -> str:
    with_enough = _("{items} items with {fewest} labels or more; {fewer} with fewer are left out.")
    values = {"items": f"{len(models.items):,}", "fewest": FEWEST_LABELS, "fewer": f"{models.fewer:,}"}
    against = _("Dawid-Skene differs from the vote on {skill} items, MACE on {habit}; the vote is tied on {tied}.")
    counts = {"skill": models.against_vote("dawid_skene"), "habit": models.against_vote("mace"), "tied": models.tied}
    return paragraph((with_enough.format(**values), against.format(**{k: f"{n:,}" for k, n in counts.items()})))


def _person(name: str, one: Any, models: AnnotatorModels) -> dict[str, object]:
    row: dict[str, object] = {
        "annotator": name, "labels": one.labels, "right": one.right, "competence": one.competence,
    }  # fmt: skip
    for truth, errors in zip(models.choices, one.errors, strict=True):
        for place, choice in enumerate(models.choices):
            row[f"{choice.code}_of_{truth.code}"] = None if errors is None else errors[place]
    return row | {"signature": models.signature}


@asks("see_all_labels")
def modelled_items(store: Store, project: Project, models: AnnotatorModels) -> None:
    """Show the fully labelled items on which a model says something else than the vote, ten at a time."""
    reader = annotator_at_desk(store, project)
    differ = [item for item in models.items if item.differs]
    open_to = finished_items(store, project, [modelled_item.row for modelled_item in differ], reader)
    listed = [modelled_item for modelled_item in differ if modelled_item.row in open_to]
    if not listed:
        inform("The vote and both models agree on all fully labelled items.", icon=":material/check:")
        return
    rows = [
        {
            "item": open_to[modelled_item.row],
            **{f"votes_{choice.code}": n for choice, n in zip(models.choices, modelled_item.votes, strict=True)},
            "vote": _code(models, modelled_item.vote),
            "dawid_skene": _code(models, modelled_item.dawid_skene),
            "dawid_skene_probability": modelled_item.dawid_skene_probability,
            "mace": _code(models, modelled_item.mace),
            "mace_probability": modelled_item.mace_probability,
            "signature": models.signature,
        }
        for modelled_item in listed
    ]
    list_items(
        store, project, reader, listed, lambda one, text: _model_card(one, text, models), key="annotator-models",
        rows=rows,
    )  # fmt: skip


def _model_card(modelled_item: ModelledItem, text: ItemText, models: AnnotatorModels) -> Markup:
    names = {choice.code: choice_name(choice) for choice in models.choices}
    names[""] = _("tied")
    votes = [named(choice_name(choice), n) for choice, n in zip(models.choices, modelled_item.votes, strict=True) if n]
    said = [
        judgement(_("Vote"), _code(models, modelled_item.vote), names, votes),
        judgement(
            "Dawid-Skene", _code(models, modelled_item.dawid_skene), names, _sure(modelled_item.dawid_skene_probability)
        ),
        judgement("MACE", _code(models, modelled_item.mace), names, _sure(modelled_item.mace_probability)),
    ]
    return item_card(text.item, with_keyword(text.text, text.word, text.side), said, context=text.context or "")


def _sure(share: float) -> list[str]:
    return [named(_("probability"), percent(share))]


def _code(models: AnnotatorModels, place: int | None) -> str:
    return "" if place is None else models.choices[place].code


def show_groups(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """Show the shares of two groups, and the items on which they differ; for leads, a form for another grouping."""
    caption(
        "Do groups of annotators, such as speakers of different dialects, label differently? Only groups of at least"
        " {fewest} people are shown, to protect their identity. Annotators choose their group on My record.",
        fewest=FEWEST_PEOPLE,
    )
    known = groupings(store, project)
    if known:
        chosen = st.selectbox(_("Group annotators by"), known, format_func=lambda one: one.name, key="grouping")
        _compared(store, project, report, way, chosen)
    else:
        inform("The annotators of this project are not grouped.", icon=":material/groups:")
    if may(store, "change_projects", project):
        with st.expander(_("Add a grouping"), icon=":material/add:"):
            new_grouping(store, project)


@asks("change_projects")
def new_grouping(store: Store, project: Project) -> None:
    """Show a form: by what annotators are grouped, and the groups to choose from."""
    with st.form("new-grouping", border=False, clear_on_submit=True):
        name = st.text_input(_("Grouped by (for example: dialect)"), key="grouping-name", max_chars=80)
        groups = st.text_area(_("Groups, one per line"), key="grouping-groups", height=120)
        if st.form_submit_button(_("Add"), icon=":material/add:", key="grouping-add"):
            with errors_shown():
                add_grouping(store, project, name, [line for line in groups.splitlines() if line.strip()])
                st.rerun()


def _compared(store: Store, project: Project, report: AgreementReport, way: Way, of: Grouping) -> None:
    inside = map(str, sorted(groups_of(store, of).items()))
    changing = (*state(store), str(guideline(store, project).version), *inside)

    def compared(pair: tuple[str, str] | None) -> GroupDifferences:
        return remembered(changing, group_differences, project, of, pair, way=way, version=report.version, on=report.on)

    differences = compared(None)
    if differences.small:
        caption(
            "Groups not shown because fewer than {fewest} people labelled: {n}.",
            fewest=FEWEST_PEOPLE,
            n=differences.small,
        )
    if differences.reason is not None:
        st.info(plain(note_text(differences.reason)), icon=":material/groups:")
        return
    names = [group.name for group in differences.groups]
    if len(names) > 2:
        with st.container(horizontal=True):
            first = st.selectbox(_("First group"), names, key="group-first")
            second = st.selectbox(_("Second group"), [name for name in names if name != first], key="group-second")
        differences = compared((first, second))
    people = _("{group}: {people} people, {labels} labels")
    shown = [group for group in differences.groups if differences.pair and group.name in differences.pair]
    each = (people.format(group=group.name, people=group.people, labels=f"{group.labels:,}") for group in shown)
    st.markdown(plain(clauses(each)))
    _shares(differences)
    if may(store, "see_all_labels", project):
        st.header(_("Possible differences of opinion"))
        opinion_items(store, project, differences, report.choices)
    show_signature(differences.signature)


def _shares(differences: GroupDifferences) -> None:
    assert differences.pair is not None
    stays = holm([choice.difference for choice in differences.choices])
    first, second = differences.pair
    show_records(
        [
            {
                _("Category"): choice_name(choice.choice),
                _("Share, {group}", group=first): percent(choice.first),
                _("Share, {group}", group=second): percent(choice.second),
                _("Difference"): points(choice.difference) + (" *" if differs else ""),
            }
            for choice, differs in zip(differences.choices, stays, strict=True)
        ]
    )
    text = _(
        "{first} − {second} in percentage points, with 95% intervals over annotators and items; an asterisk marks"
        " differences that remain significant after Holm's adjustment. Groups are not assigned at random, so they may"
        " differ in other respects."
    )
    rows = [
        {"choice": choice.choice.code, "first": choice.first, "second": choice.second, "first_group": first,
         "second_group": second, **estimate_columns("difference", choice.difference),
         "signature": differences.signature}
        for choice in differences.choices
    ]  # fmt: skip
    caption_with_files(text.format(first=first, second=second), rows, key="group-shares")


@asks("see_all_labels")
def opinion_items(store: Store, project: Project, found: GroupDifferences, choices: tuple[Choice, ...]) -> None:
    """Show the fully labelled items, the surest difference first, ten at a time."""
    reader = annotator_at_desk(store, project)
    readable = finished_items(store, project, [item.row for item in found.items], reader)
    listed = [item for item in found.items if item.row in readable and item.apart > 0]
    tested = _(
        "{items} items have at least {fewest} labels from each group; on {n} the groups differ beyond chance (exact"
        " test, Holm-adjusted over all items)."
    )
    about = _(
        "On the items below the groups may hold different opinions. They are not mistakes, and neither group is right."
        " With few labels per item, few differences can be distinguished from chance."
    )
    count = tested.format(items=f"{len(found.items):,}", fewest=FEWEST_ON_ITEM, n=f"{found.differing:,}")
    st.markdown(plain(paragraph((about, count))))
    if not listed:
        inform("The two groups do not differ on any fully labelled item.", icon=":material/check:")
        return
    assert found.pair is not None
    rows = [
        {
            "item": readable[opinion_item.row],
            **{f"first_{choice.code}": n for choice, n in zip(choices, opinion_item.first, strict=True)},
            **{f"second_{choice.code}": n for choice, n in zip(choices, opinion_item.second, strict=True)},
            "first_group": found.pair[0],
            "second_group": found.pair[1],
            "apart": opinion_item.apart,
            "p": opinion_item.p,
            "adjusted": opinion_item.adjusted,
            "signature": found.signature,
        }
        for opinion_item in listed
    ]
    list_items(
        store, project, reader, listed, lambda one, text: _opinion_card(one, text, found, choices), key="group-items",
        rows=rows,
    )  # fmt: skip


def _opinion_card(
    opinion_item: OpinionItem, text: ItemText, differences: GroupDifferences, choices: tuple[Choice, ...]
) -> Markup:
    assert differences.pair is not None
    said = []
    for name, counts in zip(differences.pair, (opinion_item.first, opinion_item.second), strict=True):
        most = [choice for choice, n in zip(choices, counts, strict=True) if n == max(counts)]
        given = [named(choice_name(choice), n) for choice, n in zip(choices, counts, strict=True) if n]
        code = most[0].code if len(most) == 1 else ""
        names = {choice.code: choice_name(choice) for choice in choices} | {"": _("tied")}
        said.append(judgement(name, code, names, given))
    return item_card(
        text.item,
        with_keyword(text.text, text.word, text.side),
        said,
        context=text.context or "",
        about=_about(opinion_item),
    )


def _about(opinion_item: OpinionItem) -> str:
    if opinion_item.p is None or opinion_item.adjusted is None:
        return _("too many labels for the exact test")
    parts = [named("p", _p(opinion_item.p)), named(_("adjusted"), _p(opinion_item.adjusted))]
    return series([*parts, *([_("differs beyond chance")] if opinion_item.differs else [])])


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else number(p, ".3f")
