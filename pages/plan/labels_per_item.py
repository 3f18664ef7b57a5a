"""Labels per item on the page Labelling plan: the forecast of both plans, the settings, and the pre-registration."""

from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.events import Event, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.work import Forecast, Sample, forecast, has_pilot
from evenhand.annotations.guideline.relabelling import remaining_to_relabel
from evenhand.annotations.items.wanted_labels import plan_effects
from evenhand.annotations.projects.preregistration import form, preregister, sheets
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.work import forecast_estimates
from evenhand.annotations.queue.leases import on_desks
from evenhand.annotations.types import Plan, Project
from evenhand.core.forecast.quota import OWN_RATE
from evenhand.core.forecast.work_model import CellNeed
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import to_json
from evenhand.core.types import TableRow
from evenhand.pages.ui import tables
from evenhand.pages.ui.charts import caption_with_files, download, downloads, foot, json_text
from evenhand.pages.ui.choose import choose, switch
from evenhand.pages.ui.numbers import moment, note_text, number, to, with_interval
from evenhand.pages.ui.sentences import quota_answer, side_mark
from evenhand.pages.ui.text import (
    _,
    caption,
    clauses,
    in_brackets,
    inform,
    language,
    named,
    paragraph,
    plain,
    show_signature,
    warn,
    write,
)
from evenhand.pages.ui.visitor import ask_author, asks, author, confirmed, errors_shown, remembered, say_changes


def plan_name(plan: Plan) -> str:
    """Return a plan in words."""
    return _("every annotator labels every item") if plan == "all" else _("stop at the first reject")


def ask_forecast(store: Store, project: Project) -> Forecast:
    """Ask for the items and the number of candidates, and return the forecast for them."""
    sample: Sample | None = None
    if has_pilot(store, project, project.per_item):
        names: dict[Sample, str] = {"pilot": _("the pilot"), "all": _("all fully labelled items")}
        sample = choose(_("Based on"), names, "plan_sample")
    fictive = st.number_input(
        _("Number of candidates") if project.kind == "sentences" else _("Number of texts"),
        min_value=1,
        max_value=10_000_000,
        value=None,
        placeholder=_("as in the project"),
        key="plan_candidates",
        width=280,
        help=_(
            "Leave empty to use the items of the project, up to their quotas. A number assumes that many items, all"
            " labelled."
        ),
    )
    return remembered(state(store), forecast, project, on=sample, candidates=int(fictive) if fictive else None)


def _estimate(estimate: Estimate, form: str) -> Markup:
    """Return a number with its interval; if undefined a dash, the lower bound, and the reason."""
    if estimate.value is None and estimate.low is not None:
        least = _("at least {low}", low=number(estimate.low, form))
        return tables.undefined_cell(f"{least} · {note_text(estimate.reason)}")
    if estimate.value is not None and estimate.low == estimate.high:  # nothing about it is unsure
        return tables.element("b", number(estimate.value, form))
    return tables.estimate_cell(estimate, form)


def show_waiting(store: Store, project: Project, work_forecast: Forecast) -> None:
    """Show a notice during relabelling, with the way in which these items count."""
    left = sum(remaining_to_relabel(store, project).values())
    if (not left and not work_forecast.returned) or project.kind != "sentences":
        return
    parts = []
    if left:
        parts.append(_("{labels} labels are awaiting relabelling.", labels=f"{left:,}"))
    if work_forecast.returned:
        text = _(
            "Until then, the forecast uses the former labels of {items} sentences. The effect of the new guideline will"
            " show as new labels arrive."
        )
        parts.append(text.format(items=f"{work_forecast.returned:,}"))
    st.info(plain(paragraph(parts)), icon=":material/undo:")


def show_forecast(project: Project, work_forecast: Forecast) -> None:
    """Show one sentence, the table of both plans, its basis, and the numbers as files."""
    work = work_forecast.work
    if work.candidates.value is None and not work_forecast.items:
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
        return
    plans: list[Plan] = ["all", "stop"] if project.kind == "sentences" else ["all"]
    rows = _rows(project, work_forecast, plans)
    columns = [tables.Column(""), *(tables.Column(_plan_head(project, plan), "number") for plan in plans)]
    body = [(row.name, *(_cell(row, place) for place in range(len(plans)))) for row in rows]
    tables.show_html(tables.joined([_says(work_forecast), tables.table(columns, body)]))
    st.caption(plain(_rests_on(project, work_forecast)))
    shown = [
        {"what": row.name, "plan": plan, "value": value.value, "low": value.low, "high": value.high}
        | {"reason": note_text(value.reason), "signature": work_forecast.work.signature}
        for row in rows
        for plan, value in zip(plans, row.values, strict=True)
    ]
    with foot():
        show_signature(work_forecast.work.signature)
        with st.container(horizontal=True, width="content"):
            downloads(shown, key="plan")
            download(
                "JSON",
                lambda: json_text({"project": project.name} | to_json(work_forecast)),
                "plan.json",
                key="plan-json",
            )


def _plan_head(project: Project, plan: Plan) -> str:
    name = plan_name(plan)
    return _("{plan} (in force)", plan=name) if project.plan == plan else name


class _Row(NamedTuple):
    """A row of the table of both plans; `ids`: the quantities, where the values are theirs as they are."""

    name: str
    form: str
    values: list[Estimate]
    ids: list[str] | None = None


def _cell(row: _Row, place: int) -> Markup:
    cell = _estimate(row.values[place], row.form)
    return tables.element("span", cell, data_quantity=row.ids[place]) if row.ids else cell


def _rows(project: Project, work_forecast: Forecast, plans: list[Plan]) -> list[_Row]:
    found = forecast_estimates(work_forecast)

    def row(name: str, *, of_plan: bool = True) -> _Row:
        ids = [f"forecast.{name}.{plan}" if of_plan else f"forecast.{name}" for plan in plans]
        quantity = ENTRIES[ids[0]]
        return _Row(_(quantity.name), FORMS[quantity.unit], [found[id_] for id_ in ids], ids)

    labels, hours = row("labels"), row("hours")
    rows = [row("candidates", of_plan=False), labels, row("labels_per_item"), _time(hours, _("Minutes expected"))]
    if work_forecast.people > 1:
        own = [_times(value, 1 / work_forecast.people) for value in hours.values]
        rows.append(_time(_Row(_("Hours per annotator"), FORMS["hours"], own), _("Minutes per annotator")))
    if project.retest:
        rows.append(_Row(_("Plus retests"), ",.0f", [_times(value, project.retest) for value in labels.values]))
    return rows


def _time(row: _Row, minutes: str) -> _Row:
    """Return a row of hours, or of minutes if the maximum is under two hours."""
    if max((value.value for value in row.values if value.value is not None), default=2) < 2:
        return _Row(minutes, ",.0f", [_times(value, 60) for value in row.values])
    return row


def _times(estimate: Estimate, factor: float) -> Estimate:
    if estimate.value is None:
        return estimate
    low, high = (None if end is None else end * factor for end in (estimate.low, estimate.high))
    return replace(estimate, value=estimate.value * factor, low=low, high=high)


def _says(work_forecast: Forecast) -> str | Markup:
    saved, every, stop = work_forecast.work.saved, work_forecast.work.all, work_forecast.work.stop
    if saved.value is None or every.judgements.value is None or stop.judgements.value is None:
        return ""
    text = _("Stopping at the first reject saves {saved} of the labels: about {labels}.")
    labels = f"{every.judgements.value - stop.judgements.value:,.0f}"
    return tables.element("p", text.format(saved=with_interval(saved, ".1%", level=True), labels=labels), "says")


def _rests_on(project: Project, work_forecast: Forecast) -> str:
    parts = []
    if project.kind == "sentences":
        if work_forecast.reviewed:
            text = _("Based on {items} pilot sentences labelled by {labels} annotators; all accepted {rate} of them.")
            if work_forecast.sample == "all":
                text = _(
                    "Based on {items} sentences labelled by {labels} or more annotators; all accepted {rate} of them."
                )
            rate = with_interval(work_forecast.work.rate, ".1%", level=True)
            parts.append(
                text.format(items=f"{work_forecast.reviewed:,}", labels=work_forecast.work.per_item, rate=rate)
            )
            parts += _versions(work_forecast)
            if work_forecast.narrowed:
                parts.append(
                    _(
                        "Other sentences with as many labels are excluded: under the former plan, only accepted"
                        " sentences received that many."
                    )
                )
        else:
            parts.append(
                _(
                    "Start a pilot on the Pilot and guideline page: its labels show how much work the other items"
                    " will take."
                )
            )
    if work_forecast.work.seconds.value is not None:
        text = _(
            "Mean time per label: {seconds}, with each time capped at five minutes; excludes discussions and reading"
            " the guideline."
        )
        parts.append(
            text.format(seconds=_("{seconds} s", seconds=with_interval(work_forecast.work.seconds, ".1f", level=True)))
        )
    return paragraph([*parts, _("{made} labels so far.", made=f"{work_forecast.made:,}")])


def _versions(work_forecast: Forecast) -> list[str]:
    """Return the versions of the guideline of these labels, if there are several."""
    if not work_forecast.returned and len(work_forecast.versions) < 2:
        return []
    rows = []
    for oldest, newest, items in work_forecast.versions:
        text = _("version {version}: {items}") if oldest == newest else _("versions {oldest} to {version}: {items}")
        rows.append(text.format(oldest=oldest, version=newest, items=f"{items:,}"))
    return [_("Sentences by the guideline version of their labels: {rows}.", rows=" · ".join(rows))]


def show_needed(work_forecast: Forecast) -> None:
    """Show the candidates that each quota needs, by pair and side, and if there are enough."""
    cells = work_forecast.work.cells
    if not work_forecast.items and not cells:
        caption("There are no items yet.")
        return
    if not cells:
        inform("No quotas are set, so all candidates will be labelled. Set quotas on the Projects page.")
        return
    numbers = (_("Quota"), _("Acceptance rate"), _("Candidates needed"), _("Available"))
    columns = tables.number_columns((_("Keyword pair"), *numbers, _("Can the quota be met?")), range(1, 5))
    text = _("All quotas together need {needed} candidates.")
    total = work_forecast.work.needed
    value = number(total.value, ",.0f")
    if total.low is not None:
        value = in_brackets(value, to(f"{total.low:,.0f}", number(total.high, ",.0f")))
    head = tables.element("p", text.format(needed=value), "says")
    tables.show_html(tables.joined([head, tables.table(columns, map(_row, cells))]))
    text = _(
        "Needed: the quota divided by the acceptance rate, with its 95% interval. A pair and side with fewer than {own}"
        " fully labelled sentences uses the rate of all pairs together. The range of the total is the sum of the"
        " ranges."
    )
    caption_with_files(
        text.format(own=OWN_RATE), [_as_row(cell, work_forecast) for cell in cells], key="candidates-needed"
    )


def _row(cell: CellNeed) -> tuple[str | Markup, ...]:
    shared = _("all pairs combined") if not cell.own and cell.rate.value is not None else ""
    return (
        tables.joined([cell.pair, side_mark(cell.side) if cell.side in ("male", "female") else ""], " "),
        f"{cell.quota:,}",
        tables.joined([with_interval(cell.rate, ".1%", level=True), tables.below(shared)]),
        _estimate(cell.needed, ",.0f"),
        f"{cell.stock:,}",
        quota_answer(cell.verdict),
    )


def _as_row(cell: CellNeed, work_forecast: Forecast) -> TableRow:
    return {
        "pair": cell.pair, "side": cell.side, "quota": cell.quota, "items": cell.stock, "kept": cell.kept,
        "share_kept": cell.rate.value, "share_low": cell.rate.low, "share_high": cell.rate.high,
        "share_from": "own" if cell.own else "all", "needed": cell.needed.value, "needed_low": cell.needed.low,
        "needed_high": cell.needed.high, "left": cell.left, "verdict": cell.verdict,
        "reason": str(cell.needed.reason or ""), "signature": work_forecast.work.signature,
    }  # fmt: skip


SHOWN = 10  # changes in the list


@asks("change_projects")
def show_settings(store: Store, project: Project) -> None:
    """Show the fields, the effect of their change on labelled items, and the button that stores them."""
    wanted = _ask_again(_ask_plan(project) if project.kind == "sentences" else project)
    changed = project.changes(wanted)
    if {"plan", "per_item", "share"} & set(changed):
        _say_effects(store, project, wanted)
    if changed.get("plan") == "stop":
        waiting = on_desks(store, project)
        if waiting:
            text = _(
                "{number} sentences are on open desks and stay there. Labels are saved only on sentences"
                " handed out after the change."
            )
            st.info(text.format(number=f"{waiting:,}"), icon=":material/rate_review:")
    if changed:
        say_changes(
            [(_field(name), _value(name, getattr(project, name)), _value(name, new)) for name, new in changed.items()],
            published=True,
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask_author(store, _("Plan author"), persist_state="session", placeholder=_("Your name"), width=240)
        if st.button(_("Save plan"), type="primary", key="save_plan", disabled=not changed):
            _save(store, project, wanted)
    if not changed:
        caption("This plan is in force.")


def _ask_plan(project: Project) -> Project:
    plans: tuple[Plan, Plan] = ("all", "stop")
    place = project.uid
    captions = (
        _("Every sentence gets the full number of labels, regardless of the first ones."),
        _("A single reject rejects the sentence and ends its labelling, except in the random share."),
    )
    chosen = st.radio(
        _("Labelling of each sentence"),
        plans,
        plans.index(project.plan),
        format_func=lambda plan: plan_name(plan)[:1].upper() + plan_name(plan)[1:],
        captions=captions,
        key=f"plan-{place}",
    )
    if chosen == "stop" and project.gold != "unanimous":
        warn("Stopping at the first reject requires the rule that all must accept; this project decides by majority.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        per_item = st.number_input(_("Labels per sentence"), 1, 100, project.per_item, key=f"per-{place}", width=200)
        share = 100 * project.share
        if chosen == "stop":
            share = _ask_share(share, f"share-{place}")
    if chosen == "stop":
        caption(
            "All annotators label these items, whatever the first label is, and agreement is computed on them:"
            " elsewhere, only accepted sentences have several labels."
        )
        caption(
            "Annotators who work at the same time share the work evenly. Those who begin after the others receive only"
            " the sentences the others accepted, plus the random share."
        )
        if not share:
            warn("Without a random share, agreement cannot be measured.")
    return replace(project, plan=chosen, per_item=int(per_item), share=round(share / 100, 6))


def _ask_share(share: float, key: str) -> float:
    help_text = _(
        "Drawn with the project's seed before any label is made; annotators cannot tell which items belong to it."
    )
    label = _("Random share (%)")
    return st.number_input(label, 0.0, 100.0, round(share, 2), 1.0, format="%g", key=key, width=200, help=help_text)


def _ask_again(project: Project) -> Project:
    place = project.uid
    with st.container(horizontal=True, vertical_alignment="bottom"):
        retest = st.number_input(
            _("Retest rate (% of an annotator's own items)"),
            0.0,
            100.0,
            round(100 * project.retest, 2),
            1.0,
            format="%g",
            key=f"retest-{place}",
            width=280,
            help=_("Retests look like any other item. The Quality page shows intra-annotator agreement."),
        )
        hours = st.number_input(
            _("Minimum interval in hours"), 0, 8760, project.retest_hours, key=f"hours-{place}", width=200
        )
    return replace(project, retest=round(retest / 100, 6), retest_hours=int(hours))


def _say_effects(store: Store, project: Project, asked: Project) -> None:
    with st.spinner(_("Analysing the labelled items …"), show_time=False):
        effects = remembered(
            state(store), plan_effects, project, plan=asked.plan, per_item=asked.per_item, share=asked.share
        )
    labelled = sum(effects)
    if not labelled:
        inform("No sentence has a label yet: the plan applies from the first one.")
        return
    text = _(
        "Of {labelled} labelled sentences, {decided} would be decided by their labels, {reopened} would"
        " need more labels, and {same} stay as they are. No label is lost."
    )
    numbers = {name: f"{getattr(effects, name):,}" for name in ("decided", "reopened", "same")}
    st.info(text.format(labelled=f"{labelled:,}", **numbers), icon=":material/preview:")


@asks("change_projects")
def _save(store: Store, project: Project, wanted: Project) -> None:
    with errors_shown():
        with st.spinner(_("Recounting the labelled items …"), show_time=False):
            change_project(store, project, author=author(store), **project.changes(wanted))
        st.toast(_("The plan is saved."), icon=":material/check:")
        st.rerun()


def show_changes(store: Store, project: Project) -> None:
    """Show the changes of the plan, newest first."""
    found = events(store, project, action="plan", last=SHOWN)
    if not found:
        return
    with st.expander(_("Plan history")):
        for event in reversed(found):
            who = f" · {event.author}" if event.author else ""
            st.caption(plain(named(f"{moment(event.created)}{who}", _change_text(event))))


def _change_text(event: Event) -> str:
    old, new = event.data.get("old", {}), event.data.get("new", {})
    return clauses(named(_field(name), f"{_value(name, old.get(name))} → {_value(name, new[name])}") for name in new)


def _field(name: str) -> str:
    return {
        "plan": _("plan"),
        "per_item": _("labels for each item"),
        "share": _("random share"),
        "gold": _("rule"),
        "doubled": _("sample with several labels"),
        "retest": _("retest rate"),
        "retest_hours": _("minimum interval (hours)"),
    }.get(name, name)


def _value(name: str, value: Any) -> str:
    if value is None:
        return "—"
    if name == "plan":
        return plan_name(value)
    if name == "gold":
        return {"unanimous": _("all must accept"), "majority": _("the majority")}.get(value, str(value))
    return f"{100 * value:g}%" if name in ("share", "retest") else str(value)


@asks("change_projects")
def show_preregistration(store: Store, project: Project) -> None:
    """Show the sheets in the log, and a form for one more."""
    st.header(_("Pre-registration"), anchor=False)
    for sheet in sheets(store, project):
        when = moment(sheet.written)
        if sheet.labels:
            title = _("Pre-registration of {time}, after {n} labels", time=when, n=f"{sheet.labels:,}")
        else:
            title = _("Pre-registration of {time}, before any label", time=when)
        with st.expander(plain(title), icon=":material/lock:"):
            st.text(sheet.text)
            st.caption(plain(f"SHA-256 {sheet.sha256}"))
    with st.expander(_("Add a pre-registration to the log"), icon=":material/edit_note:"):
        write(
            "State what you expect, which measures decide, how large a difference matters, and when labelling ends. The"
            " text is stored with its time and hash and never changes; releases compare it with what was done."
        )
        text = st.text_area(_("Pre-registration (Markdown)"), form(language()), height=360, key="sheet-text")
        late = switch(
            _("Add it although labels exist"), key="sheet-late",
            box=True, explained=_("The number of labels is noted, and a release states it."),
        )  # fmt: skip
        said = _("The text is stored with its time and hash. It can never be changed or removed, and releases show it.")
        if confirmed(_("Add to log"), said, _("Add it permanently"), key="sheet-write", icon=":material/lock:"):
            with errors_shown():
                preregister(store, project, text, late=late)
                st.rerun()
