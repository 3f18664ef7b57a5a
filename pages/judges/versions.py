"""Judges side by side: their prompts, how they agree on the same texts; and whether one has changed since it began."""

from difflib import unified_diff

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.against_people import AgainstPeople, Drift, agreement_difference
from evenhand.annotations.judges.job_kinds import AGAIN, AgainSettings
from evenhand.annotations.judges.judges import Judge
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Notice
from evenhand.core.language import Count
from evenhand.core.servers.addresses import is_trusted, place_of
from evenhand.pages.judges.against_people import Found, chosen_judge, judge_label
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import POINTS, interval, moment, percent, with_interval
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, paragraph, plain
from evenhand.pages.ui.visitor import asks, author, errors_shown

SECOND = 100  # texts that are asked about again


def show_versions(store: Store, project: Project, found: Found) -> None:
    """Show two judges side by side, then the drift of one."""
    st.header(_("Compare two judges"))
    if len(found.judges) < 2:
        st.caption(_("There is only one judge. A changed prompt, model or setting makes another."))
    else:
        _side_by_side(found)
    st.header(_("Drift"))
    judge = chosen_judge(found, "judge-drift")
    _drift(found.drift[judge.name])
    if judge.spec.kind == "server":
        with st.container(horizontal=True, vertical_alignment="bottom"):
            number = st.number_input(
                _("Number of texts, drawn at random"), 1, None, SECOND, key="judge-again-number", width=200
            )
            if st.button(_("Ask again"), key="judge-again", icon=":material/refresh:"):
                _again(store, project, judge, int(number))


def _side_by_side(found: Found) -> None:
    names = {judge.name: judge_label(judge.name) for judge in found.judges}
    left, right = st.columns(2)
    first = left.selectbox(_("First"), list(names), index=0, key="judge-first", format_func=names.__getitem__)
    second = right.selectbox(_("Second"), list(names), index=1, key="judge-second", format_func=names.__getitem__)
    against_people, other = found.against[first], found.against[second]
    facts = [_("Model"), _("Server address"), _("Guideline"), _("Prompt (SHA-256)"), _("Labels")]
    facts += [_("Agreement with people"), _("Agreement on the flag")]
    with st.container(key="judge-versions"):
        rows = zip(facts, _facts(against_people), _facts(other), strict=True)
        show_html(table(("", names[first], names[second]), rows, kind="text"))
    if against_people is other:
        return
    apart = agreement_difference(against_people, other)
    text = _("Agreement with people, first minus second judge, on {number} shared {number:text|texts}: {difference}.")
    if apart.value is not None:
        difference = with_interval(apart.estimate, POINTS, level=True)
        st.caption(plain(text.format(number=Count(apart.rows), difference=difference)))
    _changes(against_people.judge, other.judge)


def _facts(against: AgainstPeople) -> list[str]:
    spec = against.judge.spec
    return [
        spec.model or _("the pronoun rule"), place_of(spec.address) if spec.address else "", str(spec.guideline),
        str(spec.settings.get("prompt_sha256", ""))[:12], f"{against.judge.labels:,}",
        with_interval(against.agreement.estimate, ".1%"), with_interval(against.flags.estimate, ".1%"),
    ]  # fmt: skip


def _changes(judge: Judge, other: Judge) -> None:
    """Show what differs in the prompts, one line for each difference, with a sign in front."""
    lines = [
        line
        for before, after in ((judge.spec.system, other.spec.system), (judge.spec.prompt, other.spec.prompt))
        for line in unified_diff(before.splitlines(), after.splitlines(), judge.name, other.name, lineterm="")
    ]
    if lines and judge.spec.prompt and other.spec.prompt:
        with st.expander(_("Prompt differences"), icon=":material/difference:"):
            st.code("\n".join(lines), language=None, wrap_lines=True)


def _drift(drift: Drift) -> None:
    heads = (_("Round"), _("Answered by"), _("Labels"), _("From"), _("To"))
    rows = [
        (_("first") if one.round == 0 else _("repeat {number}").format(number=one.round),
         one.model or _("not reported"),
         f"{one.labels:,}", moment(one.first), moment(one.last))
        for one in drift.answered
    ]  # fmt: skip
    with st.container(key="judge-answered"):
        show_html(table(number_columns(heads, (2,)), rows, kind="stacked"))
    if drift.has_changed_model:
        st.warning(_("The server reported more than one model, so earlier and later labels may not be comparable."))
    for round_ in drift.rounds:
        text = _("Repeat {number}: {same} of {items} {items:text has|texts have} the same label.")
        ends = interval(round_.same, ".1%")
        parts = [text.format(number=round_.round, same=percent(round_.same.value), items=Count(round_.items))]
        parts += [_("95% interval: {interval}.").format(interval=ends)] if ends else []
        st.caption(plain(paragraph(parts)))
    if not drift.rounds:
        st.caption(_("This judge was not run again, so it is unknown whether it would give the same labels today."))


@asks("change_projects")
def _again(store: Store, project: Project, one: Judge, number: int) -> None:
    with errors_shown():
        title = Notice(N_("Ask {judge} again"), {"judge": one.name})
        no_key = not is_trusted(one.spec.address)
        settings = AgainSettings(project.name, one.name, number, no_key=no_key, author=author(store))
        start_job(store, AGAIN, settings, title, project=project)
