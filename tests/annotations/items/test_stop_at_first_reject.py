"""Stop at the first reject: wanted labels, who is handed what, and that the result stays the same."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.gold import LabelRules, decide_gold, wanted_now
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import (
    change_project,
    counts,
    create_project,
    project,
    remove_annotator,
    set_quotas,
)
from evenhand.annotations.projects.steps import pipeline
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import Refused
from tests.support.projects import broken_rules, database, decide, filled_project
from tests.support.writers import outputs, start

START = 1_000_000.0
A, R = "accept", "reject"
PLAIN = LabelRules(3, None, "stop", 1, False, None, False)


@pytest.mark.parametrize(
    ("choices", "wanted"),
    [
        ([], 1),
        ([A], 2),
        ([A, A], 3),
        ([A, A, A], 3),
        ([R], 1),
        ([A, R], 2),
        ([A, A, R], 3),
        ([R, R], 2),
        ([A, R, A], 3),
    ],
)
def test_wanted_labels_stop_at_the_first_reject(choices: list[str], wanted: int) -> None:
    assert wanted_now(PLAIN, choices) == wanted


@pytest.mark.parametrize(
    ("terms", "choices", "wanted"),
    [
        (PLAIN._replace(shared=True), [R], 3),
        (PLAIN._replace(known=True), [R], 3),
        (PLAIN._replace(pilot=5), [R], 5),
        (PLAIN._replace(pilot=2), [], 3),
        (PLAIN._replace(plan="all", before=1), [R], 3),
        (PLAIN._replace(plan="all", pilot=4), [], 4),
        (PLAIN._replace(plan="all", doubled=7, before=1), [R], 1),
        (PLAIN._replace(per_item=1), [A], 1),
        (PLAIN, [A, A, A, A], 3),  # a late label
    ],
)
def test_shared_known_and_pilot_items_want_all_labels(terms: LabelRules, choices: list[str], wanted: int) -> None:
    assert wanted_now(terms, choices) == wanted


@given(st.permutations([A, A, A, R, R]), st.integers(1, 5))
def test_stopping_gives_the_result_of_full_labelling_in_any_order(order: list[str], per_item: int) -> None:
    choices = order[:per_item]
    made: list[str] = []
    while len(made) < wanted_now(PLAIN._replace(per_item=per_item), made):
        made.append(choices[len(made)])
    stopped = decide_gold(made, wanted_now(PLAIN._replace(per_item=per_item), made), "unanimous")
    assert stopped.status == decide_gold(choices, per_item, "unanimous").status
    assert len(made) == (choices.index(R) + 1 if R in choices else per_item)


def test_a_larger_random_share_contains_a_smaller_one() -> None:
    results = [f"{n}".encode() for n in range(20_000)]
    some = {identity for identity in results if is_shared(3, identity, 0.1)}
    assert abs(len(some) - 2_000) < 5 * (20_000 * 0.1 * 0.9) ** 0.5
    assert some < {identity for identity in results if is_shared(3, identity, 0.2)}
    assert some != {identity for identity in results if is_shared(4, identity, 0.1)}
    assert not any(is_shared(3, identity, 0.0) for identity in results) and all(
        is_shared(3, identity, 1.0) for identity in results
    )


def stopping(store: Store, number: int, share: float = 0.0, **fields: object) -> tuple[Project, list[Annotator]]:
    made, people = filled_project(store, number, **fields)  # type: ignore[arg-type]
    return change_project(store, made, plan="stop", share=share), people


def work_until_done(store: Store, made: Project, people: list[Annotator], opinion: object) -> dict[str, list[str]]:
    """Let all label in turn by *opinion*(person, item) until nothing is left; return the choices of each item."""
    results: dict[str, list[str]] = {}
    moment, idle = START, 0
    for person in itertools.cycle(people):
        items = claim(store, made, person, want=3, now=moment)
        for item in items:
            choice = opinion(person, item)  # type: ignore[operator]
            assert store_operations(store, made, person, [decide(item, choice)], now=moment)[0].stored
            results.setdefault(item.text, []).append(choice)
        idle, moment = (0 if items else idle + 1), moment + 1
        if idle == len(people):
            return results
    raise AssertionError


def often(text: str, person: Annotator, of: int) -> bool:
    """Return a fixed opinion of one person on one text."""
    return is_shared(of, f"{text}|{person.name}".encode(), 0.7)


def test_labels_end_with_the_first_reject_outside_the_share(fresh_store: Store) -> None:
    made, people = stopping(fresh_store, 80, 0.25, seed=5)
    shared = {row[0] for row in fresh_store.db.execute("SELECT text FROM item WHERE shared = 1")}
    assert 5 < len(shared) < 40
    order = work_until_done(fresh_store, made, people, lambda who, item: A if often(item.text, who, 1) else R)
    assert len(order) == 80
    for text, choices in order.items():
        full = [A if often(text, person, 1) else R for person in people]
        assert len(choices) == (3 if text in shared or R not in choices else choices.index(R) + 1)
        status = fresh_store.db.execute("SELECT status FROM item WHERE text = ?", (text,)).fetchone()[0]
        assert status == decide_gold(full, 3, "unanimous").status
    assert sum(map(len, order.values())) < 240
    assert broken_rules(fresh_store) == []


def test_both_plans_accept_equal_sentences(fresh_store: Store) -> None:
    kept = []
    for plan in ("all", "stop"):
        made, people = filled_project(fresh_store, 40, seed=2)
        made = change_project(fresh_store, made, plan=plan)
        work_until_done(fresh_store, made, people, lambda who, item: A if often(item.text, who, 2) else R)
        query = "SELECT text FROM item WHERE project = ? AND status = 'accepted'"
        kept.append({row[0] for row in fresh_store.db.execute(query, (made.id,))})
        assert counts(fresh_store, made).pending == 0
    assert kept[0] == kept[1] and 0 < len(kept[0]) < 40


def test_new_items_get_wanted_number_and_share_of_the_plan(fresh_store: Store) -> None:
    from evenhand.annotations.items.batch import Batch
    from tests.support.projects import new_items

    made, _ = stopping(fresh_store, 4, 0.3, seed=9)
    with Batch.begin(fresh_store, made, "more.txt") as batch:
        batch.add(new_items(60, first=500))
        batch.publish()
    rows = fresh_store.db.execute("SELECT hash, wanted, shared FROM item").fetchall()
    assert len(rows) == 64 and 5 < sum(row[2] for row in rows) < 40
    for identity, wanted, shared in rows:
        assert (wanted, shared) == ((3, 1) if is_shared(9, bytes(identity), 0.3) else (1, 0))


def test_an_accept_reopens_the_item_for_annotators_who_passed_it(fresh_store: Store) -> None:
    made, (ada, bo, chen) = stopping(fresh_store, 6)
    first = claim(fresh_store, made, ada, now=START)
    assert len(first) == 6 and claim(fresh_store, made, bo, now=START) == []  # all with Ada, one label each
    store_operations(fresh_store, made, ada, [decide(item, A if n else R) for n, item in enumerate(first)], now=START)
    second = claim(fresh_store, made, bo, now=START)
    assert sorted(item.uid for item in second) == sorted(item.uid for item in first[1:])
    assert claim(fresh_store, made, chen, now=START) == []
    store_operations(fresh_store, made, bo, [decide(second[0]), decide(second[1], R)], now=START)
    assert [item.uid for item in claim(fresh_store, made, chen, now=START)] == [second[0].uid]
    assert counts(fresh_store, made).rejected == 2


def test_a_withdrawn_or_changed_reject_reopens_the_item(fresh_store: Store) -> None:
    made, (ada, bo, _) = stopping(fresh_store, 1)
    item = claim(fresh_store, made, ada, now=START)[0]
    reject = decide(item, R)
    store_operations(fresh_store, made, ada, [reject], now=START)
    assert counts(fresh_store, made).rejected == 1 and claim(fresh_store, made, bo, now=START) == []
    back = decide(item, None, base=reject.op_id)
    store_operations(fresh_store, made, ada, [back], now=START)
    assert counts(fresh_store, made).pending == 1 and claim(fresh_store, made, bo, now=START) == []  # it is Ada's
    store_operations(fresh_store, made, ada, [decide(item, A, base=back.op_id)], now=START)
    assert [claimed.uid for claimed in claim(fresh_store, made, bo, now=START)] == [item.uid]
    store_operations(fresh_store, made, bo, [decide(item, R)], now=START)
    assert counts(fresh_store, made).rejected == 1
    assert fresh_store.db.execute("SELECT wanted, labels, split FROM item").fetchone() == (2, 2, 1)
    assert broken_rules(fresh_store) == []


def test_a_late_label_counts(fresh_store: Store) -> None:
    made, (ada, bo, _) = stopping(fresh_store, 1)
    item = claim(fresh_store, made, ada, now=START)[0]
    late = START + LEASE_S + 1
    assert [claimed.uid for claimed in claim(fresh_store, made, bo, now=late)] == [item.uid]
    store_operations(fresh_store, made, bo, [decide(item, R)], now=late)
    store_operations(fresh_store, made, ada, [decide(item, A)], now=late)
    assert fresh_store.db.execute("SELECT wanted, labels, status FROM item").fetchone() == (2, 2, "rejected")


def test_an_item_skipped_by_all_goes_to_the_lead_until_a_label(fresh_store: Store) -> None:
    made, (ada, bo) = stopping(fresh_store, 1, people=("Ada", "Bo"))
    item = claim(fresh_store, made, ada, now=START)[0]
    store_operations(fresh_store, made, ada, [decide(item, "skip")], now=START)
    assert len(claim(fresh_store, made, bo, now=START)) == 1
    skip = decide(item, "skip")
    store_operations(fresh_store, made, bo, [skip], now=START)
    assert counts(fresh_store, made).aside == 1
    store_operations(fresh_store, made, bo, [decide(item, R, base=skip.op_id)], now=START)
    assert counts(fresh_store, made).aside == 0 and counts(fresh_store, made).rejected == 1
    assert broken_rules(fresh_store) == []


def test_a_quota_closes_and_reopens_a_cell(fresh_store: Store) -> None:
    made, people = stopping(fresh_store, 12, people=("Ada", "Bo"), words=("他", "她"), per_item=2)
    set_quotas(fresh_store, made, {("他/她", "male"): 1})
    order = work_until_done(fresh_store, made, people, lambda who, item: A)
    assert sum(len(choices) == 2 for text, choices in order.items() if "她" in text) == 6
    whole = sum(len(choices) == 2 for text, choices in order.items() if "他" in text)
    assert 1 <= whole < 6  # what was leased when the quota was met is still labelled
    set_quotas(fresh_store, made, {})
    work_until_done(fresh_store, made, people, lambda who, item: A)
    assert counts(fresh_store, made).accepted == 12


def test_items_of_a_leaving_annotator_go_to_others(fresh_store: Store) -> None:
    made, (ada, bo, chen) = stopping(fresh_store, 8)
    claim(fresh_store, made, ada, now=START)
    remove_annotator(fresh_store, made, ada)
    order = work_until_done(fresh_store, made, [bo, chen], lambda who, item: R)
    assert len(order) == 8 and counts(fresh_store, made).rejected == 8


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"gold": "majority"}, "majority"),
        ({"doubled": 3}, "sample"),
        ({"share": 1.5}, "0 to 1"),
        ({"share": True}, "0 to 1"),
        ({"retest": -0.1}, "0 to 1"),
        ({"retest_hours": 1.5}, "hours"),
        ({"plan": "some"}, "all or stop"),
    ],
)
def test_invalid_settings_of_the_plan_are_refused(fresh_store: Store, fields: dict[str, object], words: str) -> None:
    made, _ = stopping(fresh_store, 4)
    with pytest.raises(Refused, match=words):
        change_project(fresh_store, made, **fields)  # type: ignore[arg-type]
    assert project(fresh_store, made.name) == made


def test_plan_stop_is_refused_for_generations(fresh_store: Store) -> None:
    made = create_project(fresh_store, "texts", kind="generations")
    with pytest.raises(Refused, match="generations"):
        change_project(fresh_store, made, plan="stop")


def test_changing_the_plan_settles_labelled_items(fresh_store: Store) -> None:
    made, (ada, bo, chen) = filled_project(fresh_store, 4)
    items = claim(fresh_store, made, ada, now=START)
    store_operations(fresh_store, made, ada, [decide(item, A if n else R) for n, item in enumerate(items)], now=START)
    assert counts(fresh_store, made).rejected == 0
    made = change_project(fresh_store, made, plan="stop", share=0.0, author="Lin")
    assert counts(fresh_store, made).rejected == 1
    assert [row[0] for row in fresh_store.db.execute("SELECT wanted FROM item ORDER BY labels, status DESC, id")].count(
        2
    ) == 3
    assert len(claim(fresh_store, made, bo, now=START)) == 3
    made = change_project(fresh_store, made, plan="all")
    assert counts(fresh_store, made).rejected == 0
    assert len(claim(fresh_store, made, chen, now=START)) == 4
    written = [event for event in events(fresh_store, made) if event.action == "plan"]
    assert written[0].author == "Lin" and written[0].data["new"] == {"plan": "stop", "share": 0.0}
    assert written[1].data == {"old": {"plan": "stop"}, "new": {"plan": "all"}}
    assert broken_rules(fresh_store) == []


def test_a_rejected_item_at_the_lead_is_done_under_stop(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 1, people=("Ada", "Bo"), per_item=2)
    item = claim(fresh_store, made, ada, now=START)[0]
    store_operations(fresh_store, made, ada, [decide(item, R)], now=START)
    for _ in range(2):
        store_operations(fresh_store, made, bo, [decide(claim(fresh_store, made, bo, now=START)[0], "skip")], now=START)
    assert counts(fresh_store, made).aside == 1
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    assert counts(fresh_store, made).aside == 0 and counts(fresh_store, made).rejected == 1
    assert broken_rules(fresh_store) == []


def test_returned_items_are_spread_under_stop(fresh_store: Store) -> None:
    made, (ada, bo, _) = stopping(fresh_store, 240)
    seen: set[str] = set()
    while len(seen) < 60:
        for item in claim(fresh_store, made, ada, want=10, now=START):
            store_operations(fresh_store, made, ada, [decide(item)], now=START)
            seen.add(item.uid)
    order: list[bool] = []
    while len(order) < 90:
        items = claim(fresh_store, made, bo, want=10, now=START)
        store_operations(fresh_store, made, bo, [decide(item, R) for item in items], now=START)
        order += [item.uid in seen for item in items]
    share = sum(order) / len(order)
    assert 0.5 < share < 0.8  # two thirds, as long as something waits
    longest = max(len(list(run)) for came_back, run in itertools.groupby(order) if came_back)
    assert longest < 15


def test_returned_items_come_first_under_all(fresh_store: Store) -> None:
    made, (ada, bo) = filled_project(fresh_store, 40, people=("Ada", "Bo"), per_item=1)
    held = claim(fresh_store, made, ada, want=10, now=START)
    claim(fresh_store, made, bo, want=10, now=START)
    back = claim(fresh_store, made, bo, want=20, now=START + LEASE_S + 1)[-10:]
    assert sum(item.uid in {claimed.uid for claimed in held} for item in back) >= 8


def test_an_item_ended_by_one_reject_is_not_unanimous(fresh_store: Store) -> None:
    made, people = stopping(fresh_store, 20)
    work_until_done(fresh_store, made, people, lambda who, item: A if item.line % 2 else R)
    result = pipeline(fresh_store)
    assert (result.reviewed, result.unanimous, result.kept) == (20, 10, 10)


def test_the_own_total_does_not_depend_on_others(fresh_store: Store) -> None:
    made, (ada, bo, _) = stopping(fresh_store, 60, 0.1)
    before = own_progress(fresh_store, made, ada)
    assert 20 <= before.total <= 60
    for item in claim(fresh_store, made, bo, now=START):
        store_operations(fresh_store, made, bo, [decide(item, R)], now=START)
    assert own_progress(fresh_store, made, ada) == before


moves = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 5), st.sampled_from((A, A, R, "skip", "undo", "away"))),
    min_size=1,
    max_size=30,
)


@settings(max_examples=12, deadline=None)
@given(moves, st.sampled_from((0.0, 0.3, 1.0)))
def test_invariants_hold_for_any_course_of_work(
    fresh_store: Store, script: list[tuple[int, int, str]], share: float
) -> None:
    made, people = stopping(fresh_store, 14, share, seed=len(script))
    standing: dict[tuple[int, str], str] = {}
    mine: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    moment = START
    for who, want, what in script:
        moment += LEASE_S + 1 if what == "away" else 1
        before = _open(fresh_store, made)
        held = {item.uid for item in mine[who]}
        items = claim(fresh_store, made, people[who], want=want, now=moment)
        for item in items:
            fresh = item.uid not in held
            assert not fresh or item.uid in before or what == "away", "a finished item was handed out"
        mine[who] = items
        for item in items[:2]:
            base = standing.get((who, item.uid))
            operation = decide(item, A if what in ("undo", "away") else what, base=base)
            store_operations(fresh_store, made, people[who], [operation], now=moment)
            standing[who, item.uid] = operation.op_id
            if what == "undo":
                back = decide(item, None, base=operation.op_id)
                store_operations(fresh_store, made, people[who], [back], now=moment)
                standing[who, item.uid] = back.op_id
        _check(fresh_store, made)


def _open(store: Store, made: Project) -> set[str]:
    query = "SELECT uid FROM item WHERE project = ? AND status = 'pending'"
    return {row[0] for row in store.db.execute(query, (made.id,))}


def _check(store: Store, made: Project) -> None:
    assert broken_rules(store) == []
    rows = store.db.execute(
        "SELECT item.id, wanted, taken, labels, status, shared, (SELECT count(*) FROM assignment"
        " JOIN label ON label.id = blind WHERE assignment.item = item.id AND choice = 'reject')"
        " FROM item WHERE project = ?",
        (made.id,),
    )
    for _, wanted, taken, labels, status, shared, rejects in rows.fetchall():
        if shared:
            assert wanted == 3
        elif rejects:
            assert (status, wanted) == ("rejected", labels)
        else:
            assert wanted == min(3, labels + 1)
        assert labels <= 3 and taken <= 3
        assert (status == "accepted") == (labels >= 3 and not rejects)


WORKER = """
    import sys, uuid
    from evenhand.annotations.labels.operations import store_operations
    from evenhand.annotations.items.wanted_labels import is_shared
    from evenhand.annotations.projects.projects import annotator, project
    from evenhand.annotations.queue.leases import claim
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.types import Operation
    path, name = sys.argv[1], sys.argv[2]
    with Store.open(path) as store:
        made = project(store, "race")
        person = annotator(store, made, name)
        idle = 0
        while idle < 20_000:  # what the others accept comes later; so often in vain means that it never will
            items = claim(store, made, person, want=7)
            idle = 0 if items else idle + 1
            for n, item in enumerate(items):
                good = is_shared(1, f"{item.text}|{name}".encode(), 0.7)
                choice, why = ("accept", ()) if good else ("reject", ("name",))
                operation = Operation(uuid.uuid4().hex, item.uid, choice, name, n, reasons=why)
                assert store_operations(store, made, person, [operation])[0].stored
            done = store.db.execute("SELECT count(*) FROM item WHERE status = 'pending'").fetchone()[0]
            if not done:
                break
"""


def test_simultaneous_processes_respect_the_plan(fresh_store: Store, tmp_path: Path) -> None:
    made, people = stopping(fresh_store, 60, 0.2, seed=4)
    change_project(fresh_store, made, name="race")
    workers = [start(WORKER, database(tmp_path), person.name) for person in people]
    outputs(workers)
    made = project(fresh_store, "race")
    _check(fresh_store, made)
    shared = {row[0] for row in fresh_store.db.execute("SELECT uid FROM item WHERE shared = 1")}
    rows = label_rows(fresh_store, made, which="all")
    made_each = Counter(row["item"] for row in rows)
    assert len({(row["item"], row["annotator"]) for row in rows}) == len(rows) and len(made_each) == 60
    for uid, labels in made_each.items():
        text = next(row["text"] for row in rows if row["item"] == uid)
        full = [A if often(text, person, 1) else R for person in people]
        status = fresh_store.db.execute("SELECT status FROM item WHERE uid = ?", (uid,)).fetchone()[0]
        assert status == decide_gold(full, 3, "unanimous").status
        rejects = sum(row["choice"] == R for row in rows if row["item"] == uid)
        assert labels == 3 if uid in shared else rejects <= 1
