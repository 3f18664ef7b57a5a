"""The lead's dashboard against counts made by hand, its days, what is stalled, and its command."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.adjudication.decisions import decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.plan.recount import recount_project
from evenhand.annotations.progress import annotators
from evenhand.annotations.progress.annotators import Day, Worker, labels_by_day
from evenhand.annotations.progress.dashboard import Dashboard, dashboard, filled_days
from evenhand.annotations.projects.annotators import give_back, remove_annotator, rename_annotator
from evenhand.annotations.projects.projects import change_project, set_quotas
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Annotator, Item, Project
from tests.support.projects import decide, filled_project

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
# The labels of Ada, Bo and Chen of six items; "" = nothing yet. Of 他 and 她 in turn.
SAID = ("aaa", "aar", "raa", "rr", "ar", "a")


def labelled(store: Store, said: tuple[str, ...] = SAID, **fields: Any) -> tuple[Project, list[Annotator], list[Item]]:
    """Make a project with one item per entry of *said*, labelled accordingly an hour before noon."""
    project, people = filled_project(store, len(said), words=("他", "她"), **fields)
    items = sorted(claim(store, project, people[0], want=len(said), now=_at(11)), key=lambda item: item.line)
    for person in people[1:]:
        claim(store, project, person, want=len(said), now=_at(11))
    for item, choices in zip(items, said, strict=True):
        for person, letter in zip(people, choices, strict=False):
            choice = {"a": "accept", "r": "reject"}[letter]
            operation = decide(item, choice, desk=person.name, seconds=2.0 + person.id)
            assert store_operations(store, project, person, [operation], now=_at(11))[0].stored
    return project, people, items


def _at(hour: float, day: int = 10) -> float:
    return (datetime(2026, 3, day, tzinfo=UTC) + timedelta(hours=hour)).timestamp()


def worker(found: Dashboard, name: str) -> Worker:
    return next(person for person in found.people if person.annotator.name == name)


def test_figures_of_annotators_equal_counts_by_hand(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store)
    result = dashboard(fresh_store, project, now=NOON)
    ada, bo, chen = result.people
    assert [person.labels for person in result.people] == [6, 5, 3]
    assert (ada.accepted.value, bo.accepted.value, chen.accepted.value) == (4 / 6, 3 / 5, 2 / 3)
    assert [person.seconds for person in result.people] == [3.0, 4.0, 5.0]
    assert [person.today for person in result.people] == [6, 5, 3] == [person.week for person in result.people]
    assert [person.leased for person in result.people] == [0, 1, 3]


def test_disagreement_rates_equal_counts_by_hand(fresh_store: Store) -> None:
    """Only items with two labels or more count; `any`: labels differ; `most`: more than half of the others differ."""
    project, _people, _items = labelled(fresh_store)
    ada, bo, chen = dashboard(fresh_store, project, now=NOON).people
    # Items 1-5 are shared by Ada and Bo, 1-3 by Chen too. Different: 2 (Chen alone), 3 (Ada alone), 5 (each of two).
    assert (ada.differs.any.value, bo.differs.any.value, chen.differs.any.value) == (3 / 5, 3 / 5, 2 / 3)
    assert (ada.differs.most.value, bo.differs.most.value, chen.differs.most.value) == (2 / 5, 1 / 5, 1 / 3)
    assert [entry.differs.most.units for entry in (ada, bo, chen)] == [5, 5, 3]


def test_a_label_after_a_reveal_does_not_count_as_a_difference(fresh_store: Store) -> None:
    project, (ada, *_others), items = labelled(fresh_store)
    reveal(fresh_store, project, ada, items[1].uid)
    base = fresh_store.db.execute(
        "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?", (items[1].id, ada.id)
    ).fetchone()[0]
    before = worker(dashboard(fresh_store, project, now=NOON), "Ada")
    store_operations(fresh_store, project, ada, [decide(items[1], "reject", desk="Ada", base=base)], now=_at(11.5))
    after = worker(dashboard(fresh_store, project, now=NOON), "Ada")
    assert after.differs == before.differs and after.accepted.value == 3 / 6


def test_under_stop_disagreement_is_over_the_random_share(fresh_store: Store) -> None:
    project, _people, items = labelled(fresh_store)
    stopped = change_project(fresh_store, project, plan="stop")
    fresh_store.db.execute("UPDATE item SET shared = (id = ?)", (items[1].id,))
    ada, bo, chen = dashboard(fresh_store, stopped, now=NOON).people
    assert [entry.differs.most.value for entry in (ada, bo, chen)] == [0, 0, 1] and ada.differs.most.units == 1
    assert "items:random-share" in dashboard(fresh_store, stopped, now=NOON).signature


def test_disagreement_without_shared_items_has_a_reason(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store, ("a", "r"))
    ada, bo, _chen = dashboard(fresh_store, project, now=NOON).people
    assert ada.differs.most.value is None and "by another annotator" in str(ada.differs.most.reason)
    assert bo.accepted.value is None and "no valid label" in str(bo.accepted.reason)
    assert bo.pace is None and bo.seconds is None and bo.last is None


def test_figures_of_cells_equal_counts_by_hand(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store)
    set_quotas(fresh_store, project, {("他/她", "male"): 5, ("他/她", "female"): 0, ("男/女", "male"): 2})
    results = {(cell.pair, cell.side): cell for cell in dashboard(fresh_store, project, now=NOON).cells}
    # Lines 1, 3, 5 contain 她; of the items with three labels 1 is accepted by all, 2 and 3 are not.
    female, male = results["他/她", "female"].counted, results["他/她", "male"].counted
    assert (female.mined, female.reviewed, female.unanimous, female.kept, female.left) == (3, 2, 1, 1, 1)
    assert (male.mined, male.reviewed, male.unanimous, male.kept, male.left) == (3, 1, 0, 0, 2)
    assert results["他/她", "female"].forecast.verdict == "met" and results["男/女", "male"].counted.mined == 0
    assert results["他/她", "male"].forecast.missing == 5 and results["他/她", "male"].forecast.verdict == "no"


def test_an_adjudicated_item_is_not_unanimous(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store, ("aar",))
    project = change_project(fresh_store, project, rescue=True)
    uid = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
    seen = [row[0] for row in fresh_store.db.execute("SELECT op_id FROM label")]
    decide_case(fresh_store, project, uid, adjudicator="Lead", choice="accept", seen=seen, why="it is neutral")
    (cell,) = dashboard(fresh_store, project, now=NOON).cells
    assert (cell.counted.reviewed, cell.counted.unanimous, cell.counted.kept) == (1, 0, 1)


def test_remaining_labels_are_forecast(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store)
    result = dashboard(fresh_store, project, now=NOON)
    # Fewer than 20 are reviewed, so three labels each: items 4, 5 and 6 lack 1 + 1 + 2.
    assert (result.ahead.candidates, result.ahead.each, result.ahead.labels) == (3, 3, 4)
    assert result.hours is None and "pace" in str(result.hours_reason)
    set_quotas(fresh_store, project, {("他/她", "male"): 0, ("他/她", "female"): 0})
    assert dashboard(fresh_store, project, now=NOON).ahead.labels == 0


def test_no_remaining_labels_need_zero_hours(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store, ("aaa", "aar"))
    result = dashboard(fresh_store, project, now=NOON)
    assert result.pace is None and (result.hours, result.each, result.hours_reason) == (0.0, 0.0, None)


def test_remaining_hours_are_labels_over_pace(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 30, people=("Ada",), per_item=1)
    for number, item in enumerate(claim(fresh_store, project, ada, want=20, now=_at(9))):
        store_operations(fresh_store, project, ada, [decide(item)], now=_at(9) + 30 * number)
    result = dashboard(fresh_store, project, now=NOON)
    assert result.pace == pytest.approx(120) and result.ahead.labels == 10
    assert result.hours == pytest.approx(10 / 120) and result.each == result.hours


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-03-10"), ("Asia/Shanghai", "2026-03-11"), ("America/Los_Angeles", "2026-03-10")]
)
def test_days_begin_at_midnight_of_the_readers_time_zone(fresh_store: Store, zone: str, day: str) -> None:
    (
        project,
        (ada, *_),
    ) = filled_project(fresh_store, 2)
    item = claim(fresh_store, project, ada, want=1, now=_at(17))[0]
    store_operations(fresh_store, project, ada, [decide(item)], now=_at(17))
    result = dashboard(fresh_store, project, zone=ZoneInfo(zone), now=datetime(2026, 3, 10, 18, tzinfo=UTC))
    assert result.days == (Day(day, "Ada", 1),) and worker(result, "Ada").today == 1
    later = dashboard(fresh_store, project, zone=ZoneInfo(zone), now=datetime(2026, 3, 16, 12, tzinfo=UTC))
    assert (worker(later, "Ada").today, worker(later, "Ada").week) == (0, 1)
    gone = dashboard(fresh_store, project, zone=ZoneInfo(zone), now=datetime(2026, 3, 18, 12, tzinfo=UTC))
    assert worker(gone, "Ada").week == 0


def test_days_are_counted_incrementally(fresh_store: Store, tmp_path: Path) -> None:
    """Counting on from stored days equals counting all days again, for all earlier counts."""
    project, (ada, bo, _chen) = filled_project(fresh_store, 6)

    def anew(store: Store) -> tuple[Day, ...]:
        annotators._kept.clear()
        return labels_by_day(store, project)

    def label_at(store: Store, who: Annotator, hour: int, number: int = 1) -> list[Item]:
        items = claim(store, project, who, want=number, now=_at(hour))
        store_operations(store, project, who, [decide(item) for item in items], now=_at(hour))
        return items

    assert anew(fresh_store) == ()
    (first,) = label_at(fresh_store, ada, 9)
    assert labels_by_day(fresh_store, project) == (Day("2026-03-10", "Ada", 1),)
    earlier = tmp_path / "earlier.db"
    with Store.open(earlier) as copy:
        fresh_store.db.backup(copy.db)
        label_at(fresh_store, bo, 30, 3)
        store_operations(
            fresh_store, project, ada, [decide(first, "reject", base=None), decide(first, None)], now=_at(31)
        )
        rename_annotator(fresh_store, project, bo, "Bob")
        rest = (Day("2026-03-11", "Ada", 1), Day("2026-03-11", "Bob", 3))
        known = labels_by_day(fresh_store, project)
        assert known == (Day("2026-03-10", "Ada", 1), *rest) == anew(fresh_store)
        # a backup is put back: the same database, and labels that the other never had
        assert labels_by_day(copy, project) == (Day("2026-03-10", "Ada", 1),)
        label_at(copy, bo, 12, 6)
        assert labels_by_day(fresh_store, project) == known
        assert labels_by_day(copy, project) == (Day("2026-03-10", "Ada", 1), Day("2026-03-10", "Bo", 6)) == anew(copy)


def test_days_without_labels_are_filled() -> None:
    days = [Day("2026-02-27", "Ada", 3), Day("2026-03-01", "Bo", 2)]
    result = filled_days(days, ["Ada", "Bo"], 90)
    assert [(day.day, day.annotator, day.labels) for day in result] == [
        ("2026-02-27", "Ada", 3), ("2026-02-27", "Bo", 0), ("2026-02-28", "Ada", 0), ("2026-02-28", "Bo", 0),
        ("2026-03-01", "Ada", 0), ("2026-03-01", "Bo", 2),
    ]  # fmt: skip
    assert filled_days([], ["Ada"], 90) == []
    assert filled_days(days, ["Ada", "Bo"], 2) == result[2:]
    # A label of a file may be of any year.
    old = filled_days([Day("0001-01-01", "Ada", 1), *days], ["Ada", "Bo"], 90)
    assert (len(old), old[-6:]) == (180, result)
    assert len(filled_days([Day("0001-01-01", "Ada", 1), Day("0001-01-03", "Ada", 1)], ["Ada"], 90)) == 3


def test_items_held_too_long_are_stalled(fresh_store: Store) -> None:
    project, (ada, bo, _chen) = filled_project(fresh_store, 8)
    start = NOON.timestamp()
    items = claim(fresh_store, project, ada, want=3, now=start)

    def stalled(after: float) -> float | None:
        now = datetime.fromtimestamp(start + after, UTC)
        return worker(dashboard(fresh_store, project, now=now), "Ada").stalled

    assert stalled(1) is None and stalled(LEASE_S - 1) is None
    assert stalled(LEASE_S + 1) == start  # not heard of since then
    store_operations(fresh_store, project, ada, [decide(items[0])], now=start + 60)
    assert stalled(LEASE_S + 30) is None and stalled(LEASE_S + 61) == start + 60
    claim(fresh_store, project, ada, want=0, now=start + 4_000)  # the desk is open, nothing was labelled for an hour
    assert stalled(4_001) == start + 60
    assert give_back(fresh_store, project, ada) == 2 and stalled(9_000) is None
    assert worker(dashboard(fresh_store, project, now=NOON), "Bo").stalled is None and bo.name == "Bo"


def test_returned_items_are_not_stalled(fresh_store: Store) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 2)
    claim(fresh_store, project, ada, want=1, now=_at(1))
    fresh_store.db.execute("UPDATE assignment SET kept = 1")
    result = worker(dashboard(fresh_store, project, now=NOON), "Ada")
    assert (result.leased, result.sent_back, result.stalled) == (1, 1, None)


def test_a_former_annotator_is_still_listed(fresh_store: Store) -> None:
    project, (ada, *_others), _items = labelled(fresh_store)
    remove_annotator(fresh_store, project, ada)
    result = worker(dashboard(fresh_store, project, now=NOON), "Ada")
    assert not result.active and result.labels == 6


def test_only_published_items_count(fresh_store: Store) -> None:
    project, _people, items = labelled(fresh_store)
    fresh_store.db.execute("UPDATE batch SET published = 0, withdrawn = 1")
    result = dashboard(fresh_store, project, now=NOON)
    assert result.cells == () and all(person.differs.most.value is None for person in result.people) and len(items) == 6


def test_the_dashboard_of_an_empty_project_is_empty(fresh_store: Store) -> None:
    project, _people = filled_project(fresh_store, 0, people=())
    result = dashboard(fresh_store, project, now=NOON)
    assert (result.people, result.days, result.cells, result.hours) == ((), (), (), None) and result.each is None


def test_counts_of_cells_equal_the_census(fresh_store: Store) -> None:
    from evenhand.annotations.projects.projects import counts

    project, _people, _items = labelled(fresh_store)
    with fresh_store.write():
        recount_project(fresh_store, project)
    result = dashboard(fresh_store, project, now=NOON).cells
    census = counts(fresh_store, project).cells
    assert [(c.pair, c.side, c.counted.mined, c.counted.kept) for c in result] == [
        (c.pair, c.side, c.items, c.accepted) for c in census
    ]


def test_the_command_prints_the_numbers_of_the_dashboard(fresh_store: Store) -> None:
    project, _people, _items = labelled(fresh_store)
    result = CliRunner().invoke(cli, ["progress", project.name, "--json"], catch_exceptions=False)
    data = json.loads(result.output)
    figures = dashboard(fresh_store, project)
    assert [annotator["labels"] for annotator in data["annotators"]] == [person.labels for person in figures.people]
    assert data["annotators"][0]["differs_from_most"] == 2 / 5 and data["labels_left"] == 4
    assert data["hours_left"] is None and data["hours_left_reason"] and data["signature"] == figures.signature
    assert data["pace_reason"] and data["hours_left_each_reason"]  # every undefined value has a reason
    assert (
        data["annotators"][0]["pace"] is None
        and "Too few labels to estimate a pace: at least seven without a break are needed."
        in data["annotators"][0]["pace_reason"]
    )
    assert data["cells"][0]["share_kept_low"] < data["cells"][0]["share_kept"] < data["cells"][0]["share_kept_high"]
    text = CliRunner().invoke(cli, ["progress", project.name, "--zone", "Asia/Shanghai"], catch_exceptions=False)
    head, ada, *_rest = text.output.splitlines()
    assert head.split()[:2] == ["labels", "accepted"] and ada.split()[:2] == ["Ada", "6"]
    assert "utc+480min" in text.output


def test_an_unknown_time_zone_is_refused(fresh_store: Store) -> None:
    project, _people = filled_project(fresh_store, 1)
    result = CliRunner().invoke(cli, ["progress", project.name, "--zone", "../etc"])
    assert "is not a time zone" in str(result.exception)
