"""The page Progress: tiles, annotators and their labels per day, pairs and sides with their quotas."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import unselected
from evenhand.annotations.progress.annotators import Day, Worker
from evenhand.annotations.progress.cells import CellState
from evenhand.annotations.progress.dashboard import Dashboard, dashboard, filled_days
from evenhand.annotations.projects.annotators import give_back
from evenhand.annotations.projects.projects import annotators, counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.catalogue import PROGRESS, estimates
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.quantities.work import remaining_estimates
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.types import Project
from evenhand.core.forecast.quota import OWN_RATE, QuotaForecast
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart
from evenhand.pages.ui.choose import annotator_at_desk, choose
from evenhand.pages.ui.numbers import DASH, duration, moment, note_text, number, time_zone, to, with_interval
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.sentences import quota_answer, side_mark
from evenhand.pages.ui.tables import Column, element, joined, show_html, show_tiles, table
from evenhand.pages.ui.text import _, in_brackets, inform, paragraph, plain, show_signature, warn
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
    st.dataframe([_row(project, row, now) for row in rows], hide_index=True, key=key, column_config=_explained())


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


def cells(project: Project, overview: Dashboard) -> None:
    """Show the table, after a choice of all rows or only those that lack something."""
    if not any(cell.counted.mined or cell.counted.quota for cell in overview.cells):
        inform("This project has no items yet. Import a file on the Projects page.", icon=":material/upload_file:")
        return
    rows, quotas = _by_pair(overview.cells), any(cell.counted.quota is not None for cell in overview.cells)
    if quotas:
        _verdicts(overview)
        missing = sum(1 for cell in rows if cell.forecast.missing)
        names = {"all": _("All: {n}"), "missing": _("Not met yet: {n}"), "short": _("Cannot be met: {n}")}
        numbers = {"all": len(rows), "missing": missing, "short": overview.count("no")}
        shown = {key: plain(text.format(n=f"{numbers[key]:,}")) for key, text in names.items()}
        which = choose(_("Pairs and sides"), shown, "progress-cells", heading=False)
        rows = [cell for cell in rows if which == "all" or _matches(cell.forecast, which)]
    if rows:
        generations = project.kind == "generations"
        heads = [_("Mined") if not generations else _("Texts"), _("Reviewed")]
        heads += [_("Same choice") if generations else _("Accepted by all")]
        heads += [_("With a gold label") if generations else _("Accepted"), _("Remaining")]
        heads += [_("Quota"), _("Missing"), _("Acceptance rate"), _("Needed")] if quotas else []
        first = _("Stratum") if generations else _("Keyword pair")
        question = [Column(_("Can the quota be met?"))] if quotas else []
        columns = [Column(first), *question, *(Column(head, "number") for head in heads)]
        show_html(table(columns, (_cell_row(cell, quotas, generations) for cell in rows), kind="narrow pinned"))
    else:
        inform("No such pairs and sides.", icon=":material/check:")
    caption_with_files(
        _meaning(project, quotas), [_cell_numbers(cell, overview.signature) for cell in rows], key="progress-pairs"
    )


def _by_pair(cells: Sequence[CellState]) -> list[CellState]:
    """Return both sides of a pair together, the male word first; pairs in the order of import."""
    place: dict[str, int] = {}
    for cell in cells:
        place.setdefault(cell.pair, len(place))
    return sorted(cells, key=lambda cell: (place[cell.pair], cell.side == "female"))


def _matches(forecast: QuotaForecast, which: str) -> bool:
    return bool(forecast.missing) if which == "missing" else forecast.verdict == "no"


def _verdicts(overview: Dashboard) -> None:
    """Show in one sentence whether the quotas can be met."""
    short, undecided = overview.count("no"), overview.count("undecided") + overview.count("unknown")
    to_find = sum(cell.forecast.to_find.value or 0 for cell in overview.cells if cell.forecast.verdict == "no")
    if short:
        text = _(
            "{short} pairs and sides cannot meet their quota with the remaining candidates, even at the upper end of"
            " their acceptance rate; about {more} more are needed."
        )
        st.warning(plain(text.format(short=f"{short:,}", more=f"{to_find:,.0f}")), icon=":material/warning:")
    elif undecided:
        text = _("For {undecided} pairs and sides it is not yet clear whether the remaining candidates suffice.")
        st.info(plain(text.format(undecided=f"{undecided:,}")), icon=":material/help:")
    else:
        st.success(_("The remaining candidates suffice for every quota."), icon=":material/check:")


def _meaning(project: Project, quotas: bool) -> str:
    if project.kind == "generations":
        return _(
            "Reviewed: items with all the labels they need. Same choice: of the reviewed items with at least two"
            " blind labels, those on which all annotators made the same choice; flags are not compared."
        )
    text = _(
        "Reviewed: items with all the labels they need. Accepted by all: reviewed items that every annotator who"
        " labelled them accepted. Accepted: items whose gold label is accept."
    )
    if not quotas:
        return text
    if project.plan == "stop":
        followed = _(
            "Acceptance rate: estimated label by label, because rejected sentences finish first under this plan. It"
            " therefore differs from accepted ÷ reviewed until all sentences are finished."
        )
        text = paragraph((text, followed))
    needed = _(
        "Needed: candidates still to review = missing ÷ acceptance rate so far; in brackets, with the ends of its 95%"
        " interval. With fewer than {own} reviewed, the acceptance rate over all pairs is used (a)."
    ).format(own=OWN_RATE)
    return paragraph((text, needed))


def _cell_row(cell: CellState, quotas: bool, generations: bool) -> list[str | Markup]:
    counted, forecast = cell.counted, cell.forecast
    pair: str | Markup = cell.pair or DASH
    if cell.side:
        pair = joined([pair, side_mark(cell.side)], Markup("<br>"))
    agreed = f"{counted.unanimous:,}"
    if generations:
        agreed = _("{k} of {n}", k=agreed, n=f"{counted.compared:,}")
    counts = (counted.mined, counted.reviewed, agreed, counted.kept, counted.left)
    numbers = [count if isinstance(count, str) else f"{count:,}" for count in counts]
    if not quotas:
        return [pair, *numbers]
    mark = "" if forecast.own or forecast.rate.value is None else " (a)"
    numbers += [number(counted.quota, ","), number(forecast.missing, ",")]
    numbers += [with_interval(forecast.rate, ".1%") + mark, _range(forecast.needed)]
    return [pair, _verdict(cell), *numbers]


def _range(estimate: Estimate) -> str:
    """Return a number of candidates with its interval, or a lower bound; a dash if neither is known."""
    if estimate.value is None:
        return DASH if estimate.low is None else _("at least {least}", least=f"{estimate.low:,.0f}")
    if estimate.high == estimate.low:
        return f"{estimate.value:,.0f}"
    high = "∞" if estimate.high is None else f"{estimate.high:,.0f}"
    return in_brackets(f"{estimate.value:,.0f}", to(f"{estimate.low or 0:,.0f}", high))


def _verdict(cell: CellState) -> Markup:
    forecast = cell.forecast
    more = ""
    if forecast.verdict == "no" and forecast.to_find.value is not None:
        more = _("{more} more to find", more=f"{forecast.to_find.value:,.0f}")
    elif forecast.verdict in ("unknown", "no"):
        more = note_text(forecast.needed.reason)
    return joined([quota_answer(forecast.verdict), element("div", more) if more else ""])


def _cell_numbers(cell: CellState, signature: str) -> TableRow:
    counted, forecast = cell.counted, cell.forecast
    return {
        "pair": cell.pair, "side": cell.side, "mined": counted.mined, "reviewed": counted.reviewed,
        "compared": counted.compared, "unanimous": counted.unanimous, "kept": counted.kept, "left": counted.left,
        "set_aside": counted.aside,
        "quota": counted.quota, "missing": forecast.missing, "share_kept": forecast.rate.value,
        "share_kept_low": forecast.rate.low, "share_kept_high": forecast.rate.high, "share_of": forecast.share_of,
        "needed": forecast.needed.value, "needed_low": forecast.needed.low, "needed_high": forecast.needed.high,
        "to_find": forecast.to_find.value, "verdict": forecast.verdict, "reason": note_text(forecast.needed.reason),
        "signature": signature,
    }  # fmt: skip
