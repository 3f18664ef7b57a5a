"""Items in relabelling count by their former labels: in the forecast and in the share kept."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import last_words
from evenhand.annotations.forecast.work import forecast
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.guideline.relabelling import Which
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.progress.cells import CellState
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import change_project, project_by_uid, remove_annotator, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.forecast.work_model import NO_SAMPLE
from evenhand.core.statistics import wilson
from evenhand.core.typed_json import to_json
from tests.support.pages import open_page
from tests.support.projects import WORDS, broken_rules, decide, filled_project

START = 1_000_000.0
CELLS = {(pair, side): 40 for pair in ("他/她", "爸爸/妈妈", "男孩/女孩", "姥爷/姥姥") for side in ("male", "female")}


def opinion(item: Item, person: Annotator) -> str:
    """Return a person's label of an item, the same each time: accepted for 70 in 100."""
    return "accept" if is_shared(1, f"{item.text}{person.name}".encode(), 0.7) else "reject"


def label(store: Store, made: Project, person: Annotator, items: Sequence[Item]) -> None:
    """Let *person* label *items* by the fixed opinions."""
    bases = dict(store.db.execute("SELECT item, op_id FROM assignment WHERE annotator = ?", (person.id,)).fetchall())
    operations = [decide(item, opinion(item, person), base=bases.get(item.id), seconds=6.0) for item in items]
    assert all(
        answer.stored and not answer.conflict for answer in store_operations(store, made, person, operations, now=START)
    )


def label_all(store: Store, made: Project, people: Sequence[Annotator]) -> None:
    for person in list(people) * 4:
        while items := claim(store, made, person, want=60, now=START):
            label(store, made, person, items)


def sent_back(store: Store, made: Project, which: Which = "named") -> int:
    """Publish a version that rewords the criterion of every reject; return the number of returned labels."""
    now = read_draft(store, made)
    reasons = tuple(replace(reason, en=f"{reason.en}, anew") for reason in now.reasons)
    _, sent = write_version(store, made, replace(now, reasons=reasons, changes="Worded anew."), which=which)
    return sent.labels


def now_standing(store: Store, made: Project) -> tuple[int, int]:
    """Return the numbers of items that have all their current labels, and of those that all accept."""
    query = "SELECT count(*), sum(status = 'accepted') FROM item WHERE project = ? AND labels >= 3"
    row: tuple[int, int] = store.db.execute(query, (made.id,)).fetchone()
    return row


def test_the_interval_contains_the_true_share_during_relabelling(fresh_store: Store) -> None:
    """In most of eight samples of 20 the interval contains the true share of 0.7 ** 3 at every step of relabelling.

    The items that have all their labels at first were accepted by all, and no interval contains their share.
    """
    made, people = filled_project(fresh_store, 160)
    set_quotas(fresh_store, made, CELLS)
    label_all(fresh_store, made, people)
    before = forecast(fresh_store, made)
    assert sent_back(fresh_store, made) > 100
    items, kept = now_standing(fresh_store, made)
    assert items == kept > 40  # "100% kept", by the current labels alone
    alone = wilson(kept, items, nothing=NO_SAMPLE)
    assert alone.low is not None and alone.low > 2 * 0.7**3
    for person in [None, *people]:
        if person is not None:
            mine = claim(fresh_store, made, person, want=200, now=START)
            assert mine
            label(fresh_store, made, person, mine[: len(mine) // 2])
        result = forecast(fresh_store, made)
        assert result.work.rate == before.work.rate and result.reviewed == 160
        assert result.work.stop == before.work.stop and result.work.cells == before.work.cells
        ranges = [(cell.rate.low or 0, cell.rate.high or 0) for cell in result.work.cells]
        assert len(ranges) == len(WORDS) and sum(low <= 0.7**3 <= high for low, high in ranges) >= 7
    assert result.returned > 0 and "|guideline:v1+v2|sent-back:last-word" in result.work.signature
    label_all(fresh_store, made, people)
    result = forecast(fresh_store, made)
    assert result.returned == 0 and result.work.rate == before.work.rate
    assert "sent-back" not in result.work.signature and list(last_words(fresh_store, made)) == []
    assert broken_rules(fresh_store) == []


def test_a_new_label_replaces_the_former_one(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 60)
    start_pilot(fresh_store, made, 30)
    label_all(fresh_store, made, people)
    close_pilot(fresh_store, made)
    before = forecast(fresh_store, made)
    sent_back(fresh_store, made)
    result = forecast(fresh_store, made)
    assert (result.sample, result.reviewed, result.work.rate) == ("pilot", 30, before.work.rate)
    assert result.work.seconds == before.work.seconds
    assert result.versions == ((1, 1, 30),) and 0 < result.returned < 30
    for person in people:  # by the new version nothing is wrong
        mine = [item for item in claim(fresh_store, made, person, want=99, now=START) if item.id in pilot(fresh_store)]
        store_operations(fresh_store, made, person, [decide(item) for item in mine], now=START)
    result = forecast(fresh_store, made)
    assert (result.reviewed, result.work.rate.value, result.returned) == (30, 1.0, 0)
    assert sum(items for _, newest, items in result.versions if newest == 2) == 30 - round(30 * before.work.rate.value)  # type: ignore[operator]
    assert to_json(result)["guideline_versions"][0] == {"oldest": 1, "newest": 1, "items": result.versions[0][2]}


def pilot(store: Store) -> set[int]:
    return {row[0] for row in store.db.execute("SELECT id FROM item WHERE pilot IS NOT NULL")}


def test_labels_of_former_annotators_count_and_withdrawn_ones_do_not(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 30, people=("Ada", "Bo", "Chen", "Dan"))
    label_all(fresh_store, made, people[:3])
    before = forecast(fresh_store, made)
    remove_annotator(fresh_store, made, people[0])  # before labels are returned, and after it
    sent_back(fresh_store, made)
    remove_annotator(fresh_store, made, people[1])
    result = forecast(fresh_store, made)
    assert (result.reviewed, result.work.rate) == (30, before.work.rate)
    label_all(fresh_store, made, people[2:])
    assert forecast(fresh_store, made).reviewed == 30
    other, (ada, *rest) = filled_project(fresh_store, 10)
    label_all(fresh_store, other, [ada, *rest])
    row = "SELECT uid, assignment.op_id FROM assignment JOIN item ON item.id = item WHERE annotator = ? LIMIT 4"
    for uid, op_id in fresh_store.db.execute(f"{row}", (ada.id,)).fetchall():
        store_operations(fresh_store, other, ada, [decide(uid, None, base=op_id)], now=START)
    assert forecast(fresh_store, other).returned == 0


def of_cells(store: Store, made: Project) -> list[CellState]:
    return list(dashboard(store, project_by_uid(store, made.uid)).cells)


@pytest.mark.parametrize(("plan", "which"), [("all", "named"), ("all", "all"), ("stop", "named"), ("stop", "all")])
def test_the_share_kept_on_the_page_progress_is_unchanged(fresh_store: Store, plan: str, which: Which) -> None:
    made, people = filled_project(fresh_store, 200, words=("他", "她"))
    made = change_project(fresh_store, made, plan=plan, share=0.2)
    set_quotas(fresh_store, made, {("他/她", "male"): 60, ("他/她", "female"): 36})
    for person in people * 3:
        label(fresh_store, made, person, claim(fresh_store, made, person, want=40, now=START))
    before = of_cells(fresh_store, made)
    assert {cell.forecast.verdict for cell in before} & {"no", "undecided"}
    assert sent_back(fresh_store, made, which) > 60
    result = of_cells(fresh_store, made)
    for old, new in zip(before, result, strict=True):
        assert new.forecast.rate == old.forecast.rate and old.forecast.rate.value is not None
        assert (new.forecast.verdict, new.forecast.to_find) == (old.forecast.verdict, old.forecast.to_find)
        assert new.counted.returned > 0 and new.counted.reviewed < old.counted.reviewed
        assert (new.counted.returned_kept > 0) == (which == "all")
    signature = dashboard(fresh_store, project_by_uid(fresh_store, made.uid)).signature
    assert "sent-back:last-word" in signature


def test_progress_and_agreement_report_returned_labels(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 12, words=("他", "她"))
    label_all(fresh_store, made, people)
    labels = sent_back(fresh_store, made)
    for page, where in (("progress", "info"), ("agreement", "warning")):
        app = open_page(page, project=made.name)
        assert not app.exception
        messages = [entry.value for entry in (app.info if where == "info" else app.warning)]
        assert any(f"{labels} labels are awaiting relabelling" in text for text in messages), page


def test_a_returned_reject_after_plan_stop_is_not_missing(fresh_store: Store) -> None:
    """Only the share still counts: outside it, accepted items have all labels and rejected ones have none."""
    made, people = filled_project(fresh_store, 120)
    made = change_project(fresh_store, made, plan="stop", share=0.3)
    label_all(fresh_store, made, people)
    before = forecast(fresh_store, made)
    sent_back(fresh_store, made)
    assert forecast(fresh_store, made).work.rate == before.work.rate
    made = change_project(fresh_store, made, plan="all")
    result = forecast(fresh_store, made)
    assert result.narrowed and (result.reviewed, result.work.rate) == (before.reviewed, before.work.rate)
