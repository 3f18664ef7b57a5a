"""Annotators join, are renamed, leave, return and are replaced: nothing is lost or handed out in excess."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.annotators import give_back, other_projects, rename_annotator
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotator,
    annotators,
    create_project,
    project,
    remove_annotator,
    replace_annotator,
    return_to_queue,
    set_aside_items,
)
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.projects import broken_rules, database, decide, filled_project


def names(store: Store, made: Project) -> list[str]:
    return [annotator.name for annotator in annotators(store, made)]


def held(store: Store, person: Annotator) -> list[str]:
    """Return the public ids of the items that a person holds, in order."""
    query = (
        "SELECT uid FROM assignment JOIN item ON item.id = assignment.item"
        " WHERE annotator = ? AND state = 'leased' ORDER BY turn"
    )
    return [row[0] for row in store.db.execute(query, (person.id,))]


def test_joining_leaving_and_returning_are_recorded(fresh_store: Store) -> None:
    made, _ = filled_project(fresh_store, 3, people=("Ada",))
    add_annotators(fresh_store, made, ["Bo", "Ada", "Bo"], author="Lead")
    remove_annotator(fresh_store, made, annotator(fresh_store, made, "Ada"))
    remove_annotator(fresh_store, made, annotator(fresh_store, made, "Ada"))
    add_annotators(fresh_store, made, ["Ada"])
    results = [(event.action, event.data["name"], event.author) for event in events(fresh_store, made)]
    assert results == [("joined", "Bo", "Lead"), ("deactivated", "Ada", ""), ("reactivated", "Ada", "")]


def test_renaming_an_annotator_keeps_the_old_name_in_events(fresh_store: Store) -> None:
    first, (ada, bo) = filled_project(fresh_store, 3, people=("Ada", "Bo"))
    second = create_project(fresh_store, "second", annotators=("Ada",))
    assert other_projects(fresh_store, first, ada) == ["second"] and other_projects(fresh_store, first, bo) == []
    item = claim(fresh_store, first, ada, want=1)[0]
    store_operations(fresh_store, first, ada, [decide(item)])
    renamed = rename_annotator(fresh_store, first, ada, "  Ada L. ", author="Lead")
    assert (renamed.name, renamed.uid) == ("Ada L.", ada.uid)
    assert names(fresh_store, first) == ["Ada L.", "Bo"] and names(fresh_store, second) == ["Ada L."]
    assert [row["annotator"] for row in label_rows(fresh_store, first)] == ["Ada L."]
    for project_of_ada in (first, second):
        (event,) = events(fresh_store, project_of_ada)
        assert (event.action, event.annotator, event.data) == ("renamed", ada.uid, {"old": "Ada", "new": "Ada L."})
    rename_annotator(fresh_store, first, renamed, "Ada L.")
    assert len(events(fresh_store, first)) == 1


@pytest.mark.parametrize(
    ("name", "error"), [("Bo", NotAllowed), (" Bo ", NotAllowed), ("", Refused), ("a\nb", Refused), ("x" * 81, Refused)]
)
def test_taken_and_invalid_names_are_refused(fresh_store: Store, name: str, error: type[Exception]) -> None:
    made, (ada, _bo) = filled_project(fresh_store, 1, people=("Ada", "Bo"))
    with pytest.raises(error):
        rename_annotator(fresh_store, made, ada, name)
    assert names(fresh_store, made) == ["Ada", "Bo"] and not events(fresh_store, made)


def test_changing_a_non_member_is_refused(fresh_store: Store) -> None:
    made, _ = filled_project(fresh_store, 1, people=("Ada",))
    other = create_project(fresh_store, "other", annotators=("Zoe",))
    zoe = annotator(fresh_store, other, "Zoe")
    for act in (
        lambda: remove_annotator(fresh_store, made, zoe),
        lambda: rename_annotator(fresh_store, made, zoe, "Zo"),
        lambda: replace_annotator(fresh_store, made, zoe, "Bo"),
        lambda: give_back(fresh_store, made, zoe),
    ):
        with pytest.raises(NotFound):
            act()
    assert names(fresh_store, made) == ["Ada"] and names(fresh_store, other) == ["Zoe"]


def test_returned_items_go_to_others_and_late_labels_count(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 4, people=("Ada", "Bo"), per_item=1)
    mine = claim(fresh_store, made, ada, want=4)
    assert claim(fresh_store, made, bo, want=4) == []
    assert give_back(fresh_store, made, ada) == 4 and give_back(fresh_store, made, ada) == 0
    assert {item.uid for item in claim(fresh_store, made, bo, want=4)} == {entry.uid for entry in mine}
    assert all(answer.stored for answer in store_operations(fresh_store, made, ada, [decide(mine[0])]))
    assert [event.data for event in events(fresh_store, made)] == [{"items": 4}]
    assert broken_rules(fresh_store) == []


def test_items_in_relabelling_stay_until_their_annotator_leaves(fresh_store: Store) -> None:
    made, (ada, _bo) = filled_project(fresh_store, 2, people=("Ada", "Bo"), per_item=1)
    claim(fresh_store, made, ada, want=2)
    kept = held(fresh_store, ada)[0]
    fresh_store.db.execute(
        "UPDATE assignment SET kept = 1 WHERE item = (SELECT id FROM item WHERE uid = ?) AND annotator = ?",
        (kept, ada.id),
    )
    remove_annotator(fresh_store, made, ada)
    assert held(fresh_store, ada) == []
    assert fresh_store.db.execute("SELECT count(*) FROM assignment WHERE kept = 1").fetchone() == (0,)
    assert broken_rules(fresh_store) == []


def test_a_successor_takes_over_open_items_in_order_but_no_label(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 12, people=("Ada", "Bo"), per_item=1)
    mine = claim(fresh_store, made, ada, want=8)
    store_operations(fresh_store, made, ada, [decide(item) for item in mine[:3]])
    fresh_store.db.execute("UPDATE assignment SET kept = 1 WHERE item = ?", (mine[5].id,))
    new = replace_annotator(fresh_store, made, ada, "Cleo", author="Lead")
    assert names(fresh_store, made) == ["Bo", "Cleo"]
    assert held(fresh_store, new) == [item.uid for item in mine[3:]] and held(fresh_store, ada) == []
    row = fresh_store.db.execute("SELECT annotator, item FROM assignment WHERE kept = 1").fetchall()
    assert row == [(new.id, mine[5].id)]
    assert {row["annotator"] for row in label_rows(fresh_store, made)} == {"Ada"}
    items = claim(fresh_store, made, new, want=40)
    assert [item.uid for item in items[:5]] == [entry.uid for entry in mine[3:]]
    assert not {item.uid for item in items} & {entry.uid for entry in mine[:3]} and len(items) == 9
    assert claim(fresh_store, made, bo, want=40) == [] and claim(fresh_store, made, ada, want=40) == []
    (event,) = events(fresh_store, made)
    assert (event.action, event.annotator, event.author) == ("replaced", ada.uid, "Lead")
    assert event.data == {"old": "Ada", "new": "Cleo", "successor": new.uid, "moved": 5, "given_back": 0}
    assert broken_rules(fresh_store) == []


def test_a_successor_does_not_get_an_item_labelled_before(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 6, people=("Ada", "Bo"), per_item=2)
    store_operations(fresh_store, made, bo, [decide(item) for item in claim(fresh_store, made, bo, want=3)])
    claim(fresh_store, made, ada, want=6)
    done = {row["item"] for row in label_rows(fresh_store, made)}
    new = replace_annotator(fresh_store, made, ada, "Bo")
    assert (new.id, names(fresh_store, made)) == (bo.id, ["Bo"])
    assert len(held(fresh_store, bo)) == 3 and not done & set(held(fresh_store, bo))
    assert events(fresh_store, made)[0].data["given_back"] == 3
    assert broken_rules(fresh_store) == []


@pytest.mark.parametrize("new", ["Ada", " Ada "])
def test_an_annotator_cannot_replace_themselves(fresh_store: Store, new: str) -> None:
    made, (ada,) = filled_project(fresh_store, 1, people=("Ada",))
    with pytest.raises(Refused):
        replace_annotator(fresh_store, made, ada, new)
    assert names(fresh_store, made) == ["Ada"]


def test_a_former_annotator_cannot_be_replaced(fresh_store: Store) -> None:
    made, (ada, _bo) = filled_project(fresh_store, 1, people=("Ada", "Bo"))
    remove_annotator(fresh_store, made, ada)
    with pytest.raises(Refused, match=r"has already left this project\. Add"):
        replace_annotator(fresh_store, made, ada, "Cleo")
    assert names(fresh_store, made) == ["Bo"]


def test_items_of_an_absent_successor_go_to_others(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 4, people=("Ada", "Bo"), per_item=1)
    claim(fresh_store, made, ada, want=4, now=1_000.0)
    new = replace_annotator(fresh_store, made, ada, "Cleo", now=2_000.0)
    assert claim(fresh_store, made, bo, want=4, now=2_000.0 + LEASE_S - 1) == []
    assert len(claim(fresh_store, made, bo, want=4, now=2_000.0 + LEASE_S + 1)) == 4
    assert held(fresh_store, new) == [] and broken_rules(fresh_store) == []


def _standing(store: Store, item: int, person: Annotator) -> str | None:
    """Return the operation that a new one replaces."""
    query = "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?"
    row = store.db.execute(query, (item, person.id)).fetchone()
    return row[0] if row else None


def _work(store: Store, made: Project, person: Annotator, dice: random.Random, moment: float) -> int:
    """Claim a few items, label most, skip some, keep the rest; return the number of decisions."""
    items = claim(store, made, person, want=dice.randint(1, 5), now=moment)
    decided = 0
    for item in items:
        roll = dice.random()
        if roll < 0.75:
            choice = "skip" if roll < 0.15 else "accept" if roll < 0.6 else "reject"
            answers = store_operations(
                store,
                made,
                person,
                [decide(item, choice, desk=person.name, base=_standing(store, item.id, person))],
                now=moment,
            )
            assert answers[0].stored
            decided += 1
    return decided


def _finish(store: Store, made: Project, moment: float) -> None:
    """Let all present annotators work until nothing is handed out any more; items skipped by all return."""
    for _round in range(200):
        moment += 1
        done = 0
        for person in annotators(store, made):
            items = claim(store, made, person, want=40, now=moment)
            for item in items:
                operation = decide(item, desk=f"end-{person.name}", base=_standing(store, item.id, person))
                assert store_operations(store, made, person, [operation], now=moment)[0].latest == operation.op_id
            done += len(items)
        for item in set_aside_items(store, made):
            return_to_queue(store, made, item.uid)
            done += 1
        if not done:
            return
    raise AssertionError("the work does not end")


@pytest.mark.parametrize("seed", range(24))
def test_random_staff_changes_leave_no_item_stuck_or_labelled_twice(fresh_store: Store, seed: int) -> None:
    """After random skips, labels, absences and replacements no item waits for an annotator who could label it."""
    dice = random.Random(seed)
    per_item = dice.choice((1, 2, 3, 4))
    made, _ = filled_project(fresh_store, 16, people=("A", "B", "C", "D"), per_item=per_item)
    moment, fresh = 10_000.0, iter("EFGHIJKLMNOPQRSTUVWXYZ")
    for _step in range(60):
        moment += dice.choice((1.0, 30.0, LEASE_S + 5))
        people = annotators(fresh_store, made)
        person, roll = dice.choice(people), dice.random()
        if roll < 0.1:
            name = dice.choice([next(fresh), *(member.name for member in people if member != person)])
            replace_annotator(fresh_store, made, person, name, now=moment)
        elif roll < 0.14 and len(people) > 2:
            remove_annotator(fresh_store, made, person)
        elif roll < 0.17:
            add_annotators(fresh_store, made, [dice.choice("ABCD")])
        elif roll < 0.22:
            give_back(fresh_store, made, person)
        else:
            _work(fresh_store, made, person, dice, moment)
        over = fresh_store.db.execute("SELECT count(*) FROM item WHERE taken > wanted").fetchone()[0]
        assert over == 0, "more in hand than wanted"
    _finish(fresh_store, made, moment + 10 * LEASE_S)
    assert broken_rules(fresh_store) == []
    waiting = fresh_store.db.execute(
        "SELECT count(*) FROM item WHERE labels < wanted AND EXISTS (SELECT 1 FROM member WHERE project = item.project"
        " AND active = 1 AND NOT EXISTS (SELECT 1 FROM assignment WHERE assignment.item = item.id"
        " AND assignment.annotator = member.annotator AND state IN ('labelled', 'skipped')))"
    ).fetchone()[0]
    assert waiting == 0, "an item waits although somebody could label it"


def _at_desk(path: Path, made: str, name: str, ready: threading.Barrier) -> set[str]:
    """Claim and label in twenty rounds, with a separate connection; return the stored operations."""
    sent = set()
    with Store.open(path) as store:
        here = project(store, made)
        ready.wait(timeout=600)
        for _ in range(20):
            try:
                person = annotator(store, here, name)
            except NotFound:  # the successor is not there yet
                continue
            for item in claim(store, here, person, want=5):
                operation = decide(item, desk=name)
                assert store_operations(store, here, person, [operation])[0].stored
                sent.add(operation.op_id)
    return sent


def _replaced(path: Path, made: str, old: Annotator, new: str, ready: threading.Barrier) -> set[str]:
    with Store.open(path) as store:
        ready.wait(timeout=600)
        replace_annotator(store, project(store, made), old, new)
    return set()


def test_a_replacement_during_labelling_loses_no_label(fresh_store: Store, tmp_path: Path) -> None:
    """The old desk continues to send, the new one opens, others claim: real threads with stores of their own."""
    made, (ada, _bo, _chen) = filled_project(fresh_store, 120, people=("Ada", "Bo", "Chen"), per_item=2)
    claim(fresh_store, made, ada, want=40)
    path, ready = database(tmp_path), threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(_at_desk, path, made.name, name, ready) for name in ("Ada", "Bo", "Zoe")]
        runs.append(pool.submit(_replaced, path, made.name, ada, "Zoe", ready))
        sent = [op_id for run in runs for op_id in run.result(timeout=600)]
    assert sorted(row["op_id"] for row in label_rows(fresh_store, made, which="all")) == sorted(sent)
    assert broken_rules(fresh_store) == [] and names(fresh_store, made) == ["Bo", "Chen", "Zoe"]
    # Beyond what is wanted there is at most what the old desk had in hand and sent after its items had moved.
    over = fresh_store.db.execute(
        "SELECT count(*) FROM item WHERE taken > wanted AND NOT EXISTS (SELECT 1 FROM assignment"
        " WHERE assignment.item = item.id AND annotator = ? AND state = 'labelled')",
        (ada.id,),
    ).fetchone()[0]
    assert over == 0
    _finish(fresh_store, made, 9e9)
    assert fresh_store.db.execute("SELECT count(*) FROM item WHERE labels < wanted").fetchone() == (0,)
