"""Retests: which labels are repeated, when, in what order; annotators cannot distinguish them from other items."""

import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.relabelling import send_for_relabelling
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.items.gold import recount_item
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.labels.own import own_conflicts, own_decisions, own_progress, progress_with_retests
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.projects import add_guideline, annotator, change_project, guideline, remove_annotator
from evenhand.annotations.queue import retests
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Annotator, Answer, Item, Project
from tests.support.projects import broken_rules, decide, filled_project, new_items, new_store
from tests.support.writers import outputs, start

DAY = 86_400.0
NOON = time.time() - 30 * DAY
DeskOfAda = tuple[Store, Project, Annotator]


@pytest.fixture
def desk_of_ada(fresh_store: Store) -> DeskOfAda:
    """Make twelve sentences, each retested after a day; Ada and Bo label all of them."""
    project, people = filled_project(fresh_store, 12, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=24)
    return fresh_store, project, people[0]


def label_all(desk_of_ada: DeskOfAda, now: float = NOON, choice: str = "accept") -> list[Item]:
    store, project, who = desk_of_ada
    items = claim(store, project, who, want=60, now=now)
    assert all(
        answer.stored for answer in store_operations(store, project, who, [decide(i, choice) for i in items], now=now)
    )
    return items


def states(store: Store, what: str = "state") -> list[Any]:
    return [row[0] for row in store.db.execute(f"SELECT {what} FROM retest ORDER BY item")]


@given(st.integers(0, 2**31), st.binary(min_size=16, max_size=16), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_contains_a_smaller_one(seed: int, identity: bytes, one: float, two: float) -> None:
    who = uuid.UUID(int=seed).hex
    less, more = sorted((one, two))
    assert retests.is_retested(seed, who, identity, less) <= retests.is_retested(seed, who, identity, more)
    assert not retests.is_retested(seed, who, identity, 0.0) and retests.is_retested(seed, who, identity, 1.0)


def test_the_share_is_drawn_independently_per_annotator() -> None:
    identities = [n.to_bytes(16, "big") for n in range(20_000)]
    drawn = {who: {i for i in identities if retests.is_retested(7, who, i, 0.1)} for who in ("a" * 32, "b" * 32)}
    first, second = drawn.values()
    # binomial: 2,000 with a deviation of 42; both at once 200 with 14
    assert abs(len(first) - 2_000) < 170 and abs(len(second) - 2_000) < 170 and abs(len(first & second) - 200) < 60


@given(st.binary(min_size=32, max_size=32), st.uuids(version=4), st.uuids(version=4))
def test_the_public_id_looks_like_that_of_an_item(secret: bytes, who: uuid.UUID, item: uuid.UUID) -> None:
    desk_of_ada = retests.public_id(secret, who.hex, item.hex)
    parsed = uuid.UUID(desk_of_ada)
    assert parsed.hex == desk_of_ada and parsed.version == 4 and parsed.variant == uuid.RFC_4122
    assert desk_of_ada == retests.public_id(secret, who.hex, item.hex) != retests.public_id(secret, item.hex, who.hex)


def test_a_retest_is_due_after_its_hours_under_another_id(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    first = label_all(desk_of_ada)
    assert claim(store, project, ada, now=NOON + DAY - 1) == []
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    assert sorted(item.text for item in again) == sorted(item.text for item in first)
    assert not {item.uid for item in again} & {item.uid for item in first}
    assert claim(store, project, ada, want=60, now=NOON + DAY + 5) == again  # a reload
    have = [item.uid for item in again[:3]]
    assert claim(store, project, ada, have=have, want=60, now=NOON + DAY + 9) == again[3:]
    assert states(store) == ["leased"] * 12


def test_a_project_without_a_share_has_no_retests(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 6, people=("Ada",), per_item=1)
    desk_of_ada = fresh_store, project, people[0]
    label_all(desk_of_ada)
    assert states(fresh_store) == [] and claim(fresh_store, project, people[0], now=NOON + 9 * DAY) == []


def test_due_retests_are_spread_among_new_items(fixed_ids: None, fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 500, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=0)
    ada, now = people[0], NOON
    for _ in range(3):
        items = claim(fresh_store, project, ada, want=40, now=now)
        store_operations(fresh_store, project, ada, [decide(item) for item in items], now=now)
    own = {row[0] for row in fresh_store.db.execute("SELECT uid FROM retest")}
    order = [item.uid in own for _ in range(60) for item in _label(fresh_store, project, ada, 3, now)]
    share = sum(order) / len(order)
    assert 0.05 < share < 0.35  # one in five; a deviation is 0.03
    runs = "".join("r" if is_retest else "." for is_retest in order)
    assert "r" * 12 not in runs and "." * 90 not in runs
    whole = claim(fresh_store, project, ada, want=60, now=now)
    places = [n for n, item in enumerate(whole) if item.uid in own]
    assert places and claim(fresh_store, project, ada, want=60, now=now) == whole
    assert max(places) - min(places) > 10  # not in a block


def _label(store: Store, project: Project, who: Annotator, want: int, now: float) -> list[Item]:
    items = claim(store, project, who, want=want, now=now)
    store_operations(store, project, who, [decide(item) for item in items], now=now)
    return items


def test_a_retest_label_changes_no_other_table(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)
    tables = ("label", "assignment", "tally", "item", "census", "skip")
    before = {name: store.db.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    report = agreement(store, project)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    for item in again:
        assert store_operations(store, project, ada, [decide(item, "reject")], now=NOON + DAY)[0].stored
    assert {name: store.db.execute(f"SELECT * FROM {name}").fetchall() for name in tables} == before
    assert agreement(store, project) == report and len(label_rows(store, project, which="all")) == 12
    assert own_progress(store, project, ada).labelled == 12
    assert states(store) == ["labelled"] * 12 and broken_rules(store) == []
    assert claim(store, project, ada, now=NOON + 9 * DAY) == []  # once, not again and again


def test_a_retest_counts_in_the_progress_of_the_desk(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)

    def own_counts() -> tuple[int, int, int]:
        progress = progress_with_retests(store, project, ada, own_progress(store, project, ada))
        return progress.labelled, progress.total, sum(cell.accepted for cell in progress.cells)

    assert own_counts() == (12, 12, 12)
    item = claim(store, project, ada, want=1, now=NOON + DAY)[0]
    assert own_counts() == (12, 13, 12)
    store_operations(store, project, ada, [decide(item)], now=NOON + DAY)
    assert own_counts() == (13, 13, 13)
    assert own_decisions(store, project, ada, limit=1)[0].item.uid == item.uid
    assert len(own_decisions(store, project, ada, limit=50)) == 13
    assert next(decision.item.uid for decision in own_decisions(store, project, ada, search=item.text)) == item.uid


# The same operations on an ordinary item and on one that came again: a desk must be answered alike.
MOVES: dict[str, Callable[[Item, dict[str, str]], Any]] = {
    "accept": lambda item, last: decide(item, "accept", base=last.get("op")),
    "reject": lambda item, last: decide(item, "reject", base=last.get("op")),
    "undo": lambda item, last: decide(item, None, base=last.get("op")),
    "skip": lambda item, last: decide(item, "skip", base=last.get("op")),
    "other desk": lambda item, last: decide(item, "reject", desk="second"),
    "other desk knows": lambda item, last: decide(item, "accept", desk="second", base=last.get("op")),
    "late": lambda item, last: decide(item, "accept", revision=-5),
    "no reason": lambda item, last: decide(item, "reject", reasons=()),
    "no choice": lambda item, last: decide(item, "maybe"),
}


@settings(max_examples=25)
@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=8))
def test_a_retest_gets_the_answers_of_any_item(moves: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "play.db") as store:
        project, people = filled_project(store, 2, people=("Ada",), per_item=1)
        project = change_project(store, project, retest=1.0, retest_hours=24)
        ada = people[0]
        first, _ = claim(store, project, ada, want=2, now=NOON)
        store_operations(store, project, ada, [decide(first, "accept")], now=NOON)
        twin = next(i for i in claim(store, project, ada, want=9, now=NOON + DAY) if i.text == first.text)
        plain = next(i for i in claim(store, project, ada, want=9, now=NOON + DAY) if i.text != first.text)
        own_counts = {item.uid: _played(store, project, ada, item, moves) for item in (plain, twin)}
        assert own_counts[plain.uid] == own_counts[twin.uid]


def _played(store: Store, project: Project, ada: Annotator, item: Item, moves: list[str]) -> list[Any]:
    own_counts: list[Any] = []
    last: dict[str, str] = {}
    number: dict[str | None, int] = {None: -1}
    for n, move in enumerate(moves):
        operation = MOVES[move](item, last)
        number[operation.op_id] = n
        answers: list[Answer] = store_operations(store, project, ada, [operation, operation], now=NOON + DAY + n)
        for answer in answers:
            own_counts.append((answer.stored, answer.conflict, number.get(answer.latest), answer.reason))
            if answer.stored and answer.latest:
                last["op"] = answer.latest
        own = [decision for decision in own_decisions(store, project, ada) if decision.item.uid == item.uid]
        lost = [conflict for conflict in own_conflicts(store, project, ada) if conflict.item.uid == item.uid]
        own_counts.append([(entry.choice, entry.reasons, entry.superseded) for entry in own + lost])
        own_counts.append(item.uid in {handed.uid for handed in claim(store, project, ada, want=9, now=NOON + DAY + n)})
    return own_counts


def test_a_retest_is_compared_with_the_label_current_at_handout(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    changed = decide(items[0], "reject", desk="desk")
    assert store_operations(store, project, ada, [changed], now=NOON + 3600)[0].stored
    query = "SELECT label.choice FROM retest LEFT JOIN label ON label.id = first WHERE retest.item = ?"
    # it waits again from the time of the current label
    assert items[0].text not in {i.text for i in claim(store, project, ada, want=60, now=NOON + DAY)}
    assert items[0].text in {i.text for i in claim(store, project, ada, want=60, now=NOON + DAY + 3600)}
    assert store.db.execute(query, (items[0].id,)).fetchone() == ("reject",)
    store_operations(
        store, project, ada, [decide(items[0], "accept")], now=NOON + DAY + 4000
    )  # after it was handed out
    assert store.db.execute(query, (items[0].id,)).fetchone() == ("reject",)


def test_an_undone_label_is_not_retested_until_labelled_again(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    store_operations(store, project, ada, [decide(items[0], None)], now=NOON + 10)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    assert [i.uid for i in again if i.text == items[0].text] == [items[0].uid]  # the item itself
    store_operations(store, project, ada, [decide(items[0])], now=NOON + DAY)
    result = claim(store, project, ada, have=[i.uid for i in again], want=60, now=NOON + 2 * DAY)
    assert [i.text for i in result] == [items[0].text]


def _sent_back(desk_of_ada: DeskOfAda, items: list[Item]) -> None:
    store, project, _ = desk_of_ada
    old = guideline(store, project)
    add_guideline(store, project, "new", old.choices, old.reasons)
    send_for_relabelling(store, project, 2, "all")


def _withdrawn(desk_of_ada: DeskOfAda, items: list[Item]) -> None:
    desk_of_ada[0].db.execute("UPDATE batch SET published = 0")


def _reveal_all(desk_of_ada: DeskOfAda, items: list[Item]) -> None:
    for item in items:
        reveal(desk_of_ada[0], desk_of_ada[1], desk_of_ada[2], item.uid)


def _left(desk_of_ada: DeskOfAda, items: list[Item]) -> None:
    remove_annotator(desk_of_ada[0], desk_of_ada[1], desk_of_ada[2])


def _new_version(desk_of_ada: DeskOfAda, items: list[Item]) -> None:
    store, project, _ = desk_of_ada
    old = guideline(store, project)
    add_guideline(store, project, "new", old.choices, old.reasons)


@pytest.mark.parametrize("what", [_sent_back, _withdrawn, _reveal_all, _left, _new_version])
def test_incomparable_labels_are_not_retested(
    desk_of_ada: DeskOfAda, what: Callable[[DeskOfAda, list[Item]], None]
) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    what(desk_of_ada, items)
    came = {item.uid for item in claim(store, project, ada, want=60, now=NOON + DAY)}
    assert not came & set(states(store, "uid"))


def test_a_retest_on_a_desk_ends_when_its_item_is_sent_back(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    _sent_back(desk_of_ada, items)
    answer = store_operations(store, project, ada, [decide(again[0], "reject")], now=NOON + DAY)[0]
    assert answer.stored and not answer.conflict  # nothing that was done is lost
    assert set(states(store)) == {"void"}
    assert [decision.item.uid for decision in own_decisions(store, project, ada)] == [again[0].uid]


def test_a_changed_share_draws_again(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 60, people=("Ada", "Bo"), per_item=2)
    for who in people:
        label_all((fresh_store, project, who))
    counted = "SELECT count(*) FROM retest WHERE state = 'waiting'"

    def waiting(share: float, hours: int = 24) -> set[tuple[int, int]]:
        nonlocal project
        project = change_project(fresh_store, project, retest=share, retest_hours=hours)
        query = "SELECT item, annotator FROM retest WHERE state = 'waiting'"
        return {tuple(row) for row in fresh_store.db.execute(query)}

    half = waiting(0.5)
    assert 30 < len(half) < 90 and waiting(0.2) < half and waiting(0.5) == half and len(waiting(1.0)) == 120
    assert waiting(0.0) == set() and fresh_store.db.execute(counted).fetchone() == (0,)
    assert waiting(0.5, 48) == half
    due = fresh_store.db.execute("SELECT min(due), max(due) FROM retest WHERE state = 'waiting'").fetchone()
    assert due == pytest.approx((NOON + 2 * DAY, NOON + 2 * DAY), abs=1)


def test_an_absent_annotator_returns_the_retest(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    bo = annotator(store, project, "Bo")
    claim(store, project, bo, want=1, now=NOON + DAY + LEASE_S + 1)
    assert set(states(store)) == {"waiting"}
    # the desk that a returning annotator still has open holds it: what it sends is stored and compared
    store_operations(store, project, ada, [decide(again[0], "reject")], now=NOON + DAY + LEASE_S + 2)
    row = store.db.execute("SELECT state, first IS NOT NULL FROM retest WHERE uid = ?", (again[0].uid,)).fetchone()
    assert row == ("labelled", 1)


def test_a_retest_skipped_twice_is_dropped(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 3, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=1)
    desk_of_ada = fresh_store, project, people[0]
    label_all(desk_of_ada)
    again = claim(fresh_store, project, people[0], want=9, now=NOON + DAY)
    for times in (1, 2):
        store_operations(fresh_store, project, people[0], [decide(again[0], "skip")], now=NOON + DAY)
        store_operations(fresh_store, project, people[0], [decide(item) for item in again[1:]], now=NOON + DAY)
        left = claim(fresh_store, project, people[0], want=9, now=NOON + DAY)
        assert [item.uid for item in left] == ([again[0].uid] if times == 1 else [])
    assert fresh_store.db.execute("SELECT count(*) FROM skip").fetchone() == (0,)


def test_a_retest_id_is_valid_for_its_annotator_only(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    bo = annotator(store, project, "Bo")
    assert not store_operations(store, project, bo, [decide(again[0])])[0].stored
    operation = decide(again[0])
    assert store_operations(store, project, ada, [operation])[0].stored
    assert not store_operations(store, project, ada, [decide(again[1], op_id=operation.op_id)])[0].stored
    assert not store_operations(store, project, ada, [decide(items[0], op_id=operation.op_id)])[0].stored
    known = label_rows(store, project, which="all")[0]["op_id"]
    assert not store_operations(store, project, ada, [decide(again[1], op_id=known)])[0].stored


def test_an_opinion_on_a_retest_is_recorded_for_its_item(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    items = label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)[0]
    store_operations(store, project, ada, [decide(again)], now=NOON + DAY)
    reveal(store, project, ada, again.uid)
    first = next(item for item in items if item.text == again.text)
    store_operations(store, project, ada, [decide(first, "reject")])
    row = store.db.execute("SELECT after_reveal FROM label WHERE item = ? ORDER BY id DESC", (first.id,)).fetchone()
    assert row == (1,)


def test_a_retest_label_sent_by_many_threads_is_stored_once(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)[:6]
    operations = [decide(item, desk="desk") for item in again]
    start, own_counts, failures = threading.Barrier(4), list[list[Answer]](), list[BaseException]()

    def send() -> None:
        try:
            with Store.open(store.path) as own:
                start.wait(600)
                own_counts.append(store_operations(own, project, ada, operations))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not failures and len(own_counts) == 4 and all(answers == own_counts[0] for answers in own_counts)
    assert store.db.execute("SELECT count(*) FROM retest_label").fetchone() == (6,)


def test_two_simultaneous_retest_labels_are_stored_as_a_conflict(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)
    again = claim(store, project, ada, want=60, now=NOON + DAY)
    start, own_counts = threading.Barrier(2), dict[str, list[Answer]]()

    def send(desk: str) -> None:
        with Store.open(store.path) as own:
            start.wait(600)
            own_counts[desk] = store_operations(own, project, ada, [decide(item, desk=desk) for item in again])

    threads = [threading.Thread(target=send, args=(desk,)) for desk in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    for first, second in zip(own_counts["one"], own_counts["two"], strict=True):
        assert first.stored and second.stored and first.conflict != second.conflict
    query = "SELECT retest, sum(superseded), count(*) FROM retest_label GROUP BY retest"
    assert {tuple(row[1:]) for row in store.db.execute(query)} == {(1, 2)}
    assert len(own_conflicts(store, project, ada)) == 12


def test_settling_again_changes_no_drawn_retest(desk_of_ada: DeskOfAda) -> None:
    store, _, _ = desk_of_ada
    items = label_all(desk_of_ada)
    before = store.db.execute("SELECT * FROM retest").fetchall()
    with store.write():
        for item in items:
            recount_item(store, item.id)
    assert store.db.execute("SELECT * FROM retest").fetchall() == before


def test_no_retest_is_handed_out_during_a_pilot(desk_of_ada: DeskOfAda) -> None:
    store, project, ada = desk_of_ada
    label_all(desk_of_ada)
    with Batch.begin(store, project, "more.txt") as batch:
        batch.add(new_items(20, first=1_000))
        batch.publish()
    start_pilot(store, project, items=5, seed=1)
    came = {item.uid for item in claim(store, project, ada, want=60, now=NOON + DAY)}
    assert came and not came & set(states(store, "uid"))
    close_pilot(store, project)
    came = {item.uid for item in claim(store, project, ada, want=60, now=NOON + DAY)}
    assert came & set(states(store, "uid"))


# Labels until nothing is left, what came again included, and sends everything twice.
WORKER = """
    import sys, uuid
    from evenhand.annotations.labels.operations import store_operations
    from evenhand.annotations.projects.projects import annotator, project
    from evenhand.annotations.queue.leases import claim
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.types import Operation
    path, name, desk, who = sys.argv[1:]
    with Store.open(path) as store:
        made = project(store, name)
        person = annotator(store, made, who)
        while items := claim(store, made, person, want=5):
            operations = [Operation(uuid.uuid4().hex, i.uid, "accept", desk, n) for n, i in enumerate(items)]
            for _ in range(2):
                for answer in store_operations(store, made, person, operations):
                    assert answer.stored, answer
            for operation in operations:
                print(operation.op_id, flush=True)
"""


def test_simultaneous_processes_lose_no_retest_label(fresh_store: Store, tmp_path: Path) -> None:
    """Two desks of Ada and one of Bo, each a process: every acknowledged label is stored, each item counts once."""
    project, _ = filled_project(fresh_store, 30, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, retest=1.0, retest_hours=0)
    seats = (("one", "Ada"), ("two", "Ada"), ("three", "Bo"))
    workers = [start(WORKER, fresh_store.path, project.name, desk, who) for desk, who in seats]
    own_counts = {line for lines in outputs(workers) for line in lines}
    query = "SELECT op_id FROM label UNION ALL SELECT op_id FROM retest_label"
    stored = [row[0] for row in fresh_store.db.execute(query)]
    assert set(stored) == own_counts and len(stored) == len(own_counts)
    assert states(fresh_store) == ["labelled"] * 60
    twice = "SELECT count(*) FROM retest_label WHERE superseded = 0 GROUP BY retest"
    assert {row[0] for row in fresh_store.db.execute(twice)} == {1}
    assert broken_rules(fresh_store) == []
