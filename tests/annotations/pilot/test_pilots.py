"""Pilots: what is drawn, that nothing else is handed out, how one ends; their figures against counts by hand."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.undo_import import undo_import
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import Pilot, close_pilot, open_pilot, own_pilot, pilots, start_pilot
from evenhand.annotations.pilot.progress import differing_items, letters, pilot_progress
from evenhand.annotations.projects.projects import (
    add_annotators,
    change_project,
    create_project,
    remove_annotator,
    set_quotas,
)
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.projects import broken_rules, database, decide, filled_project, new_items, new_store

NOW = 1_000_000.0


def everything(store: Store, project: Project, person: Annotator, choices: str = "a") -> list[Item]:
    """Let one person label all items handed out, with the choices in turn (a, r); return the items."""
    done: list[Item] = []
    while items := claim(store, project, person, want=10, now=NOW):
        for item in items:
            choice = "accept" if choices[len(done) % len(choices)] == "a" else "reject"
            store_operations(store, project, person, [decide(item, choice)], now=NOW)
            done.append(item)
    return done


def rows(store: Store, query: str, *values: object) -> list[tuple[object, ...]]:
    return store.db.execute(query, values).fetchall()


def pilot_items(store: Store, pilot: Pilot) -> list[int]:
    """Return the row ids of the items of a pilot, in the order of their ranks."""
    return [row[0] for row in store.db.execute("SELECT id FROM item WHERE pilot = ? ORDER BY rank", (pilot.id,))]


def test_only_drawn_items_are_handed_out_to_all_annotators(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 40, per_item=2, people=("A", "B", "C", "D"))
    pilot = start_pilot(fresh_store, project, 10)
    drawn = set(pilot_items(fresh_store, pilot))
    assert (pilot.number, pilot.items, pilot.people, pilot.closed) == (1, 10, 4, None) and len(drawn) == 10
    for person in people:
        labelled = everything(fresh_store, project, person)
        assert {item.id for item in labelled} == drawn
        result = own_pilot(fresh_store, project, person)
        assert result is not None and (result.labelled, result.items) == (10, 10)
    assert rows(fresh_store, "SELECT DISTINCT labels, wanted, status FROM item WHERE pilot IS NOT NULL") == [
        (4, 4, "accepted")
    ]
    assert broken_rules(fresh_store) == []
    close_pilot(fresh_store, project)
    assert own_pilot(fresh_store, project, people[0]) is None
    rest = everything(fresh_store, project, people[0])
    assert len(rest) == 30 and not {item.id for item in rest} & drawn


def test_sides_are_mixed_in_a_pilot(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 64)
    start_pilot(fresh_store, project, 32)
    sides = [item.side for item in claim(fresh_store, project, ada, want=32, now=NOW)]
    left = {side: sides.count(side) for side in ("male", "female")}
    for place in range(3, len(sides)):
        left = {side: sides[place:].count(side) for side in left}
        if min(left.values()) > 0:
            assert len(set(sides[place - 3 : place + 1])) == 2


def test_the_draw_depends_on_seed_number_and_texts_alone(fresh_store: Store, tmp_path: Path) -> None:
    def drawn(store: Store, seed: int | None) -> list[str]:
        project, _ = filled_project(store, 40)
        pilot = start_pilot(store, project, 12, seed=seed)
        return sorted(row[0] for row in store.db.execute("SELECT text FROM item WHERE pilot = ?", (pilot.id,)))

    with Store.open(tmp_path / "other.db") as other:
        assert drawn(fresh_store, 7) == drawn(other, 7) != drawn(other, 8)
        assert drawn(other, None) == drawn(other, 0)


def test_starting_a_pilot_returns_leased_items_and_accepts_their_labels(fresh_store: Store) -> None:
    project, (ada, bo, _) = filled_project(fresh_store, 30)
    before = claim(fresh_store, project, ada, want=10, now=NOW)
    store_operations(fresh_store, project, ada, [decide(before[0])], now=NOW)
    pilot = start_pilot(fresh_store, project, 5)
    drawn = set(pilot_items(fresh_store, pilot))
    assert before[0].id not in drawn  # it has a label
    assert {item.id for item in claim(fresh_store, project, ada, want=10, now=NOW)} == drawn
    outside = next(item for item in before[1:] if item.id not in drawn)
    assert store_operations(fresh_store, project, ada, [decide(outside)], now=NOW)[0].stored
    assert broken_rules(fresh_store) == []
    everything(fresh_store, project, bo)
    close_pilot(fresh_store, project)
    assert len(everything(fresh_store, project, ada)) + len(everything(fresh_store, project, bo)) > 0
    assert rows(fresh_store, "SELECT count(*) FROM item WHERE labels > 0") == [(30,)]


def test_closing_early_releases_untouched_items(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 30, per_item=2, people=("A", "B", "C"))
    pilot = start_pilot(fresh_store, project, 12)
    for item in claim(fresh_store, project, people[0], want=5, now=NOW)[:4]:
        store_operations(fresh_store, project, people[0], [decide(item)], now=NOW)
    ended = close_pilot(fresh_store, project, author="Lead")
    assert ended.closed and ended.people == 1 and ended.items == 12
    assert len(pilot_items(fresh_store, ended)) == 4
    assert rows(fresh_store, "SELECT DISTINCT wanted FROM item") == [(2,)]
    for person in people:
        everything(fresh_store, project, person)
    assert rows(fresh_store, "SELECT DISTINCT labels, taken, status FROM item") == [(2, 2, "accepted")]
    assert [event.action for event in events(fresh_store, project)][:2] == ["pilot_started", "pilot_closed"]
    assert events(fresh_store, project, action="pilot_closed")[0].data == {"pilot": 1, "items": 12, "labelled": 4}
    assert broken_rules(fresh_store) == [] and pilot.id == ended.id


def test_leaving_during_a_pilot_leaves_no_item_pending(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 10, per_item=2, people=("A", "B", "C"))
    start_pilot(fresh_store, project, 6)
    for person in people[:2]:
        everything(fresh_store, project, person)
    remove_annotator(fresh_store, project, people[2])
    pilot = open_pilot(fresh_store, project)
    assert pilot is not None and pilot_progress(fresh_store, project, pilot).complete
    close_pilot(fresh_store, project)
    assert rows(fresh_store, "SELECT DISTINCT labels, wanted, status FROM item WHERE pilot IS NOT NULL") == [
        (2, 2, "accepted")
    ]


def test_the_plan_stop_does_not_shorten_a_pilot(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 12)
    project = change_project(fresh_store, project, plan="stop", share=0.0)
    start_pilot(fresh_store, project, 5)
    for person in people:
        assert len(everything(fresh_store, project, person, "r")) == 5
    assert rows(fresh_store, "SELECT DISTINCT labels, status FROM item WHERE pilot IS NOT NULL") == [(3, "rejected")]


def test_a_met_quota_does_not_close_a_pilot(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 16)
    set_quotas(fresh_store, project, {("他/她", "male"): 0, ("他/她", "female"): 0})
    pilot = start_pilot(fresh_store, project, 16)
    assert len(everything(fresh_store, project, ada)) == pilot.items == 16


def test_a_skipped_item_comes_again_within_the_pilot(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 20)
    start_pilot(fresh_store, project, 3)
    first, *rest = claim(fresh_store, project, ada, now=NOW)
    store_operations(fresh_store, project, ada, [decide(first, "skip"), *map(decide, rest)], now=NOW)
    assert claim(fresh_store, project, ada, now=NOW) == [first]


def test_several_pilots_draw_different_items(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 20)
    seen: set[int] = set()
    for number in (1, 2, 3):
        pilot = start_pilot(fresh_store, project, 5)
        assert pilot.number == number
        mine = set(pilot_items(fresh_store, pilot))
        assert not mine & seen
        seen |= mine
        for person in people:
            everything(fresh_store, project, person)
        close_pilot(fresh_store, project)
    assert [started.number for started in pilots(fresh_store, project)] == [1, 2, 3]


def test_invalid_starts_and_ends_of_a_pilot_are_refused(fresh_store: Store) -> None:
    empty = create_project(fresh_store, "empty", annotators=("Ada",))
    with pytest.raises(Refused, match="Import a file first"):
        start_pilot(fresh_store, empty, 5)
    nobody, _ = filled_project(fresh_store, 5, people=())
    with pytest.raises(Refused, match="no annotators yet"):
        start_pilot(fresh_store, nobody, 5)
    project, _ = filled_project(fresh_store, 5)
    with pytest.raises(NotFound):
        close_pilot(fresh_store, project)
    with pytest.raises(Refused):
        start_pilot(fresh_store, project, 0)
    assert start_pilot(fresh_store, project, 50).items == 5
    with pytest.raises(NotAllowed, match="is already open"):
        start_pilot(fresh_store, project, 1)


def test_simultaneous_starts_make_one_pilot(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        project, _ = filled_project(store, 30)
    outcomes: list[str] = []

    def press() -> None:
        with Store.open(database(tmp_path)) as store:
            try:
                start_pilot(store, project, 10)
            except NotAllowed:
                outcomes.append("refused")
            else:
                outcomes.append("started")

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Store.open(database(tmp_path)) as store:
        assert sorted(outcomes) == ["refused"] * 3 + ["started"] and len(pilots(store, project)) == 1
        assert rows(store, "SELECT count(*) FROM item WHERE pilot IS NOT NULL") == [(10,)]


@settings(max_examples=6)
@given(data=st.data())
def test_every_item_can_be_finished_after_any_course_of_pilots(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with new_store(tmp_path_factory.mktemp("p") / "p.db") as store:
        project, people = filled_project(store, 14, per_item=2)
        for _ in range(data.draw(st.integers(3, 12))):
            match data.draw(st.sampled_from(("label", "start", "close", "join"))):
                case "start" if open_pilot(store, project) is None:
                    with_items = rows(store, "SELECT 1 FROM item WHERE labels = 0 AND pilot IS NULL")
                    if with_items:
                        start_pilot(store, project, data.draw(st.integers(1, 6)))
                case "close" if open_pilot(store, project) is not None:
                    close_pilot(store, project)
                case "join":
                    people = add_annotators(store, project, [f"new {len(people)}"])
                case _:
                    person = data.draw(st.sampled_from(people))
                    for item in claim(store, project, person, want=3, now=NOW):
                        store_operations(store, project, person, [decide(item)], now=NOW)
            assert broken_rules(store) == []
        if open_pilot(store, project) is not None:
            close_pilot(store, project)
        for person in people:
            everything(store, project, person)
        assert rows(store, "SELECT count(*) FROM item WHERE labels < wanted") == [(0,)]


def test_figures_of_a_pilot_equal_counts_by_hand(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 20, per_item=2)
    pilot = start_pilot(fresh_store, project, 8)
    figures = pilot_progress(fresh_store, project, pilot)
    assert figures.unanimous.value is None and figures.unanimous.reason and not figures.complete
    everything(fresh_store, project, people[0], "a")
    everything(fresh_store, project, people[1], "ar")
    everything(fresh_store, project, people[2], "a")
    figures = pilot_progress(fresh_store, project, pilot)
    assert figures.complete and (figures.items, figures.labelled, figures.compared) == (8, 8, 8)
    # Wilson (1927), 4 of 8: 0.2152 to 0.7848; 8 of 8: 0.6756 to 1.
    assert figures.unanimous.value == 0.5
    assert figures.unanimous.low == pytest.approx(0.2152, abs=1e-4)
    assert figures.unanimous.high == pytest.approx(0.7848, abs=1e-4)
    assert [person.accepted.value for person in figures.people] == [1.0, 0.5, 1.0]
    assert figures.people[0].accepted.low == pytest.approx(0.6756, abs=1e-4)
    named = letters(fresh_store, project, pilot)
    assert sorted(named.values()) == ["A", "B", "C"] and letters(fresh_store, project, pilot) == named


def test_undone_items_are_in_no_pilot(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 10, per_item=2, people=("A", "B"))
    with Batch.begin(fresh_store, project, "more.txt") as batch:
        batch.add(new_items(10, first=500))
        batch.publish()
    pilot = start_pilot(fresh_store, project, 20)
    for item in claim(fresh_store, project, people[0], want=20, now=NOW):
        store_operations(
            fresh_store, project, people[0], [decide(item, "reject" if "第5" in item.text else "accept")], now=NOW
        )
    assert pilot_progress(fresh_store, project, pilot).labelled == 20
    undo_import(fresh_store, project, batch.id)
    figures, own = pilot_progress(fresh_store, project, pilot), own_pilot(fresh_store, project, people[0])
    rejected = sum("第5" in text for (text,) in rows(fresh_store, "SELECT text FROM item WHERE batch = 1"))
    assert (figures.items, figures.labelled, figures.people[0].labelled, figures.complete) == (10, 10, 10, False)
    assert figures.people[0].accepted.value == 1 - rejected / 10 and own is not None
    assert (own.labelled, own.items) == (10, 10)
    everything(fresh_store, project, people[1])
    assert pilot_progress(fresh_store, project, pilot).complete


def test_relabelling_does_not_change_the_figures_of_a_closed_pilot(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 12)
    start_pilot(fresh_store, project, 4)
    for person, choices in zip(people, ("a", "ar", "a"), strict=True):
        everything(fresh_store, project, person, choices)
    ended = close_pilot(fresh_store, project)
    before = pilot_progress(fresh_store, project, ended)
    now = replace(read_draft(fresh_store, project), text="anew", changes="All of it.")
    write_version(fresh_store, project, now, which="all")
    for item in claim(fresh_store, project, people[1], want=9, now=NOW):
        store_operations(fresh_store, project, people[1], [decide(item, base=None, desk="late")])
    assert pilot_progress(fresh_store, project, ended) == before and before.unanimous.value == 0.5


def test_items_held_back_by_a_pilot_are_handed_out_afterwards(fresh_store: Store) -> None:
    """Bo had passed items that Ada held; more of them return at the same time than a desk is handed."""
    made, (ada, bo) = filled_project(fresh_store, 120, people=("Ada", "Bo"), per_item=1)
    assert len(claim(fresh_store, made, ada, want=120, now=NOW)) == 120
    assert claim(fresh_store, made, bo, now=NOW) == []
    start_pilot(fresh_store, made, 120)
    close_pilot(fresh_store, made)
    assert len({entry.uid for entry in everything(fresh_store, made, bo)}) == 120
    assert broken_rules(fresh_store) == []


def test_disagreements_are_listed_when_the_pilot_ends(fresh_store: Store) -> None:
    """An item that an annotator has yet to label is left out, so that labels stay blind."""
    project, people = filled_project(fresh_store, 8)
    pilot = start_pilot(fresh_store, project, 4)
    texts = [row[0] for row in rows(fresh_store, "SELECT uid FROM item WHERE pilot = ? ORDER BY id", pilot.id)]
    for uid, pattern in zip(texts, ("aaa", "aar", "raa", "ar"), strict=True):
        for person, letter in zip(people, pattern, strict=False):
            operation = decide(str(uid), {"a": "accept", "r": "reject"}[letter])
            assert store_operations(fresh_store, project, person, [operation])[0].stored
    closed = close_pilot(fresh_store, project)
    result = differing_items(fresh_store, project, closed)
    assert [item.uid for item in result] == texts[1:3]
    assert [sorted(choice for _letter, choice, _reasons in item.said) for item in result] == [
        ["accept", "accept", "reject"]
    ] * 2
    assert {reasons for item in result for _letter, choice, reasons in item.said if choice == "reject"} == {("name",)}
    assert [[letter for letter, *_rest in item.said] for item in result] == [["A", "B", "C"]] * len(result)
    add_annotators(fresh_store, project, ["Later"])
    assert differing_items(fresh_store, project, closed) == result, "who joins later changes no letter"
