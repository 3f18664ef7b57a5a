"""Judges side by side: their prompts, how they agree on the same texts; and whether one has changed since it began."""

from difflib import unified_diff

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.against_people import Again, Drift, agreement_difference
from evenhand.annotations.judges.job_kinds import AGAIN, AgainSettings
from evenhand.annotations.judges.judges import Judge
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.language import Count
from evenhand.core.servers.addresses import is_trusted, place_of
from evenhand.pages.judges.source import Found, chosen_judge, judge_label
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import POINTS, interval, moment, percent, with_interval
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, paragraph, plain
from evenhand.pages.ui.visitor import asks, author, show_error

SECOND = 100  # texts that are asked about again


def show_versions(store: Store, project: Project, found: Found) -> None:
    """Two judges side by side, then the drift of one."""
    st.subheader(_("Two judges side by side"))
    if len(found.judges) < 2:
        st.caption(_("There is only one judge. A changed prompt, model or setting makes another."))
    else:
        _side_by_side(found)
    st.subheader(_("Drift"))
    one = chosen_judge(found, "judge-drift")
    _drift(found.drift[one.name])
    if one.spec.kind == "server":
        with st.container(horizontal=True, vertical_alignment="bottom"):
            number = st.number_input(
                _("Number of texts, drawn at random"), 1, None, SECOND, key="judge-again-number", width=200
            )
            if st.button(_("Ask again"), key="judge-again", icon=":material/refresh:"):
                _again(store, project, one, int(number))


def _side_by_side(found: Found) -> None:
    names = {one.name: judge_label(one.name) for one in found.judges}
    left, right = st.columns(2)
    one = found.against[
        left.selectbox(_("First"), list(names), index=0, key="judge-first", format_func=names.__getitem__)
    ]
    other = found.against[
        right.selectbox(_("Second"), list(names), index=1, key="judge-second", format_func=names.__getitem__)
    ]
    heads = ("", names[one.judge.name], names[other.judge.name])
    rows = [
        (_("Model"), *(each.judge.spec.model or _("the pronoun rule") for each in (one, other))),
        (
            _("Server address"),
            *(place_of(each.judge.spec.address) if each.judge.spec.address else "" for each in (one, other)),
        ),
        (_("Guideline"), *(str(each.judge.spec.guideline) for each in (one, other))),
        (
            _("Prompt (SHA-256)"),
            *(str(each.judge.spec.settings.get("prompt_sha256", ""))[:12] for each in (one, other)),
        ),
        (_("Labels"), *(f"{each.judge.labels:,}" for each in (one, other))),
        (_("Agreement with people"), *(with_interval(each.agreement.estimate, ".1%") for each in (one, other))),
        (_("Agreement on the flag"), *(with_interval(each.flags.estimate, ".1%") for each in (one, other))),
    ]
    with st.container(key="judge-versions"):
        show_html(table(heads, rows, kind="text"))
    if one is other:
        return
    apart = agreement_difference(one, other)
    text = _(
        "On the {number} {number:text|texts} labelled by both, the first agrees with people more often by {difference}."
    )
    if apart.value is not None:
        difference = with_interval(apart.estimate, POINTS, level=True)
        st.caption(plain(text.format(number=Count(apart.rows), difference=difference)))
    _changes(one.judge, other.judge)


def _changes(one: Judge, other: Judge) -> None:
    """What differs in the prompts, a line each behind a sign."""
    lines = [
        line
        for before, after in ((one.spec.system, other.spec.system), (one.spec.prompt, other.spec.prompt))
        for line in unified_diff(before.splitlines(), after.splitlines(), one.name, other.name, lineterm="")
    ]
    if lines and one.spec.prompt and other.spec.prompt:
        with st.expander(_("What differs in the prompts"), icon=":material/difference:"):
            st.code("\n".join(lines), language=None, wrap_lines=True)


def _drift(found: Drift) -> None:
    heads = (_("Asked"), _("Answered by"), _("Labels"), _("From"), _("To"))
    rows = [
        (_("first") if one.round == 0 else _("again {number}").format(number=one.round), one.model or _("not said"),
         f"{one.labels:,}", moment(one.first), moment(one.last))
        for one in found.answered
    ]  # fmt: skip
    with st.container(key="judge-answered"):
        show_html(table(number_columns(heads, (2,)), rows, kind="stacked"))
    if found.has_changed_model:
        st.warning(_("The server named more than one model: labels before and after may differ."))
    for one in found.rounds:
        st.caption(plain(_again_text(one)))
    if not found.rounds:
        st.caption(_("It was not asked again, so it is unknown whether it would give the same labels today."))


def _again_text(one: Again) -> str:
    text = _("Asked again ({number}): {same} of {items} {items:text has|texts have} the same label.")
    ends = interval(one.same, ".1%")
    parts = [text.format(number=one.round, same=percent(one.same.value), items=Count(one.items))]
    parts += [_("95% interval: {interval}.").format(interval=ends)] if ends else []
    return paragraph(parts)


@asks("change_projects")
def _again(store: Store, project: Project, one: Judge, number: int) -> None:
    try:
        title = Notice(N_("Ask {judge} again"), {"judge": one.name})
        no_key = not is_trusted(one.spec.address)
        settings = AgainSettings(project.name, one.name, number, no_key=no_key, author=author(store))
        start_job(store, AGAIN, settings, title, project=project)
    except EvenhandError as error:
        show_error(error)
