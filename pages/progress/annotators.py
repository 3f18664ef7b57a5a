"""Annotators on the page Progress: their work, labels per day, and stalled items."""

from collections import Counter
from typing import Any

import streamlit as st

from evenhand.annotations.progress.annotators import Day, Worker
from evenhand.annotations.progress.dashboard import Dashboard, filled_days
from evenhand.annotations.projects.annotators import give_back
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.types import Project
from evenhand.pages.progress.overview import forget
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.numbers import DASH, moment, note_text, with_interval
from evenhand.pages.ui.parts import asks_at_click
from evenhand.pages.ui.text import _, inform, plain
from evenhand.pages.ui.visitor import page_link

DAYS = 90  # in the chart


def people(project: Project, found: Dashboard) -> None:
    """One row per annotator, those who have left last; participants of online studies apart."""
    everybody = sorted(found.people, key=lambda one: (one.participant, not one.active))
    staff = [one for one in everybody if not one.participant]
    by_link = everybody[len(staff) :]
    if not staff:
        inform("There are no annotators yet. Add them on the Projects page, under People.")
    if not everybody:
        return
    if staff:
        _table(project, staff, found.moment, "progress-people")
    if by_link:
        title = _("Participants of online studies ({number})", number=f"{len(by_link):,}")
        with st.expander(title, icon=":material/group:", expanded=not staff):
            _table(project, by_link, found.moment, "progress-participants")
            page_link("study/page.py", label=_("Online studies"), icon=":material/link:")
    text = _(
        "Shares with 95% intervals: over source articles where articles hold several sentences,"
        " otherwise Wilson's, modified for rare counts. Each heading explains what it counts; scroll right"
        " for more columns."
    )
    caption_with_files(text, [_numbers(one, found.signature) for one in everybody], key="progress-annotators")


def _table(project: Project, rows: list[Worker], now: float, key: str) -> None:
    st.dataframe([_row(project, one, now) for one in rows], hide_index=True, key=key, column_config=_explained())


def _state(one: Worker, now: float) -> str:
    if not one.active:
        return _("has left")
    if one.heard is not None and one.heard + LEASE_S > now:
        return _("at the desk")
    return _("away")


def _row(project: Project, one: Worker, now: float) -> dict[str, Any]:
    row = {
        _("Annotator"): one.annotator.name,
        _("Now"): _state(one, now),
        _("Valid labels"): one.labels,
        _("Accepted"): with_interval(one.accepted, ".1%"),
        _("Differs from most"): with_interval(one.differs.most, ".1%"),
        _("On the desk"): one.leased,
        _("Labels per hour"): DASH if one.pace is None else f"{one.pace:,.0f}",
        _("Last label"): moment(one.last),
        _("Decisions today"): one.today,
        _("Decisions, seven days"): one.week,
        _("Seconds per item"): DASH if one.seconds is None else f"{one.seconds:,.1f}",
        _("Relabelling"): one.sent_back,
        _("Skipped"): one.skipped,
        _("Conflicts"): one.conflicts,
    }
    if project.kind == "generations":
        del row[_("Accepted")]
    return row


def _explained() -> dict[str, Any]:
    column = st.column_config.Column
    number = st.column_config.NumberColumn
    return {
        _("Annotator"): column(pinned=True),
        _("Valid labels"): number(format="localized"),
        _("Accepted"): column(help=_("Share of valid labels.")),
        _("Decisions today"): number(
            help=_("Labels since midnight in your time zone; a changed label counts as another decision.")
        ),
        _("Decisions, seven days"): number(help=_("Decisions of today and of the six days before.")),
        _("Labels per hour"): column(help=_("Over the last 60 labels; gaps of more than five minutes are excluded.")),
        _("Seconds per item"): column(help=_("Median time per item over the last 500 labels.")),
        _("Differs from most"): column(
            help=_(
                "How often more than half of the others chose differently, over the items that others"
                " labelled too; only labels made before any opinion was shown. High or low is not good or"
                " bad in itself."
            )
        ),
        _("On the desk"): number(help=_("Items handed out and waiting at this desk.")),
        _("Relabelling"): number(help=_("Of these, items waiting to be relabelled under a new guideline.")),
        _("Skipped"): number(help=_("Skipped items that are waiting to be labelled.")),
        _("Conflicts"): number(help=_("Labels from two desks of the same annotator that await a decision.")),
    }


def _numbers(one: Worker, signature: str) -> dict[str, Any]:
    """The same as numbers, with further columns."""
    accepted, most, some = one.accepted, one.differs.most, one.differs.any
    return {
        "annotator": one.annotator.name, "participant": one.participant, "active": one.active, "labels": one.labels,
        "accepted": accepted.value, "accepted_low": accepted.low, "accepted_high": accepted.high,
        "today": one.today, "seven_days": one.week, "labels_per_hour": one.pace, "median_seconds": one.seconds,
        "last_label": one.last, "in_hand": one.leased, "sent_back": one.sent_back, "skipped": one.skipped,
        "conflicts": one.conflicts, "shared_items": most.units, "differs_from_most": most.value,
        "differs_from_most_low": most.low, "differs_from_most_high": most.high, "differs_from_any": some.value,
        "differs_reason": note_text(most.reason), "signature": signature,
    }  # fmt: skip


def stalled(project: Project, found: Dashboard) -> None:
    """Items at a desk where nobody works, with a button to release them."""
    for one in found.people:
        if one.stalled is None:
            continue
        items = one.leased - one.sent_back
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            text = _("{items} items are waiting at the desk of {name}; nothing has been labelled there since {moment}.")
            values = {"items": f"{items:,}", "name": one.annotator.name, "moment": moment(one.stalled)}
            st.markdown(":material/hourglass_bottom: " + plain(text.format(**values)))
            st.button(
                _("Return"),
                key=f"give-back-{one.annotator.uid}",
                icon=":material/undo:",
                on_click=_give_back,
                args=(project, one),
                help=_("These items go to others. Labels that the desk still sends are stored and count."),
            )


@asks_at_click("change_projects")
def _give_back(project: Project, one: Worker) -> None:
    with open_store(project) as store:
        give_back(store, project, one.annotator)
    forget()


def by_day(found: Dashboard) -> None:
    """Labels of each annotator on each of the last days."""
    from evenhand.core.charts.lines import labels_per_day  # charts take a third of a second to import

    counted, together = Counter[tuple[str, str]](), _("Participants of online studies")
    by_link = {one.annotator.name for one in found.people if one.participant}
    for day in found.days:
        counted[day.day, together if day.annotator in by_link else day.annotator] += day.labels
    there = {name for _day, name in counted}
    names = [one.annotator.name for one in found.people if one.annotator.name in there - {together}]
    names += [together] if by_link and together in there else []
    days = filled_days([Day(day, name, labels) for (day, name), labels in counted.items()], names, DAYS)
    if not days:
        inform("Nobody has labelled an item yet. Start on the Review page.", icon=":material/rate_review:")
        return
    rows = [{"day": day.day, "annotator": day.annotator, "labels": day.labels} for day in days]
    text = _("{labels} decisions from {first} to {last}, changes included; days begin at midnight in your time zone.")
    says = text.format(labels=f"{sum(day.labels for day in days):,}", first=days[0].day, last=days[-1].day)
    chart = labels_per_day(rows, description=says, say=_, palette=colours())
    show_chart(chart, [{**row, "signature": found.signature} for row in rows], key="labels-per-day", says=says)
