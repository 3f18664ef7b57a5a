"""Leases: what is handed out, renewed, given back, skipped, set aside; and that no label of others shows in it."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotators,
    change_project,
    counts,
    create_project,
    remove_annotator,
    return_to_queue,
    set_aside_items,
    set_quotas,
)
from evenhand.annotations.queue.leases import LEASE_S, MOST_LEASED, claim, heartbeat
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import NotAllowed
from tests.support.projects import broken_rules, decide, filled_project, new_items

START = 1_000_000.0


def take(
    store: Store, project: Project, person: Annotator, want: int = 40, now: float = START, have: Sequence[Item] = ()
) -> list[Item]:
    return claim(store, project, person, want=want, now=now, have=[item.uid for item in have])


def uids(items: list[Item]) -> list[str]:
    return [item.uid for item in items]


def test_a_reload_gives_equal_items_in_equal_order(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 60)
    first = take(fresh_store, project, ada, 10)
    assert take(fresh_store, project, ada, 10) == first
    store_operations(fresh_store, project, ada, [decide(first[0])], now=START)
    again = take(fresh_store, project, ada, 10)
    assert uids(again[:9]) == uids(first[1:]) and len(again) == 10
    more = take(fresh_store, project, ada, 5, have=again)
    assert len(more) == 5 and not set(uids(more)) & set(uids(again))


def test_an_item_goes_to_the_wanted_number_of_annotators(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 10, people=("A", "B", "C", "D"), per_item=2)
    given_out = Counter(uid for person in people for uid in uids(take(fresh_store, project, person)))
    assert len(given_out) == 10 and set(given_out.values()) == {2}


def test_items_of_expired_leases_go_to_annotators_who_passed_them(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 10, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada)
    assert take(fresh_store, project, bo) == []
    assert take(fresh_store, project, bo, now=START + LEASE_S - 1) == []
    late = take(fresh_store, project, bo, now=START + LEASE_S + 1)
    assert sorted(uids(late)) == sorted(uids(held))
    assert take(fresh_store, project, ada, now=START + LEASE_S + 2) == []
    assert broken_rules(fresh_store) == []


def test_a_heartbeat_in_time_keeps_the_leases(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 10, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada)
    heartbeat(fresh_store, project, ada, now=START + LEASE_S - 1)
    assert take(fresh_store, project, bo, now=START + 2 * LEASE_S - 2) == []
    store_operations(fresh_store, project, ada, [decide(held[0])], now=START + 2 * LEASE_S - 2)
    assert take(fresh_store, project, bo, now=START + 3 * LEASE_S - 3) == []
    assert uids(take(fresh_store, project, ada, now=START + 3 * LEASE_S)) == uids(held[1:])


def test_setting_the_clock_back_ends_no_lease(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 10, people=("Ada", "Bo"), per_item=1)
    take(fresh_store, project, ada)
    heartbeat(fresh_store, project, ada, now=START - 5_000)
    assert take(fresh_store, project, bo, now=START + 1) == []


def test_a_label_after_the_lease_counts_and_is_not_handed_out_again(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 3, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada)
    late = START + LEASE_S + 1
    first = take(fresh_store, project, bo, want=1, now=late)
    answers = store_operations(fresh_store, project, ada, [decide(item) for item in held], now=late)
    assert all(answer.stored for answer in answers)
    assert uids(take(fresh_store, project, bo, now=late)) == uids(first)
    assert broken_rules(fresh_store) == []


def test_a_skip_goes_to_the_end_and_frees_the_slot(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 6, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada, 3)
    store_operations(fresh_store, project, ada, [decide(held[0], "skip")], now=START)
    assert uids(take(fresh_store, project, bo, 1)) == [held[0].uid]
    store_operations(fresh_store, project, bo, [decide(held[0], "skip")], now=START)
    rest = take(fresh_store, project, ada, have=held[1:])
    assert held[0].uid not in uids(rest)  # all annotators have skipped it
    assert counts(fresh_store, project).aside == 1


def test_a_skipped_item_returns_last(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 5)
    held = take(fresh_store, project, ada, 2)
    store_operations(fresh_store, project, ada, [decide(held[0], "skip")], now=START)
    rest = take(fresh_store, project, ada, have=held[1:])
    assert len(rest) == 4 and rest[-1].uid == held[0].uid


def test_an_item_skipped_twice_goes_to_others_then_to_the_lead(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 1, people=("Ada", "Bo"), per_item=2)
    item = take(fresh_store, project, ada)[0]
    for _ in range(2):
        store_operations(fresh_store, project, ada, [decide(item, "skip")], now=START)
        again = take(fresh_store, project, ada)
    assert again == [] and set_aside_items(fresh_store, project) == []
    store_operations(fresh_store, project, bo, [decide(take(fresh_store, project, bo)[0])], now=START)
    assert uids(set_aside_items(fresh_store, project)) == [item.uid]
    return_to_queue(fresh_store, project, item.uid)
    assert set_aside_items(fresh_store, project) == []
    assert uids(take(fresh_store, project, ada)) == [item.uid]
    assert broken_rules(fresh_store) == []


def test_skipped_items_return_mixed_by_side(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 12, words=("他", "她"))
    held = sorted(take(fresh_store, project, ada), key=lambda item: item.side)
    store_operations(fresh_store, project, ada, [decide(item, "skip") for item in held], now=START)
    sides = [item.side for item in take(fresh_store, project, ada)]
    assert len(sides) == 12
    left = Counter(sides)
    for n, side in enumerate(sides):
        assert n < 3 or len(set(sides[n - 3 : n + 1])) > 1 or left[side] == left.total()
        left[side] -= 1


def test_an_undone_skip_does_not_count(fresh_store: Store) -> None:
    project, (ada, _) = filled_project(fresh_store, 1, people=("Ada", "Bo"), per_item=2)
    item = take(fresh_store, project, ada)[0]
    first = decide(item, "skip")
    store_operations(fresh_store, project, ada, [first], now=START)
    take(fresh_store, project, ada)  # the desk requests more before she undoes it
    undo = decide(item, None, base=first.op_id)
    store_operations(fresh_store, project, ada, [undo, decide(item, "skip", base=undo.op_id)], now=START)
    assert fresh_store.db.execute("SELECT skips FROM assignment").fetchall() == [(1,)]
    assert uids(take(fresh_store, project, ada)) == [item.uid]


def test_undoing_the_last_skip_takes_the_item_from_the_lead(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 1, people=("Ada",), per_item=1)
    item = take(fresh_store, project, ada)[0]
    first = decide(item, "skip")
    store_operations(fresh_store, project, ada, [first], now=START)
    assert counts(fresh_store, project).aside == 0  # the desk shows that it returns at the end
    assert uids(take(fresh_store, project, ada)) == [item.uid]
    skip = decide(item, "skip", base=first.op_id)
    store_operations(fresh_store, project, ada, [skip], now=START)
    assert counts(fresh_store, project).aside == 1
    store_operations(fresh_store, project, ada, [decide(item, None, base=skip.op_id)], now=START)
    assert counts(fresh_store, project).aside == 0
    assert uids(take(fresh_store, project, ada)) == [item.uid]


def test_an_annotator_holds_at_most_the_limit(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, MOST_LEASED + 20)
    items = take(fresh_store, project, ada, want=10_000)
    assert len(items) == MOST_LEASED
    assert take(fresh_store, project, ada, want=10, have=items) == []
    assert take(fresh_store, project, ada, want=-1) == []


def test_no_four_items_of_a_side_in_a_row(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 90, words=("他", "她", "爸爸", "男孩", "姥爷", "妈妈"))
    sides: list[str] = []
    have: list[Item] = []
    while items := take(fresh_store, project, ada, 7, have=have):
        have += items
        sides += [item.side for item in items]
    assert len(sides) == 90
    left = Counter(sides)
    for n, side in enumerate(sides):
        if n >= 3 and len(set(sides[n - 3 : n + 1])) == 1:
            assert left[side] == left.total()
        left[side] -= 1


def test_the_order_depends_on_seed_and_texts_only(fresh_store: Store) -> None:
    orders = []
    for seed in (5, 5, 6):
        project, people = filled_project(fresh_store, 30, seed=seed)
        orders.append([item.text for item in take(fresh_store, project, people[0])])
    assert orders[0] == orders[1] != orders[2]


def test_a_closed_cell_is_not_served_and_opens_again(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(
        fresh_store, 12, people=("Ada", "Bo"), words=("他", "她"), per_item=1, quotas={("他/她", "male"): 2}
    )
    first = [item for item in take(fresh_store, project, ada) if item.side == "male"][:2]
    accepts = [decide(item) for item in first]
    store_operations(fresh_store, project, ada, accepts, now=START)
    late = START + LEASE_S + 1
    assert {item.side for item in take(fresh_store, project, bo, now=late)} == {"female"}
    store_operations(fresh_store, project, ada, [decide(first[0], None, base=accepts[0].op_id)], now=late)
    assert "male" in {item.side for item in take(fresh_store, project, bo, now=late + LEASE_S + 1)}
    set_quotas(fresh_store, project, {("他/她", "male"): 0, ("他/她", "female"): 0})
    add_annotators(fresh_store, project, ["Chen"])
    chen = annotators(fresh_store, project)[2]
    assert take(fresh_store, project, chen, now=late + 5_000) == []


def test_a_higher_number_per_item_opens_items_again(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 8, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada)
    store_operations(fresh_store, project, ada, [decide(item) for item in held], now=START)
    assert take(fresh_store, project, bo) == []
    assert counts(fresh_store, project).accepted == 8
    project = change_project(fresh_store, project, per_item=2)
    assert counts(fresh_store, project).accepted == 0
    assert sorted(uids(take(fresh_store, project, bo))) == sorted(uids(held))
    project = change_project(fresh_store, project, per_item=1)
    assert counts(fresh_store, project).accepted == 8
    assert broken_rules(fresh_store) == []


def test_leaving_returns_all_items(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 6, people=("Ada", "Bo"), per_item=1)
    held = take(fresh_store, project, ada)
    remove_annotator(fresh_store, project, ada)
    assert annotators(fresh_store, project) == [bo]
    assert sorted(uids(take(fresh_store, project, bo))) == sorted(uids(held))
    assert take(fresh_store, project, ada) == []
    assert store_operations(fresh_store, project, ada, [decide(held[0])], now=START)[
        0
    ].stored  # was made while she was here
    add_annotators(fresh_store, project, ["Ada"])
    assert annotators(fresh_store, project) == [ada, bo]


def test_leaving_sets_items_without_further_annotators_aside(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 1, people=("Ada", "Bo"), per_item=1)
    store_operations(fresh_store, project, ada, [decide(take(fresh_store, project, ada)[0], "skip")], now=START)
    assert counts(fresh_store, project).aside == 0
    remove_annotator(fresh_store, project, bo)
    assert counts(fresh_store, project).aside == 0  # she alone is left: once more
    store_operations(fresh_store, project, ada, [decide(take(fresh_store, project, ada)[0], "skip")], now=START)
    assert counts(fresh_store, project).aside == 1
    add_annotators(fresh_store, project, ["Bo", "Chen"])
    assert counts(fresh_store, project).aside == 0
    assert len(take(fresh_store, project, bo)) == 1
    assert broken_rules(fresh_store) == []


def test_a_non_member_gets_no_items(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 3)
    stranger = filled_project(fresh_store, 3, people=("Dan",))[1][0]
    with pytest.raises(NotAllowed):
        take(fresh_store, project, stranger)
    with pytest.raises(NotAllowed):
        heartbeat(fresh_store, project, stranger)


def test_a_project_without_items_hands_out_nothing(fresh_store: Store) -> None:
    project = create_project(fresh_store, "empty", annotators=["Ada"])
    assert take(fresh_store, project, annotators(fresh_store, project)[0]) == []


def test_a_second_file_is_served_after_the_first(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 8, words=("他", "她"))
    first = take(fresh_store, project, ada)
    with Batch.begin(fresh_store, project, "second.txt") as batch:
        batch.add(new_items(8, ("他", "她"), first=100))
        assert take(fresh_store, project, ada, have=first) == []
        batch.publish()
    assert len(take(fresh_store, project, ada, have=first)) == 8


choices = st.sampled_from(("accept", "reject"))
moves = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 6), choices, choices, st.sampled_from(("label", "skip", "undo"))),
    min_size=1,
    max_size=12,
)


def play(store: Store, script: list[tuple[int, int, str, str, str]], version: int) -> list[list[str]]:
    """Let three people work by the script, the others with the choices of *version*; return the texts sent to Ada."""
    project, people = filled_project(store, 24, per_item=2, seed=3)
    sent: list[list[str]] = []
    bases: dict[tuple[int, str], str] = {}
    for n, (who, want, first, second, what) in enumerate(script):
        items = take(store, project, people[who], want, now=START + n)
        if who == 0:
            sent.append([item.text for item in items])
        choice = first if who == 0 or version == 0 else second
        for item in items[:2]:
            label = decide(item, "skip" if what == "skip" else choice, base=bases.get((who, item.uid)))
            bases[who, item.uid] = label.op_id
            store_operations(store, project, people[who], [label], now=START + n)
            if what == "undo":
                undo = decide(item, None, base=label.op_id)
                bases[who, item.uid] = undo.op_id
                store_operations(store, project, people[who], [undo], now=START + n)
            elif what == "label" and choice == "reject":
                reveal(store, project, people[who], item.uid)
    assert broken_rules(store) == []
    return sent


@settings(max_examples=15, deadline=None)
@given(moves)
def test_handed_out_items_do_not_depend_on_labels_of_others(
    fresh_store: Store, script: list[tuple[int, int, str, str, str]]
) -> None:
    assert play(fresh_store, script, 0) == play(fresh_store, script, 1)
