"""The page Progress: tiles, annotators and their labels per day."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import unselected
from evenhand.annotations.progress.annotators import Day, Worker
from evenhand.annotations.progress.dashboard import Dashboard, dashboard, filled_days
from evenhand.annotations.projects.annotators import give_back
from evenhand.annotations.projects.projects import annotators, counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.catalogue import PROGRESS, estimates
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.quantities.work import remaining_estimates
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.numbers import DASH, duration, moment, note_text, number, time_zone, with_interval
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.tables import show_records, show_tiles
from evenhand.pages.ui.text import _, inform, plain, show_signature, warn
from evenhand.pages.ui.visitor import asks_at_click, open_store, page_link

KEPT_S = 30


@dataclass(frozen=True, slots=True)
class Current:
    """What the page shows of a project: the dashboard, and quantities by id."""

    dashboard: Dashboard
    quantities: dict[str, Estimate]


def current(store: Store, project: Project) -> Current:
    """Return the numbers of a project, recomputed after a label, an import or a change, or after 30 s."""
    there = (
        *state(store), str(counts(store, project)), str(annotators(store, project)), project.plan, str(project.share),
    )  # fmt: skip
    with st.spinner(_("Counting …"), show_time=False):
        return _dashboard(project.uid, there, str(time_zone()), project)


@st.cache_data(max_entries=8, ttl=KEPT_S, show_spinner=False)
def _dashboard(uid: str, there: tuple[str, ...], zone_name: str, _project: Project) -> Current:
    with open_store(_project) as store, store.read():
        found = dashboard(store, _project, zone=time_zone())
        return Current(found, estimates(Snapshot(store, _project), PROGRESS) | remaining_estimates(found))


def for_reader(store: Store, project: Project, overview: Dashboard) -> Dashboard:
    """Return *overview*, or only the annotator's rows if a desk of this project is open in this visit."""
    reader = annotator_at_desk(store, project)
    if reader is None:
        return overview
    text = _("Your desk as {name} is open: only you are listed among the annotators, so that labels stay blind.")
    st.caption(plain(text.format(name=reader.name)))
    people = tuple(person for person in overview.people if person.annotator.id == reader.id)
    return replace(overview, people=people, days=tuple(day for day in overview.days if day.annotator == reader.name))


def forget() -> None:
    """Recompute at the next view, because items were released."""
    _dashboard.clear()


def tiles(project: Project, now: Current) -> None:
    """Show how much is done and how much is ahead."""
    overview, numbers = now.dashboard, now.quantities
    counted = [cell.counted for cell in overview.cells]
    wanted = sum(one.quota or 0 for one in counted)
    within = sum(one.kept if one.quota is None else min(one.kept, one.quota) for one in counted)
    of_all = _("of {mined} in the project", mined=number(numbers["items.imported"].value, ",.0f"))
    today, week = (sum(getattr(person, name) for person in overview.people) for name in ("today", "week"))
    decisions = _("decisions incl. changes: {today} today, {week} in seven days")
    decisions = decisions.format(today=f"{today:,}", week=f"{week:,}")
    quotas = _("{within} of {wanted} required by quotas") if wanted else _("no quotas are set")
    done, below_it = "items.kept", quotas.format(within=f"{within:,}", wanted=f"{wanted:,}")
    if project.kind == "generations":
        done, below_it = "items.gold", of_all
    about = _(
        "Labels still needed ÷ mean labels per hour of the annotators (last 60 labels each, breaks excluded). With a"
        " quota, only the candidates that it is expected to need count."
    )
    left = _("{labels} labels", labels=number(numbers["remaining.labels"].value, ",.0f"))
    text = _("{time} for each annotator", time=duration(3600 * overview.each)) if overview.each else ""
    show_tiles(
        [
            quantity_tile("labels.valid", numbers["labels.valid"], decisions),
            quantity_tile("items.reviewed", numbers["items.reviewed"], of_all),
            quantity_tile(done, numbers[done], below_it),
            replace(
                quantity_tile(
                    "remaining.hours",
                    numbers["remaining.hours"],
                    left,
                    text or note_text(overview.hours_reason),
                    more=about,
                ),
                value=DASH if overview.hours is None else duration(3600 * overview.hours),
            ),
        ],
        4,
    )


def say_too_many(store: Store, project: Project) -> None:
    """Show a notice after a change from `stop` to `all`: the share kept is biased until the reopened items are
    finished."""
    if project.plan == "stop" or unselected(store, project, project.per_item) is None:
        return
    warn(
        "Until recently, labelling of an item stopped at its first reject. Accepted items have all their labels;"
        " rejected ones still lack some, so the acceptance rate is too high until these are labelled.",
        icon=":material/hourglass_top:",
    )


def show_method(project: Project, overview: Dashboard) -> None:
    """Show the signature, and its meaning in words."""
    text = _("As of {moment}. Only valid labels count; in daily counts, each change of a label counts again.")
    if project.plan == "stop":
        text = _(
            "As of {moment}. Only valid labels count; in daily counts, each change counts again."
            " Differences are computed on the random share that everybody labels."
        )
    st.caption(plain(text.format(moment=moment(overview.moment))))
    show_signature(overview.signature)


DAYS = 90  # in the chart


def people(project: Project, overview: Dashboard) -> None:
    """Show one row per annotator, those who have left last; participants of online studies apart."""
    everybody = sorted(overview.people, key=lambda one: (one.participant, not one.active))
    staff = [worker for worker in everybody if not worker.participant]
    by_link = everybody[len(staff) :]
    if not staff:
        inform("There are no annotators yet. Add them on the Projects page, under People.")
    if not everybody:
        return
    if staff:
        _table(project, staff, overview.moment, "progress-people")
    if by_link:
        title = _("Participants in online studies ({number})", number=f"{len(by_link):,}")
        with st.expander(title, icon=":material/group:", expanded=not staff):
            _table(project, by_link, overview.moment, "progress-participants")
            page_link("study/page.py", label=_("Online studies"), icon=":material/link:")
    text = _(
        "Shares with 95% intervals: clustered by source article where articles hold several sentences, otherwise Wilson"
        " intervals modified for rare counts. Each heading explains what it counts; scroll right for more columns."
    )
    caption_with_files(text, [_numbers(worker, overview.signature) for worker in everybody], key="progress-annotators")


def _table(project: Project, rows: list[Worker], now: float, key: str) -> None:
    """Show what fits the page of each annotator, and all columns, with what they count, in a table to open."""
    every = [_row(project, row, now) for row in rows]
    show_records([{name: row[name] for name in _first_columns() if name in row} for row in every])
    with st.expander(_("All columns, with what they count"), icon=":material/table:"):
        st.dataframe(every, hide_index=True, key=key, column_config=_explained())


def _first_columns() -> tuple[str, ...]:
    return (
        _("Annotator"), _("Now"), _("Valid labels"), _("Accept rate"), _("Differs from majority"), _("Labels per hour"),
        _("Last label"),
    )  # fmt: skip


def _state(worker: Worker, now: float) -> str:
    if not worker.active:
        return _("has left")
    if worker.heard is not None and worker.heard + LEASE_S > now:
        return _("at the desk")
    return _("away")


def _row(project: Project, worker: Worker, now: float) -> TableRow:
    row: TableRow = {
        _("Annotator"): worker.annotator.name,
        _("Now"): _state(worker, now),
        _("Valid labels"): worker.labels,
        _("Accept rate"): with_interval(worker.accepted, ".1%"),
        _("Differs from majority"): with_interval(worker.differs.most, ".1%"),
        _("On the desk"): worker.leased,
        _("Labels per hour"): DASH if worker.pace is None else f"{worker.pace:,.0f}",
        _("Last label"): moment(worker.last),
        _("Decisions today"): worker.today,
        _("Decisions, seven days"): worker.week,
        _("Seconds per item"): DASH if worker.seconds is None else f"{worker.seconds:,.1f}",
        _("Relabelling"): worker.sent_back,
        _("Skipped"): worker.skipped,
        _("Conflicts"): worker.conflicts,
    }
    if project.kind == "generations":
        del row[_("Accept rate")]
    return row


def _explained() -> dict[str, Any]:
    column = st.column_config.Column
    number = st.column_config.NumberColumn
    return {
        _("Annotator"): column(pinned=True),
        _("Valid labels"): number(format="localized"),
        _("Accept rate"): column(help=_("Share of valid labels.")),
        _("Decisions today"): number(
            help=_("Labels since midnight in your time zone; a changed label counts as another decision.")
        ),
        _("Decisions, seven days"): number(help=_("Decisions of today and the previous six days.")),
        _("Labels per hour"): column(help=_("Over the last 60 labels; gaps of more than five minutes are excluded.")),
        _("Seconds per item"): column(help=_("Median time per item over the last 500 labels.")),
        _("Differs from majority"): column(
            help=_(
                "Share of items, among those that others labelled too, on which more than half of the others chose"
                " differently. Only labels made before any opinion was shown count. A high or low share is neither good"
                " nor bad in itself."
            )
        ),
        _("On the desk"): number(help=_("Items handed out and waiting at this desk.")),
        _("Relabelling"): number(help=_("Of these, items waiting to be relabelled under a new guideline.")),
        _("Skipped"): number(help=_("Skipped items that are waiting to be labelled.")),
        _("Conflicts"): number(help=_("Conflicting labels from two windows of one annotator, awaiting a decision.")),
    }


def _numbers(worker: Worker, signature: str) -> TableRow:
    """Return the row of an annotator as numbers, with further columns."""
    accepted, most, some = worker.accepted, worker.differs.most, worker.differs.any
    return {
        "annotator": worker.annotator.name,
        "participant": worker.participant,
        "active": worker.active,
        "labels": worker.labels,
        "accepted": accepted.value,
        "accepted_low": accepted.low,
        "accepted_high": accepted.high,
        "today": worker.today,
        "seven_days": worker.week,
        "labels_per_hour": worker.pace,
        "median_seconds": worker.seconds,
        "last_label": worker.last,
        "in_hand": worker.leased,
        "sent_back": worker.sent_back,
        "skipped": worker.skipped,
        "conflicts": worker.conflicts,
        "shared_items": most.units,
        "differs_from_most": most.value,
        "differs_from_most_low": most.low,
        "differs_from_most_high": most.high,
        "differs_from_any": some.value,
        "differs_reason": note_text(most.reason),
        "signature": signature,
    }


def stalled(project: Project, overview: Dashboard) -> None:
    """Show items at a desk where no work happens, with a button to release them."""
    for person in overview.people:
        if person.stalled is None:
            continue
        items = person.leased - person.sent_back
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            text = _("{items} items are waiting at the desk of {name}; nothing has been labelled there since {moment}.")
            values = {"items": f"{items:,}", "name": person.annotator.name, "moment": moment(person.stalled)}
            st.markdown(":material/hourglass_bottom: " + plain(text.format(**values)))
            st.button(
                _("Return"),
                key=f"give-back-{person.annotator.uid}",
                icon=":material/undo:",
                on_click=_give_back,
                args=(project, person),
                help=_("These items go to others. Labels that this desk still sends for them are stored and count."),
            )


@asks_at_click("change_projects")
def _give_back(project: Project, one: Worker) -> None:
    with open_store(project) as store:
        give_back(store, project, one.annotator)
    forget()


def by_day(overview: Dashboard) -> None:
    """Show the labels of each annotator on each of the last days; participants of studies are one line."""
    from evenhand.core.charts.lines import labels_per_day  # charts take a third of a second to import

    counted, together = Counter[tuple[str, str]](), _("Participants in online studies")
    by_link = {person.annotator.name for person in overview.people if person.participant}
    for day in overview.days:
        counted[day.day, together if day.annotator in by_link else day.annotator] += day.labels
    there = {name for _day, name in counted}
    names = [person.annotator.name for person in overview.people if person.annotator.name in there - {together}]
    names += [together] if by_link and together in there else []
    days = filled_days([Day(day, name, labels) for (day, name), labels in counted.items()], names, DAYS)
    if not days:
        inform("No item has been labelled yet. Start on the Review page.", icon=":material/rate_review:")
        return
    rows = [{"day": day.day, "annotator": day.annotator, "labels": day.labels} for day in days]
    text = _("{labels} decisions from {first} to {last}, changes included; days begin at midnight in your time zone.")
    says = text.format(labels=f"{sum(day.labels for day in days):,}", first=days[0].day, last=days[-1].day)
    chart = labels_per_day(rows, description=says, say=_, palette=colours())
    show_chart(chart, [{**row, "signature": overview.signature} for row in rows], key="labels-per-day", says=says)
