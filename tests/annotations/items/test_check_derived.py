"""The check of what is derived: gold, status and split of items, and counts, against labels and decisions."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.adjudication.decisions import decide_case, reopen
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.items.check_derived import stale_counts, stale_in_words, stale_items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.verify import verify, verify_derived
from evenhand.annotations.plan import recount
from evenhand.annotations.plan.recount import correct_derived
from evenhand.annotations.projects.projects import change_project, counts, write_changes
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from tests.support.projects import broken_rules, decide, filled_project, new_store
from tests.support.tampering import changed_outside


def labelled(store: Store, number: int = 12, **fields: object) -> tuple[Project, list[Annotator]]:
    """Return a project whose items are labelled by all: every third is rejected by all, every fourth by one."""
    project, people = filled_project(store, number, per_item=3, **fields)
    for place, person in enumerate(people):
        labels = [
            decide(item, "reject" if item.line % 3 == 0 or (place == 0 and item.line % 4 == 0) else "accept")
            for item in claim(store, project, person, want=number)
        ]
        assert all(answer.stored for answer in store_operations(store, project, person, labels))
    return project, people


def uids(store: Store, project: Project) -> list[str]:
    return [state.item for state in stale_items(store, project)]


@pytest.mark.parametrize(
    "assignment",
    ["gold = 'accept', status = 'accepted'", "status = 'pending'", "gold = NULL", "split = 1 - split", "labels = 2"],
)
def test_a_changed_verdict_is_found_and_corrected(fresh_store: Store, assignment: str) -> None:
    project, _ = labelled(fresh_store)
    rejected = [item for item in items(fresh_store, project) if item.line % 3 == 0]
    assert uids(fresh_store, project) == []
    before = counts(fresh_store, project)
    changed_outside(fresh_store, f"UPDATE item SET {assignment} WHERE uid = ?", rejected[0].uid)
    assert uids(fresh_store, project) == [rejected[0].uid]
    counted = "status" in assignment or "labels" in assignment
    assert (list(stale_counts(fresh_store, project)) == ["census"]) == counted
    verify(fresh_store)  # no entry of the log covers it
    assert correct_derived(fresh_store, project, author="Vera") == 1
    assert broken_rules(fresh_store) == [] and counts(fresh_store, project) == before
    event = events(fresh_store, project, action="gold_corrected")[0]
    assert event.author == "Vera" and event.data["before"][0]["item"] == rejected[0].uid
    verify(fresh_store)
    assert correct_derived(fresh_store, project) == 0


def test_an_accepted_item_without_labels_is_found(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 3)
    uid = next(items(fresh_store, project)).uid
    changed_outside(fresh_store, "UPDATE item SET gold = 'accept', status = 'accepted' WHERE uid = ?", uid)
    notice = stale_in_words(fresh_store, project)
    assert notice is not None and notice.text.startswith(f"In 1 items of {project.name}") and f"({uid})" in notice.text


def test_a_changed_decision_in_force_is_found(fresh_store: Store) -> None:
    """Neither another settlement nor none can be put in its place, and a wanted number cannot end the labelling."""
    project, _ = labelled(fresh_store)
    project = change_project(fresh_store, project, rescue=True)
    split = next(item for item in items(fresh_store, project) if item.line == 4)
    seen = [row[0] for row in fresh_store.db.execute(
        "SELECT op_id FROM label WHERE item = (SELECT id FROM item WHERE uid = ?)", (split.uid,)
    )]  # fmt: skip
    act = decide_case(
        fresh_store, project, split.uid, adjudicator="Vera", choice="accept", seen=seen, why="It is neutral."
    )
    assert uids(fresh_store, project) == []
    changed_outside(fresh_store, "UPDATE item SET settlement = NULL WHERE uid = ?", split.uid)
    assert uids(fresh_store, project) == [split.uid]
    correct_derived(fresh_store, project)
    reopen(fresh_store, project, split.uid, adjudicator="Vera", base=act.op_id)
    assert uids(fresh_store, project) == []
    changed_outside(fresh_store, "UPDATE item SET settlement = 1 WHERE uid = ?", split.uid)
    assert uids(fresh_store, project) == [split.uid]


def test_a_changed_wanted_number_or_share_is_found(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4, per_item=3)
    project = change_project(fresh_store, project, plan="stop", share=0.0)
    item = claim(fresh_store, project, people[0], want=1)[0]
    store_operations(fresh_store, project, people[0], [decide(item, "reject")])
    assert uids(fresh_store, project) == []
    changed_outside(
        fresh_store,
        "UPDATE item SET shared = 1, wanted = 3, status = 'pending', gold = NULL WHERE uid = ?", item.uid,
    )  # fmt: skip
    assert uids(fresh_store, project) == [item.uid]
    assert correct_derived(fresh_store, project) == 1 and uids(fresh_store, project) == []
    set_known(fresh_store, project, item.uid, "reject", why="clear")
    assert uids(fresh_store, project) == []


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("taken", "UPDATE item SET taken = taken + 1 WHERE uid = ?"),
        ("census", "UPDATE census SET items = items + 1 WHERE cell = (SELECT cell FROM item WHERE uid = ?)"),
        ("tally", "UPDATE tally SET accepted = accepted + 1 WHERE cell = (SELECT cell FROM item WHERE uid = ?)"),
    ],
)
def test_a_changed_count_is_found_and_corrected(fresh_store: Store, table: str, statement: str) -> None:
    project, _ = labelled(fresh_store)
    changed_outside(fresh_store, statement, next(items(fresh_store, project)).uid)
    assert list(stale_counts(fresh_store, project)) == [table]
    result = verify_derived(fresh_store, project)[0]
    assert not result.holds and result.items == ()
    correct_derived(fresh_store, project)
    assert stale_counts(fresh_store, project) == {} and broken_rules(fresh_store) == []


def test_a_project_that_is_being_recounted_is_not_checked(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project, _ = labelled(fresh_store)
    monkeypatch.setattr(recount, "AT_ONCE", 0)
    with fresh_store.write():
        write_changes(fresh_store, project, {"gold": "majority"})
    result = verify_derived(fresh_store, project)[0]
    assert result.recounting and result.holds
    correct_derived(fresh_store, project)
    assert not verify_derived(fresh_store, project)[0].recounting and uids(fresh_store, project) == []


RULES = st.sampled_from(["unanimous", "majority"])
CHOICES = st.sampled_from(["accept", "reject"])
VERDICTS = st.tuples(
    st.sampled_from([None, "accept", "reject"]), st.sampled_from(["pending", "accepted", "rejected"]), st.integers(0, 1)
)


@given(st.data())
def test_every_change_of_a_verdict_is_found(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, new_store(Path(folder) / "a.db") as store:
        project, people = filled_project(store, 2, per_item=data.draw(st.integers(1, 3)), gold=data.draw(RULES))
        for person in people:
            for item in claim(store, project, person, want=2):
                store_operations(store, project, person, [decide(item, data.draw(CHOICES))])
        assert uids(store, project) == []
        row, verdict = data.draw(st.integers(1, 2)), data.draw(VERDICTS)
        stored = store.db.execute("SELECT gold, status, split FROM item WHERE id = ?", (row,)).fetchone()
        changed_outside(store, "UPDATE item SET gold = ?, status = ?, split = ? WHERE id = ?", *verdict, row)
        assert len(uids(store, project)) == (stored != verdict)
