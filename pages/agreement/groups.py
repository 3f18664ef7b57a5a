"""Groups of annotators: do they choose differently, and on which items; such items are candidates for opinion."""

from collections.abc import Mapping

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.agreement.disagreements import ItemText, finished_items
from evenhand.annotations.agreement.groups import FEWEST_ON_ITEM, GroupDifferences, OpinionItem, group_differences
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.schemes import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.consent import Grouping, add_grouping, groupings, groups_of
from evenhand.annotations.projects.projects import guideline
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Choice, Project
from evenhand.core.statistics import holm
from evenhand.core.statistics.intervals import FEWEST_PEOPLE
from evenhand.pages.agreement.disagreements import list_items
from evenhand.pages.agreement.scope import points
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.head import errors_shown, remembered
from evenhand.pages.ui.numbers import estimate_columns, note_text, number, percent
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, with_keyword
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, caption, clauses, inform, named, paragraph, plain, series, show_signature
from evenhand.pages.ui.visitor import may


def show_groups(store: Store, project: Project, report: AgreementReport, way: Way) -> None:
    """The shares of two groups, and the items on which they differ; for leads, a form for another grouping."""
    caption(
        "Do groups of annotators, such as speakers of different dialects, choose differently? Only groups of at least"
        " {fewest} people are shown, so that nobody can be recognised. Annotators choose their group on My record.",
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
    """A form: by what annotators are grouped, and the groups to choose from."""
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

    found = compared(None)
    if found.small:
        caption(
            "Groups with fewer than {fewest} people who labelled, not shown: {n}.", fewest=FEWEST_PEOPLE, n=found.small
        )
    if found.reason is not None:
        st.info(plain(note_text(found.reason)), icon=":material/groups:")
        return
    names = [one.name for one in found.groups]
    if len(names) > 2:
        with st.container(horizontal=True):
            first = st.selectbox(_("First group"), names, key="group-first")
            second = st.selectbox(_("Second group"), [one for one in names if one != first], key="group-second")
        found = compared((first, second))
    people = _("{group}: {people} people, {labels} labels")
    shown = [one for one in found.groups if found.pair and one.name in found.pair]
    each = (people.format(group=one.name, people=one.people, labels=f"{one.labels:,}") for one in shown)
    st.markdown(plain(clauses(each)))
    _shares(found)
    if may(store, "see_all_labels", project):
        st.subheader(_("Candidates for a difference of opinion"))
        opinion_items(store, project, found, report.choices)
    show_signature(found.signature)


def _shares(found: GroupDifferences) -> None:
    assert found.pair is not None
    stays = holm([one.difference for one in found.choices])
    first, second = found.pair
    show_records(
        [
            {
                _("Category"): choice_name(one.choice),
                _("Share, {group}", group=first): percent(one.first),
                _("Share, {group}", group=second): percent(one.second),
                _("Difference"): points(one.difference) + (" *" if differs else ""),
            }
            for one, differs in zip(found.choices, stays, strict=True)
        ]
    )
    text = _(
        "{first} − {second} in percentage points, with 95% intervals over annotators and items; an asterisk marks"
        " differences that remain after Holm's adjustment. Groups are not assigned at random: they may differ in"
        " more than their name."
    )
    rows = [
        {"choice": one.choice.code, "first": one.first, "second": one.second, "first_group": first,
         "second_group": second, **estimate_columns("difference", one.difference), "signature": found.signature}
        for one in found.choices
    ]  # fmt: skip
    caption_with_files(text.format(first=first, second=second), rows, key="group-shares")


@asks("see_all_labels")
def opinion_items(store: Store, project: Project, found: GroupDifferences, choices: tuple[Choice, ...]) -> None:
    """The fully labelled items, the surest difference first, ten at a time."""
    reader = annotator_at_desk(store, project)
    readable = finished_items(store, project, [one.row for one in found.items], reader)
    listed = [one for one in found.items if one.row in readable and one.apart > 0]
    tested = _(
        "{items} items have at least {fewest} labels by each group; on {n} the groups differ beyond chance (exact test,"
        " Holm's adjustment for all of them)."
    )
    about = _(
        "The items below are candidates for a difference of opinion between the groups. They are not mistakes, and no"
        " group is right. With few labels per item, few differences can be told from chance."
    )
    count = tested.format(items=f"{len(found.items):,}", fewest=FEWEST_ON_ITEM, n=f"{found.differing:,}")
    st.markdown(plain(paragraph((about, count))))
    if not listed:
        inform("On no fully labelled item do the two groups differ.", icon=":material/check:")
        return
    rows = _rows(listed, readable, found, choices)
    list_items(store, reader, listed, lambda one, text: _card(one, text, found, choices), key="group-items", rows=rows)


def _card(one: OpinionItem, text: ItemText, found: GroupDifferences, choices: tuple[Choice, ...]) -> Markup:
    assert found.pair is not None
    said = []
    for name, counts in zip(found.pair, (one.first, one.second), strict=True):
        most = [choice for choice, n in zip(choices, counts, strict=True) if n == max(counts)]
        given = [named(choice_name(choice), n) for choice, n in zip(choices, counts, strict=True) if n]
        code = most[0].code if len(most) == 1 else ""
        names = {choice.code: choice_name(choice) for choice in choices} | {"": _("tied")}
        said.append(judgement(name, code, names, given))
    return item_card(
        text.item, with_keyword(text.text, text.word, text.side), said, context=text.context or "", about=_about(one)
    )


def _about(one: OpinionItem) -> str:
    if one.p is None or one.adjusted is None:
        return _("too many labels for the exact test")
    parts = [named("p", _p(one.p)), named(_("adjusted"), _p(one.adjusted))]
    return series([*parts, *([_("differs beyond chance")] if one.differs else [])])


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else number(p, ".3f")


def _rows(
    listed: list[OpinionItem], public: Mapping[int, str], found: GroupDifferences, choices: tuple[Choice, ...]
) -> list[dict[str, object]]:
    """Ids and counts; texts are in the project's own exports."""
    assert found.pair is not None
    return [
        {
            "item": public[one.row],
            **{f"first_{choice.code}": n for choice, n in zip(choices, one.first, strict=True)},
            **{f"second_{choice.code}": n for choice, n in zip(choices, one.second, strict=True)},
            "first_group": found.pair[0], "second_group": found.pair[1],
            "apart": one.apart, "p": one.p, "adjusted": one.adjusted, "signature": found.signature,
        }
        for one in listed
    ]  # fmt: skip
