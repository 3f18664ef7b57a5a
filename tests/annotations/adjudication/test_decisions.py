"""Settling disagreements: what is a case, who may decide what, and what a decision changes."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.annotations.adjudication.decisions import (
    add_comment,
    case,
    case_counts,
    cases,
    decide_case,
    each_decision_row,
    patterns,
    reopen,
)
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, project
from evenhand.annotations.types import Item, Mark, Project
from evenhand.core.errors import EvenhandError, NotAllowed, NotFound, Refused
from tests.support.judged_sentences import A, R, generations, judged, state
from tests.support.projects import broken_rules, database, decide, new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(database(tmp_path)) as opened:
        yield opened


def settled(store: Store, made: Project, item: Item, choice: str | None, **fields: object) -> None:
    seen = case(store, made, item.uid)
    values = {"adjudicator": "Lead", "why": "as the guideline says", "seen": seen.seen} | fields
    decide_case(store, made, item.uid, choice=choice, **values)  # type: ignore[arg-type]


def test_only_finished_items_with_different_labels_are_cases(store: Store) -> None:
    made, items = judged(store, ["aaa", "aar", "ar", "rrr", "rra"])
    assert cases(store, made) == [items[1].uid, items[4].uid]
    assert case_counts(store, made) == {"open": 2, "settled": 0}
    assert patterns(store, made) == [("accept/reject", 2)]
    assert cases(store, made, between="accept/reject") == cases(store, made) and not cases(store, made, between="x/y")


def test_authors_are_letters_that_change_from_item_to_item(fixed_ids: None, store: Store) -> None:
    made, items = judged(store, ["aar"] * 30)
    orders = [[label.choice for label in case(store, made, item.uid).labels] for item in items]
    assert [case(store, made, items[0].uid).labels[n].letter for n in range(3)] == ["A", "B", "C"]
    assert {order.index(R) for order in orders} == {0, 1, 2}
    again = [[label.choice for label in case(store, made, item.uid).labels] for item in items]
    assert again == orders  # the same on every visit
    assert "Ada" not in repr(case(store, made, items[0].uid).labels)


def test_adjudication_accepts_a_rejected_item_only_with_rescue(store: Store) -> None:
    made, items = judged(store, ["aar", "aar"])
    with pytest.raises(NotAllowed, match="all annotators accept"):
        settled(store, made, items[0], A)
    assert state(store, items[0]) == ("rejected", R)
    made = change_project(store, made, rescue=True)
    settled(store, made, items[0], A)
    assert state(store, items[0]) == ("accepted", A)
    made = change_project(store, made, rescue=False)  # the rule holds again, so rescued items are not accepted
    assert state(store, items[0]) == ("rejected", R)
    assert state(store, items[1]) == ("rejected", R)
    assert broken_rules(store) == []


def test_a_case_left_undecided_is_settled_and_can_be_reopened(store: Store) -> None:
    made, items = judged(store, ["aar"])
    settled(store, made, items[0], None, why="")
    assert case_counts(store, made) == {"open": 0, "settled": 1} and state(store, items[0]) == ("rejected", R)
    standing = case(store, made, items[0].uid).settlement
    assert standing and standing.action == "leave" and standing.adjudicator == "Lead"
    reopen(store, made, items[0].uid, adjudicator="Lead", base=standing.op_id)
    assert case_counts(store, made) == {"open": 1, "settled": 0}
    assert [settlement.action for settlement in case(store, made, items[0].uid).settlements] == ["leave", "reopen"]


def test_an_adjudicator_decides_a_generation_with_marks(store: Store) -> None:
    made, items = generations(store)
    assert cases(store, made) == [items[0].uid, items[1].uid]  # the second differs in the flag alone
    assert state(store, items[0]) == ("pending", None) and state(store, items[1]) == ("accepted", "correct")
    with pytest.raises(Refused, match="the wrong pronoun must be marked"):
        settled(store, made, items[0], "misgendering")
    settled(store, made, items[0], "misgendering", marks=(Mark(0, 2, "pronoun"),), extraneous=False)
    assert state(store, items[0]) == ("accepted", "misgendering")
    (row,) = each_decision_row(store, made)
    assert (row["item"], row["choice"], row["spans"], row["extraneous"]) == (
        items[0].uid, "misgendering", [[0, 2, "pronoun"]], False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"choice": "maybe"}, "not a choice"),
        ({"choice": R, "reasons": ("nonsense",)}, "not a reason"),
        ({"choice": R, "why": "  "}, "needs a reason or a note"),
        ({"choice": R, "adjudicator": " "}, "Enter the adjudicator's name"),
        ({"choice": R, "seen": ("another",)}, "labels of this item have changed"),
        ({"choice": R, "base": "nothing"}, "This item was reopened in the meantime. Look at it again."),
        ({"choice": R, "why": "x" * 4001}, "exceeds 4000"),
        ({"choice": R, "why": "a\x00b"}, "control character"),
    ],
)
def test_invalid_decisions_are_refused(store: Store, fields: dict[str, object], why: str) -> None:
    made, items = judged(store, ["aar"])
    with pytest.raises(EvenhandError, match=why):
        settled(store, made, items[0], **fields)  # type: ignore[arg-type]
    assert list(each_decision_row(store, made)) == []


def test_an_item_without_all_labels_cannot_be_adjudicated(store: Store) -> None:
    made, items = judged(store, ["ar"])
    with pytest.raises(
        NotAllowed, match=r"This item is still awaiting labels; adjudication begins once it has all of them\."
    ):
        settled(store, made, items[0], R)
    with pytest.raises(NotAllowed, match="all annotators have labelled"):
        add_comment(store, made, items[0].uid, "I doubt it.", author="Lead")
    with pytest.raises(NotFound):
        case(store, made, "nowhere")


def test_a_second_adjudicator_is_refused_with_the_name_of_the_first(store: Store) -> None:
    made, items = judged(store, ["aar"])
    settled(store, made, items[0], None, adjudicator="One")
    with pytest.raises(NotAllowed, match=r"One has settled this item in the meantime|\{name\} has settled"):
        settled(store, made, items[0], R, adjudicator="Two")
    assert len(list(each_decision_row(store, made))) == 1


def test_a_repeated_decision_is_stored_once(store: Store) -> None:
    made, items = judged(store, ["aar"])
    for _ in range(2):
        settled(store, made, items[0], R, op_id="click")
    assert len(list(each_decision_row(store, made))) == 1


def test_comments_open_after_all_labels_and_are_kept(store: Store) -> None:
    made, items = judged(store, ["aar"])
    (ada, *_) = annotators(store, made)
    add_comment(store, made, items[0].uid, " Is this a name? ", author="Lead", op_id="c1")
    add_comment(store, made, items[0].uid, "Is this a name?", author="Lead", op_id="c1")
    add_comment(store, made, items[0].uid, "Yes.\nSee rule 2.", author=ada.name, annotator=ada)
    result = case(store, made, items[0].uid).comments
    assert [(comment.author, comment.annotator, comment.text) for comment in result] == [
        ("Lead", None, "Is this a name?"),
        ("Ada", ada.uid, "Yes.\nSee rule 2."),
    ]
    with pytest.raises(Refused, match=r"A comment cannot be empty\."):
        add_comment(store, made, items[0].uid, " ", author="Lead")


def test_settlements_and_comments_are_append_only(store: Store) -> None:
    made, items = judged(store, ["aar"])
    settled(store, made, items[0], R)
    add_comment(store, made, items[0].uid, "So be it.", author="Lead")
    for statement in ("UPDATE settlement SET why = ''", "DELETE FROM settlement", "DELETE FROM comment"):
        with pytest.raises(Exception, match="appended"):
            store.db.execute(statement)


def test_a_late_label_does_not_undo_a_decision(store: Store) -> None:
    made, items = judged(store, ["aar"], people=("Ada", "Bo", "Chen", "Dai"))
    made = change_project(store, made, rescue=True)
    settled(store, made, items[0], A)
    late = annotators(store, made)[3]
    store_operations(store, made, late, [decide(items[0], R, desk="late")])
    assert state(store, items[0]) == ("accepted", A)


def _race(path: str, name: str, uid: str, seen: list[str], ready: object, results: object) -> None:
    try:
        with Store.open(path) as store:
            made = project(store, name)
            ready.wait()  # type: ignore[attr-defined]
            decide_case(store, made, uid, adjudicator="somebody", choice=R, seen=seen, why="because")
            answer = "stored"
    except NotAllowed:
        answer = "told"
    except Exception as error:  # written by the test, since the answer never arrives
        answer = repr(error)
    results.put(answer)  # type: ignore[attr-defined]


def test_one_of_three_simultaneous_decisions_is_stored(tmp_path: Path) -> None:
    with Store.open(database(tmp_path)) as store:
        made, items = judged(store, ["aar"])
        seen = list(case(store, made, items[0].uid).seen)
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(3), context.Queue()
    arguments = (str(database(tmp_path)), made.name, items[0].uid, seen, ready, results)
    workers = [context.Process(target=_race, args=arguments) for _ in range(3)]
    for worker in workers:
        worker.start()
    result = sorted(results.get(timeout=600) for _ in workers)
    for worker in workers:
        worker.join(600)
    assert result == ["stored", "told", "told"]
