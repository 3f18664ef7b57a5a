"""One item's history: everything is there, in order, and an annotator sees only the own part of it."""

import json
from collections.abc import Sequence

import pytest

from evenhand.annotations.adjudication.decisions import add_comment, case, decide_case
from evenhand.annotations.browse.history import Entry, gold_reasons, item_history, record_of
from evenhand.annotations.browse.search import Filters, rows, search_ids
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.projects.projects import add_guideline, annotators, change_project, guideline, project
from evenhand.annotations.types import Item, Mark, Project
from evenhand.core.errors import NotFound
from evenhand.core.files.timestamps import timestamp
from tests.support.judged_sentences import all_items, generations, judged
from tests.support.projects import decide, filled_project


def kinds(entries: Sequence[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def test_history_lists_every_event_in_order(fresh_store: Store) -> None:
    store = fresh_store
    made, people = filled_project(store, 1)
    (item,) = all_items(store, made)
    ada, bo, chen = people
    first, second, back = decide(item, "skip", desk="a"), decide(item, "reject", desk="a", note="A name?"), None
    store_operations(store, made, ada, [first])
    store_operations(store, made, ada, [second])
    back = decide(item, None, desk="a")
    store_operations(store, made, ada, [back])
    store_operations(store, made, ada, [decide(item, "accept", desk="a", seconds=2.5)])
    store_operations(store, made, bo, [decide(item, "accept", desk="b", form_shown="masked")])
    reveal(store, made, bo, item.uid)
    store_operations(store, made, bo, [decide(item, "reject", desk="b")])
    version = guideline(store, made)
    add_guideline(store, made, "New.", version.choices, version.reasons)
    store_operations(store, made, chen, [decide(item, "reject", desk="c")])
    add_comment(store, made, item.uid, "Why?", author="Lead", thread=ada)
    add_comment(store, made, item.uid, "For all.", author="Bo", annotator=bo)
    dispute = case(store, made, item.uid)
    decide_case(store, made, item.uid, adjudicator="Lead", choice="reject", seen=dispute.seen, why="A name.")
    with store.write():
        record(store, made, "handed_out", item=item, author="Lead")
    _release(store, made, item)
    history = item_history(store, made, item.uid)
    # In the order of time; events of the same millisecond may come in either order.
    assert [event.when for event in history] == sorted(event.when for event in history)
    assert kinds(history)[0] == "imported"
    assert sorted(kinds(history)) == sorted([
        "imported", "skip", "label", "label", "label", "label", "revealed", "label", "guideline", "label", "comment",
        "comment", "settlement", "event", "released",
    ])  # fmt: skip
    labels = [event for event in history if event.kind == "label"]
    assert [(label.who, label.data["choice"], label.data["stands"], label.data["blind"]) for label in labels] == [
        ("Ada", "reject", False, False),
        ("Ada", None, False, False),
        ("Ada", "accept", True, True),
        ("Bo", "accept", False, True),
        ("Bo", "reject", True, False),
        ("Chen", "reject", True, True),
    ]
    assert (labels[0].data["note"], labels[0].data["reasons"]) == ("A name?", ["name"])
    assert labels[2].data["seconds"] == 2.5 and labels[4].data["after_reveal"] and labels[5].data["guideline"] == 2
    (released,) = [event.data for event in history if event.kind == "released"]
    assert released == {"version": "1.0", "status": "rejected", "gold": "reject"}


def _release(store: Store, made: Project, item: Item) -> None:
    with store.write() as db:
        db.execute(
            "INSERT INTO release (id, uid, project, version, hash, items, labels, facts, author, created)"
            " VALUES (1, 'r', ?, '1.0', 'h', 0, 0, '{}', 'Lead', ?)",
            (made.id, timestamp()),
        )
        db.execute(
            "INSERT INTO release_item (release, item, status, gold) VALUES (1, ?, 'rejected', 'reject')", (item.id,)
        )
    assert "released" not in kinds(item_history(store, made, item.uid))  # it is still being written
    assert search_ids(store, made, Filters(flag="released")) == []
    store.db.execute("UPDATE release SET whole = 1")
    assert search_ids(store, made, Filters(flag="released")) == [item.id]


def test_a_superseded_label_is_marked_in_the_history(fresh_store: Store) -> None:
    made, people = filled_project(fresh_store, 1)
    (item,) = all_items(fresh_store, made)
    store_operations(fresh_store, made, people[0], [decide(item, "accept", desk="one")])
    store_operations(fresh_store, made, people[0], [decide(item, "reject", desk="two")])
    late = item_history(fresh_store, made, item.uid)[-1]
    assert late.data["superseded"] and not late.data["stands"]


def test_history_shows_the_label_of_a_retest(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["aaa"])
    ada = annotators(fresh_store, made)[0]
    version = guideline(fresh_store, made).id
    with fresh_store.write() as db:
        db.execute(
            "INSERT INTO retest (id, uid, project, item, annotator, due, state, created)"
            " VALUES (1, 'again', ?, ?, ?, 0, 'labelled', ?)",
            (made.id, items[0].id, ada.id, timestamp()),
        )
        db.execute(
            "INSERT INTO retest_label (id, op_id, retest, guideline, choice, form_shown, desk, revision, created)"
            " VALUES (1, 'o', 1, ?, 'reject', 'masked', 'd', 1, ?)",
            (version, timestamp()),
        )
        db.execute("UPDATE retest SET latest = 1")
    (again,) = [event for event in item_history(fresh_store, made, items[0].uid) if event.kind == "again"]
    assert (again.who, again.data["choice"], again.data["stands"]) == ("Ada", "reject", True) and again.tells
    assert "again" not in kinds(item_history(fresh_store, made, items[0].uid, reader=ada))


def test_an_annotator_sees_only_the_own_part_of_a_history(fresh_store: Store) -> None:
    store = fresh_store
    made, items = judged(store, ["aar"])
    ada, bo, _chen = annotators(store, made)
    uid = items[0].uid
    add_comment(store, made, uid, "Why, Bo?", author="Lead", thread=bo)
    add_comment(store, made, uid, "Why, Ada?", author="Lead", thread=ada)
    add_comment(store, made, uid, "I doubt it.", author="Bo", annotator=bo)
    dispute = case(store, made, uid)
    decide_case(store, made, uid, adjudicator="Lead", choice=None, seen=dispute.seen)
    store.db.execute("UPDATE item SET known = 'accept' WHERE id = ?", (items[0].id,))
    with store.write():
        record(store, made, "sent_back", item=items[0])
    own = item_history(store, made, uid, reader=ada)
    assert kinds(own) == ["imported", "label", "comment", "comment"]
    assert [(event.who, event.data["text"]) for event in own[2:]] == [("Lead", "Why, Ada?"), ("", "I doubt it.")]
    mine = record_of(store, made, uid, reader=ada)
    assert mine.held == () and mine.talkers == ()


def test_labels_and_comments_are_flagged_as_revealing_a_choice(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["a"])
    ada = annotators(fresh_store, made)[0]
    add_comment(fresh_store, made, items[0].uid, "Why?", author="Lead", thread=ada)
    fresh_store.db.execute("UPDATE batch SET created = '2020-01-01T00:00:00.000Z'")  # the clock was set back
    results = {event.kind: event.tells for event in item_history(fresh_store, made, items[0].uid)}
    assert results == {"imported": False, "label": True, "comment": True}
    assert not record_of(fresh_store, made, items[0].uid).finished


def test_record_lists_the_current_holders_of_an_item(fresh_store: Store) -> None:
    store = fresh_store
    made, people = filled_project(store, 1)
    (item,) = all_items(store, made)
    store_operations(store, made, people[0], [decide(item, "accept", desk="a")])
    store_operations(store, made, people[1], [decide(item, "skip", desk="b")])
    store.db.execute(
        "INSERT INTO assignment (item, annotator, project, state, turn) VALUES (?, ?, ?, 'leased', 1)",
        (item.id, people[2].id, made.id),
    )
    result = record_of(store, made, item.uid)
    assert result.held == (("Chen", "leased"),)
    assert result.talkers == (people[0].uid, people[1].uid)


def test_the_record_of_an_unknown_item_is_not_found(fresh_store: Store) -> None:
    made, _people = filled_project(fresh_store, 1)
    with pytest.raises(NotFound):
        record_of(fresh_store, made, "nowhere")


def test_history_shows_the_marks_of_a_generation(fresh_store: Store) -> None:
    made, items = generations(fresh_store)
    labels = [event for event in item_history(fresh_store, made, items[0].uid) if event.kind == "label"]
    assert labels[0].data["spans"] == [list(Mark(0, 2, "pronoun"))] and labels[0].data["extraneous"] is False
    assert json.dumps(labels[0].data)  # as a file may contain it


WHY = [
    ("", "unanimous", "This item has not been labelled yet."),
    ("a", "unanimous", "1 of 3 labels so far."),
    ("aaa", "unanimous", "All 3 labels are: accept."),
    ("rrr", "majority", "All 3 labels are: reject."),
    (
        "aar",
        "unanimous",
        "2 of 3 labels accept the sentence, but this project requires all annotators to accept.",
    ),
    ("aar", "majority", "2 of 3 labels are: accept. The majority decides."),
    ("rar", "majority", "2 of 3 labels are: reject. The majority decides."),
]


@pytest.mark.parametrize(("letters", "gold", "expected"), WHY)
def test_the_reason_of_a_status_follows_from_labels_and_rule(
    letters: str, gold: str, expected: str, fresh_store: Store
) -> None:
    made, items = judged(fresh_store, [letters])
    made = change_project(fresh_store, made, gold=gold)
    assert [str(note) for note in record_of(fresh_store, made, items[0].uid).because] == [expected]


def test_a_tie_waits_and_a_single_label_is_enough(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["ar", "a"], per_item=2)
    made = change_project(fresh_store, made, gold="majority")
    (row,) = rows(fresh_store, [items[0].id])
    assert "No choice has more than half of the 2 labels" in str(gold_reasons(fresh_store, made, row)[0])
    made = change_project(fresh_store, made, per_item=1)
    (row,) = rows(fresh_store, [items[1].id])
    assert str(gold_reasons(fresh_store, made, row)[0]) == "The only label is: accept."


def test_a_generation_with_different_labels_waits(fresh_store: Store) -> None:
    made, items = generations(fresh_store)
    assert str(record_of(fresh_store, made, items[0].uid).because[0]) == "The 2 labels differ: awaiting adjudication."


@pytest.mark.parametrize(
    ("rescue", "choice", "expected"),
    [
        (True, "accept", ["Lead decided: accept. A decision overrides the labels."]),
        (False, "reject", ["Lead decided: reject. A decision overrides the labels."]),
        (True, None, ["2 of 3 labels accept the sentence, but this project requires all annotators to accept.",
                      "Lead confirmed the labels."]),
    ],
)  # fmt: skip
def test_the_reason_of_a_status_after_adjudication(
    rescue: bool, choice: str | None, expected: list[str], fresh_store: Store
) -> None:
    made, items = judged(fresh_store, ["aar"])
    made = change_project(fresh_store, made, rescue=rescue)
    dispute = case(fresh_store, made, items[0].uid)
    decide_case(fresh_store, made, items[0].uid, adjudicator="Lead", choice=choice, seen=dispute.seen, why="So.")
    assert [str(note) for note in record_of(fresh_store, made, items[0].uid).because] == expected


def test_the_reason_names_a_decision_that_no_longer_counts(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["aar"])
    made = change_project(fresh_store, made, rescue=True)
    dispute = case(fresh_store, made, items[0].uid)
    decide_case(fresh_store, made, items[0].uid, adjudicator="Lead", choice="accept", seen=dispute.seen, why="So.")
    made = change_project(fresh_store, project(fresh_store, made.name), rescue=False)
    notes = [str(note) for note in record_of(fresh_store, made, items[0].uid).because]
    assert (
        notes[1] == "Lead decided: accept. The decision has no effect: this project requires all annotators to accept."
    )


def test_the_reason_names_the_reject_that_ended_labelling(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["r"], seed=3)
    made = change_project(fresh_store, made, plan="stop", share=0.0)
    result = record_of(fresh_store, made, items[0].uid)
    assert str(result.because[0]) == "Label 1 was a reject, so labelling ended: the plan stops at the first reject."
    assert result.row.item.status == "rejected"
