"""A new version: affected labels, returned items and their annotators; no label is lost or changes its annotator."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.undo_import import undo
from evenhand.annotations.guideline import relabelling
from evenhand.annotations.guideline.drafts import Draft, read_draft, write_version
from evenhand.annotations.guideline.relabelling import (
    count_affected,
    earlier_labels,
    remaining_to_relabel,
    send_for_relabelling,
)
from evenhand.annotations.guideline.versions import changed_codes, guideline
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import remove_annotator, replace_annotator
from evenhand.annotations.queue.leases import LEASE_S, claim
from evenhand.annotations.types import Annotator, Choice, Item, Operation, Project
from evenhand.core.errors import NotFound, Refused
from tests.support.projects import broken_rules, decide, filled_project, new_store

NOW = 1_000_000.0
SixLabelled = tuple[Store, Project, list[Annotator], list[Item]]


@pytest.fixture
def six_labelled(fresh_store: Store) -> SixLabelled:
    """Label six sentences: Ada accepts all, Bo rejects 0 to 2 (name), Chen 0 (generic) and 1 (name)."""
    project, people = filled_project(fresh_store, 6)
    items = sorted(claim(fresh_store, project, people[0], now=NOW), key=lambda item: item.id)
    plan = {1: {0: "name", 1: "name", 2: "name"}, 2: {0: "generic", 1: "name"}}
    for place, person in enumerate(people):
        choices = plan.get(place, {})
        operations = [
            decide(item, "reject" if n in choices else "accept", reasons=(choices[n],) if n in choices else ())
            for n, item in enumerate(items)
        ]
        store_operations(fresh_store, project, person, operations, now=NOW)
    return fresh_store, project, people, items


def changed(store: Store, project: Project, code: str = "name", **more: Any) -> Draft:
    """Return a draft in which one criterion is reworded."""
    now = read_draft(store, project)
    reasons = tuple(
        replace(reason, en=f"{reason.en}, anew") if reason.code == code else reason for reason in now.reasons
    )
    return replace(now, reasons=reasons, changes="Names are read more strictly.", **more)


def state(store: Store, item: Item) -> tuple[Any, ...]:
    query = "SELECT labels, taken, status, gold FROM item WHERE id = ?"
    return tuple(store.db.execute(query, (item.id,)).fetchone())


def assigned(store: Store, item: Item, person: Annotator) -> tuple[Any, ...]:
    query = "SELECT state, kept, latest, blind FROM assignment WHERE item = ? AND annotator = ?"
    return tuple(store.db.execute(query, (item.id, person.id)).fetchone())


def test_added_dropped_and_changed_codes_are_listed() -> None:
    old = [Choice("a", "1", "甲", "A"), Choice("b", "2", "乙", "B"), Choice("c", "3", "丙", "C")]
    new = [Choice("a", "9", "甲", "A"), Choice("b", "2", "乙", "B2"), Choice("d", "4", "丁", "D")]
    result = changed_codes(old, new)
    assert result == (("d",), ("c",), ("b",)) and result.touched == {"b", "c"}  # another key does not count as a change


def test_affected_labels_are_counted_before_publishing(six_labelled: SixLabelled) -> None:
    store, project, _, _ = six_labelled
    now = changed(store, project)
    result = count_affected(store, project, now.choices, now.reasons)
    assert (result.older.labels, result.named.labels, result.named.items) == (18, 4, 3)
    assert result.named.annotators == {"Bo": 3, "Chen": 1}
    assert (result.all.labels, result.all.items) == (17, 6)  # not the reject for a criterion that stays
    also = count_affected(store, project, now.choices, now.reasons, {"generic"})
    assert also.named.labels == 5
    dropped = tuple(reason for reason in now.reasons if reason.code != "generic")
    assert count_affected(store, project, now.choices, dropped).named.labels == 5


def test_labels_naming_a_changed_criterion_return_to_their_annotator(six_labelled: SixLabelled) -> None:
    store, project, (ada, bo, chen), items = six_labelled
    version, sent = write_version(store, project, changed(store, project), which="named", author="Lead")
    assert (version.version, sent.labels, sent.items) == (2, 4, 3)
    assert state(store, items[0]) == (2, 3, "pending", None)  # the slots stay taken
    assert state(store, items[3]) == (3, 3, "accepted", "accept")
    assert assigned(store, items[0], bo) == ("leased", 1, None, None)
    assert assigned(store, items[0], chen)[0] == "labelled"  # a criterion that stays
    assert remaining_to_relabel(store, project) == {"Bo": 3, "Chen": 1}
    assert {item.id for item in claim(store, project, bo, now=NOW)} == {item.id for item in items[:3]}
    assert claim(store, project, ada, now=NOW) == []
    assert len(label_rows(store, project, which="all")) == 18 and broken_rules(store) == []
    (event,) = events(store, project, action="sent_back")
    assert event.data == {"version": 2, "which": "named", "also": [], "labels": 4, "items": 3}
    assert event.author == "Lead"
    assert events(store, project, action="new_version")[0].data["criteria"]["changed"] == ["name"]


def test_repeated_requests_send_labels_back_once(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    write_version(store, project, changed(store, project), which="named")
    assert send_for_relabelling(store, project, 2, "named").labels == 0
    assert len(events(store, project, action="sent_back")) == 1
    store_operations(store, project, bo, [decide(items[0], base=op(store, items[0], bo))], now=NOW)
    assert send_for_relabelling(store, project, 2, "all").labels == 13  # what is labelled under the new version stays
    assert state(store, items[0])[0] == 2 and broken_rules(store) == []


def op(store: Store, item: Item, person: Annotator) -> str:
    query = "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?"
    return str(store.db.execute(query, (item.id, person.id)).fetchone()[0])


def test_gold_follows_the_new_labels(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    write_version(store, project, changed(store, project), which="named")
    result = earlier_labels(store, bo.id, items)[items[2].uid]
    assert (result.choice, result.reasons, result.version) == ("reject", ("name",), 1)
    answer = store_operations(store, project, bo, [decide(items[2], base=op(store, items[2], bo))], now=NOW)[0]
    assert answer.stored and not answer.conflict
    assert state(store, items[2]) == (3, 3, "accepted", "accept")
    assert remaining_to_relabel(store, project)["Bo"] == 2 and items[2].uid not in earlier_labels(store, bo.id, items)
    rows = [row for row in label_rows(store, project, which="all") if row["item"] == items[2].uid]
    assert [(row["choice"], row["guideline"]) for row in rows if row["annotator"] == "Bo"] == [
        ("reject", 1), ("accept", 2),
    ]  # fmt: skip


def test_a_label_of_an_open_desk_still_replaces_the_one_that_was_sent_back(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    write_version(store, project, changed(store, project), which="named")
    late = decide(items[1], "accept", base=op(store, items[1], bo), guideline=1)
    assert store_operations(store, project, bo, [late], now=NOW)[0].stored
    assert assigned(store, items[1], bo)[0] == "labelled"


def test_an_undone_relabelling_stays_with_its_annotator(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    write_version(store, project, changed(store, project), which="named")
    first = decide(items[0], base=op(store, items[0], bo))
    store_operations(store, project, bo, [first, decide(items[0], None, base=first.op_id)], now=NOW)
    assert assigned(store, items[0], bo) == ("leased", 1, None, None)
    assert state(store, items[0])[1] == 3


def test_an_absent_annotator_keeps_returned_items(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4, per_item=2, people=("Ada", "Bo", "Chen"))
    ada, bo, chen = people
    for person in (ada, bo):
        result = claim(fresh_store, project, person, now=NOW)
        store_operations(fresh_store, project, person, [decide(item, "reject") for item in result], now=NOW)
    assert claim(fresh_store, project, chen, now=NOW) == []
    _, sent = write_version(fresh_store, project, changed(fresh_store, project), which="named")
    assert sent.labels == 8
    later = NOW + 100 * LEASE_S
    assert claim(fresh_store, project, chen, now=later) == []
    assert len(claim(fresh_store, project, ada, now=later)) == 4
    assert claim(fresh_store, project, chen, now=later + 100 * LEASE_S) == []
    remove_annotator(fresh_store, project, ada)  # who leaves frees them
    assert len(claim(fresh_store, project, chen, now=later)) == 4
    assert remaining_to_relabel(fresh_store, project) == {"Bo": 4} and broken_rules(fresh_store) == []


def test_a_successor_gets_the_returned_items(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 4, per_item=2, people=("Ada", "Bo"))
    for person in (ada, bo):
        result = claim(fresh_store, project, person, now=NOW)
        store_operations(fresh_store, project, person, [decide(item, "reject") for item in result], now=NOW)
    write_version(fresh_store, project, changed(fresh_store, project), which="named")
    dan = replace_annotator(fresh_store, project, ada, "Dan", now=NOW)
    assert remaining_to_relabel(fresh_store, project) == {"Bo": 4, "Dan": 4}
    assert len(claim(fresh_store, project, dan, now=NOW)) == 4 and broken_rules(fresh_store) == []


def test_returned_items_of_former_annotators_become_free(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    remove_annotator(store, project, bo)
    now = changed(store, project)
    assert count_affected(store, project, now.choices, now.reasons).left == 6
    write_version(store, project, now, which="named")
    assert assigned(store, items[0], bo) == ("released", 0, None, None)
    dan = replace_annotator(store, project, six_labelled[2][0], "Dan", now=NOW)
    assert {item.id for item in claim(store, project, dan, now=NOW)} >= {items[0].id, items[1].id, items[2].id}
    assert broken_rules(store) == []


def test_labels_after_a_reveal_are_not_sent_back(six_labelled: SixLabelled) -> None:
    store, project, (_, bo, _), items = six_labelled
    reveal(store, project, bo, items[0].uid)
    now = changed(store, project)
    result = count_affected(store, project, now.choices, now.reasons)
    assert (result.shown, result.named.labels) == (1, 3)
    write_version(store, project, now, which="named")
    assert assigned(store, items[0], bo)[0] == "labelled"


def test_a_reject_with_only_a_tag_is_sent_back(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 2)
    first, second = claim(fresh_store, project, ada, now=NOW)
    operations = [decide(first, "reject", reasons=(), tags=("too old",)), decide(second, tags=("fine",))]
    store_operations(fresh_store, project, ada, operations, now=NOW)
    now = replace(read_draft(fresh_store, project), text="anew", changes="x")
    result = count_affected(fresh_store, project, now.choices, now.reasons)
    assert (result.named.labels, result.all.labels) == (1, 2)


def test_invalid_requests_for_relabelling_are_refused(six_labelled: SixLabelled) -> None:
    store, project, _, _ = six_labelled
    with pytest.raises(Refused, match="none, named, all"):
        send_for_relabelling(store, project, 1, "some")  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        send_for_relabelling(store, project, 9, "named")
    assert send_for_relabelling(store, project, 1, "all").labels == 0  # nothing is older than the first


def test_many_labels_are_sent_back_in_several_transactions(
    six_labelled: SixLabelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, project, _, _ = six_labelled
    monkeypatch.setattr(relabelling, "CHUNK", 5)
    monkeypatch.setattr("evenhand.annotations.guideline.drafts.CHUNK", 5)
    _, sent = write_version(store, project, changed(store, project), which="all")
    assert sent.labels == 17 and sent.items == 6
    (event,) = events(store, project, action="sent_back")
    assert event.data["labels"] == 17 and broken_rules(store) == []


def test_items_undone_during_relabelling_go_to_no_desk(
    six_labelled: SixLabelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, project, (_, bo, _), _ = six_labelled
    write_version(store, project, changed(store, project), which="none")
    meant = relabelling._labels_to_send

    def then_taken_back(*given: Any) -> Any:
        result = meant(*given)
        undo(store, project, "items-1")
        return result

    monkeypatch.setattr(relabelling, "_labels_to_send", then_taken_back)
    assert send_for_relabelling(store, project, 2, "named").labels == 0
    assert claim(store, project, bo, now=NOW) == [] and remaining_to_relabel(store, project) == {}
    assert broken_rules(store) == []


@settings(max_examples=20)
@given(data=st.data())
def test_relabelling_loses_no_label_and_can_be_finished(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with new_store(tmp_path_factory.mktemp("s") / "s.db") as store:
        project, people = filled_project(store, 5, per_item=2)
        moment, stored = NOW, set[str]()
        for _ in range(data.draw(st.integers(4, 14))):
            match data.draw(st.sampled_from(("label", "label", "label", "version", "away"))):
                case "version":
                    now = changed(store, project, data.draw(st.sampled_from(("name", "generic"))))
                    write_version(store, project, now, which=data.draw(st.sampled_from(relabelling.WHICH)))
                case "away":
                    moment += 10 * LEASE_S
                case _:
                    person = data.draw(st.sampled_from(people))
                    for item in claim(store, project, person, want=2, now=moment):
                        operation = _decision(data, store, item, person)
                        assert store_operations(store, project, person, [operation], now=moment)[0].stored
                        stored.add(operation.op_id)
            assert {row["op_id"] for row in label_rows(store, project, which="all")} == stored
            assert broken_rules(store) == []
            kept = store.db.execute(
                "SELECT count(*) FROM assignment WHERE kept = 1 AND state NOT IN ('leased', 'labelled')"
            ).fetchone()
            assert kept == (0,)
        for person in people:
            while items := claim(store, project, person, now=moment):
                operations = [decide(item, base=_base(store, item, person)) for item in items]
                assert all(answer.stored for answer in store_operations(store, project, person, operations, now=moment))
        assert store.db.execute("SELECT count(*) FROM item WHERE labels < wanted").fetchone() == (0,)
        assert guideline(store, project).version >= 1


def _base(store: Store, item: Item, person: Annotator) -> str | None:
    query = "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?"
    row = store.db.execute(query, (item.id, person.id)).fetchone()
    return None if row is None else row[0]


def _decision(data: st.DataObject, store: Store, item: Item, person: Annotator) -> Operation:
    reason = data.draw(st.sampled_from(("", "name", "generic")))
    return decide(
        item, "reject" if reason else "accept", reasons=(reason,) if reason else (), base=_base(store, item, person)
    )
