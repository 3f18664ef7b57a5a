"""The lead's view of a project: the work of annotators, what is missing, and whether the quotas can be met."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.progress.annotators import Day, Worker, labels_by_day, workers
from evenhand.annotations.progress.cells import NO_PACE, Ahead, CellState, counted_cells
from evenhand.annotations.types import Project
from evenhand.core.forecast.quota import OWN_RATE
from evenhand.core.statistics import Note

VERSION = 3  # of the method: raise it when a number may change
WEEK = 7


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything the page Progress shows, as of `moment` (unix seconds).

    `pace`: mean pace of the annotators, labels per hour. `hours`: labels ahead / pace, hours of all together: 0
    where none is ahead; None, with `hours_reason`, without a pace. `each`: hours per annotator.
    """

    project: str
    people: tuple[Worker, ...]
    days: tuple[Day, ...]
    cells: tuple[CellState, ...]
    ahead: Ahead
    pace: float | None
    hours: float | None
    each: float | None
    hours_reason: Note | None
    moment: float
    signature: str

    def count(self, verdict: str) -> int:
        """Return the number of pairs and sides with that verdict."""
        return sum(1 for cell in self.cells if cell.forecast.verdict == verdict)


@consistent_read
def dashboard(store: Store, project: Project, *, zone: tzinfo = UTC, now: datetime | None = None) -> Dashboard:
    """Return the dashboard of a project. `zone`: the time zone of the days (its present offset from UTC)."""
    moment = datetime.now(UTC) if now is None else now.astimezone(UTC)
    local = moment.astimezone(zone)
    minutes = round((local.utcoffset() or timedelta()).total_seconds() / 60)
    days = labels_by_day(store, project, minutes)
    since = (local - timedelta(days=WEEK - 1)).date().isoformat()
    people = workers(store, project, days=days, today=local.date().isoformat(), since=since, now=moment.timestamp())
    cells, ahead = counted_cells(store, project)
    # Participants of studies do a few texts each: the rest is the annotators' work, where there are any.
    staff = [person for person in people if not person.participant] or list(people)
    paces = [worker.pace for worker in staff if worker.active and worker.pace is not None]
    pace = sum(paces) / len(paces) if paces else None
    hours: float | None = None
    if cells and not ahead.labels:
        hours = 0.0  # at any pace
    elif pace is not None:
        hours = ahead.labels / pace
    over_articles = any(person.differs.any.clusters or person.accepted.clusters for person in people)
    return Dashboard(
        project=project.name, people=people, days=days, cells=cells, ahead=ahead, pace=pace, hours=hours,
        each=None if hours is None else hours / max(1, sum(worker.active for worker in staff)),
        hours_reason=NO_PACE if hours is None else None,
        moment=moment.timestamp(), signature=signature(project, minutes, over_articles=over_articles),
    )  # fmt: skip


def signature(project: Project, minutes: int, *, over_articles: bool = False) -> str:
    """Return everything that can change the numbers: labels, days, items, the origin of rates."""
    stopped, shares = project.plan == "stop", "articles:clustered-dirichlet95" if over_articles else "modified-wilson95"
    items, rate = ("random-share", "label-by-label,full-apart") if stopped else ("all", "kept/reviewed")
    return (
        f"progress|labels:standing|days:utc{minutes:+d}min|differs:blind,items:{items},{shares}"
        f"|needed:missing/rate,rate:{rate},sent-back:last-word,own>={OWN_RATE},modified-wilson95"
        f"|pace:last60,breaks>300s|v{VERSION}"
    )


def filled_days(days: Sequence[Day], people: Sequence[str], most: int) -> list[Day]:
    """Return the last *most* of *days*, with 0 for all *people* on missing days between them.

    An imported label may be of any year, so days are filled in only among the last.
    """
    if not days:
        return []
    first, last = (datetime.fromisoformat(end).date() for end in (days[0].day, days[-1].day))
    first = last - timedelta(days=min((last - first).days, most - 1))
    made = {(day.day, day.annotator): day.labels for day in days}
    every = [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]
    return [Day(day, who, made.get((day, who), 0)) for day in every for who in people]
