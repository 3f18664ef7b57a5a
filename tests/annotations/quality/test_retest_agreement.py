"""Agreement with oneself: which labels are compared, and the numbers."""

import time

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.projects.projects import (
    add_annotators,
    add_guideline,
    change_project,
    guideline,
    replace_annotator,
)
from evenhand.annotations.quality.retest_agreement import retest_differences, retest_report
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Operation
from tests.support.generations import generations_project
from tests.support.projects import decide, filled_project
from tests.support.second_labels import DAY, NOON, TABLE, judged_twice


def test_retest_share_kappa_and_days_are_computed(fresh_store: Store) -> None:
    project, _ = judged_twice(fresh_store, TABLE, people=("Ada", "Bo"))
    report = retest_report(fresh_store, project)
    assert [annotator.annotator for annotator in report.annotators] == ["Ada", "Bo"]
    for annotator in report.annotators:
        assert annotator.table == ((20, 5), (10, 15)) and annotator.compared == 50 and annotator.flag is None
        assert annotator.agreed.value == pytest.approx(0.7)
        assert (annotator.agreed.low, annotator.agreed.high) == pytest.approx((0.5625, 0.8090), abs=1e-4)
        assert annotator.kappa.value == pytest.approx(0.4)
        assert annotator.days == pytest.approx((2.0, 2.0, 2.0), abs=1e-6)
    both = report.together
    assert both.table == ((40, 10), (20, 30)) and both.agreed.units == 100
    # Wilson's interval of 70/100: 0.6042 to 0.7811 (Brown, Cai and DasGupta 2001 discuss the formula; statsmodels)
    assert (both.agreed.low, both.agreed.high) == pytest.approx((0.6042, 0.7811), abs=1e-4)
    assert both.kappa.low is not None and both.kappa.low < 0.4 < (both.kappa.high or 0)
    assert (both.waiting, both.handed_out, both.other_guideline, both.seen, both.void) == (0, 0, 0, 0, 0)
    for part in ("share:1", "after:24h", "guideline:same", "unit:annotator-item", "wilson", "accept+reject"):
        assert part in report.signature
    assert (
        len(retest_differences(fresh_store, project)) == 30
        and len(retest_differences(fresh_store, project, "Bo")) == 15
    )
    one_pair = retest_differences(fresh_store, project, "Ada")[0]
    assert set(one_pair.choices) == {"accept", "reject"} and one_pair.days == pytest.approx(2.0, abs=1e-6)
    assert {bool(one_pair.reasons[i]) for i, c in enumerate(one_pair.choices) if c == "reject"} == {True}


def test_a_report_without_retests_has_a_reason(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 4)
    report = retest_report(fresh_store, project)
    assert report.annotators == () and report.together.agreed.value is None and report.together.days is None
    for entry in (report.together.agreed, report.together.kappa):
        assert entry.value is None and "second time" in str(entry.reason)


def test_kappa_of_one_category_is_undefined(fresh_store: Store) -> None:
    project, _ = judged_twice(fresh_store, (("accept", "accept", 12),))
    (annotator,) = retest_report(fresh_store, project).annotators
    assert (
        annotator.agreed.value == 1.0
        and annotator.agreed.high == pytest.approx(1.0)
        and annotator.agreed.low == pytest.approx(0.7575, abs=1e-4)
    )
    assert annotator.kappa.value is None and "one category" in str(annotator.kappa.reason)


def test_uncompared_retests_are_counted(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 8, people=("Ada",), per_item=1)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=0)
    items = claim(fresh_store, project, ada, want=60, now=NOON)
    store_operations(fresh_store, project, ada, [decide(item) for item in items], now=NOON)
    again = claim(fresh_store, project, ada, want=60, now=NOON + DAY)
    assert retest_report(fresh_store, project).together.handed_out == 8
    by_text = {item.text: item for item in items}
    # an opinion is shown on the first item before it is judged again, on the second one after that
    store_operations(fresh_store, project, ada, [decide(again[1], "reject")], now=NOON + DAY)
    reveal(fresh_store, project, ada, by_text[again[0].text].uid)
    reveal(fresh_store, project, ada, again[1].uid)
    later = time.time() + 60
    changed = Operation("again", again[1].uid, "accept", "desk", 10**6)
    store_operations(fresh_store, project, ada, [decide(again[0]), changed], now=later)
    # the third one is judged again under another version of the guideline, in which the fourth is skipped
    old = guideline(fresh_store, project)
    add_guideline(fresh_store, project, "new", old.choices, old.reasons)
    store_operations(fresh_store, project, ada, [decide(again[2]), decide(again[3], "skip")], now=later)
    store_operations(
        fresh_store, project, ada, [decide(again[4], guideline=1), decide(again[5], guideline=1)], now=later
    )
    store_operations(fresh_store, project, ada, [Operation("back", again[5].uid, None, "desk", 10**6)], now=later)
    result = retest_report(fresh_store, project).together
    assert (result.seen, result.other_guideline, result.handed_out, result.waiting) == (1, 1, 4, 0)
    assert result.table == ((1, 1), (0, 0))  # the second as it was before the opinion, and the fifth
    fresh_store.db.execute("UPDATE batch SET published = 0")
    assert retest_report(fresh_store, project).together.compared == 0


def test_retests_of_former_annotators_are_not_awaited(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 8, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=24)
    for who in (ada, bo):
        labels = [decide(item) for item in claim(fresh_store, project, who, now=NOON)]
        store_operations(fresh_store, project, who, labels, now=NOON)
    again = claim(fresh_store, project, bo, now=NOON + DAY)
    store_operations(fresh_store, project, bo, [decide(again[0]), decide(again[1], "skip")], now=NOON + DAY)

    def counted() -> list[tuple[int, int, int, int]]:
        report = retest_report(fresh_store, project)
        results = [*report.annotators, report.together]
        return [(entry.waiting, entry.handed_out, entry.compared, entry.left) for entry in results]

    assert counted() == [(8, 0, 0, 0), (0, 7, 1, 0), (8, 7, 1, 0)]
    replace_annotator(fresh_store, project, bo, "Chen")
    assert counted() == [(8, 0, 0, 0), (0, 0, 1, 7), (8, 0, 1, 7)]
    add_annotators(fresh_store, project, ["Bo"])
    assert counted() == [(8, 0, 0, 0), (6, 1, 1, 0), (14, 1, 1, 0)]  # what was skipped once is still to come


def test_the_flag_of_generations_is_compared_by_itself(fresh_store: Store) -> None:
    project = generations_project(fresh_store, "made", 10)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=0, checked=False)
    ada = Annotator(*fresh_store.db.execute("SELECT id, uid, name FROM annotator WHERE name = 'Ada'").fetchone())
    items = claim(fresh_store, project, ada, want=60, now=NOON)
    first = [decide(item, "correct", extraneous=n < 6) for n, item in enumerate(items)]
    assert all(answer.stored for answer in store_operations(fresh_store, project, ada, first, now=NOON))
    place = {item.text + (item.context or ""): n for n, item in enumerate(items)}
    again = claim(fresh_store, project, ada, want=60, now=NOON + DAY)
    second = [
        decide(item, "no_pronoun" if n == 0 else "correct", extraneous=None if n == 1 else n < 4)
        for item in again
        for n in [place[item.text + (item.context or "")]]
    ]
    assert all(answer.stored for answer in store_operations(fresh_store, project, ada, second, now=NOON + DAY))
    (annotator,) = retest_report(fresh_store, project).annotators
    assert annotator.agreed.value == pytest.approx(0.9) and annotator.flag is not None
    assert (annotator.flag.value, annotator.flag.units) == (pytest.approx(7 / 9), 9)


def test_the_command_explains_a_missing_interval_of_kappa(fresh_store: Store) -> None:
    """Nine of ten labelled alike with a single reject among them: kappa has a value, and no interval on so few."""
    project, _ = judged_twice(fresh_store, [("accept", "accept", 9), ("accept", "reject", 1)])
    fresh_store.close()
    result = CliRunner().invoke(cli, ["quality", project.name, "--db", str(fresh_store.path)], catch_exceptions=False)
    assert "n = 10  (Labels of rare categories: 1, too few for a 95% interval.)" in result.stdout
