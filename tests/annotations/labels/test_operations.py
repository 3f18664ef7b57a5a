"""Labels: stored once, answered one by one, appended; conflicts, reveals and refusals."""

import sqlite3
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.labels.own import own_conflicts, own_decisions, own_progress
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import (
    add_guideline,
    archive,
    counts,
    create_project,
    guideline,
    remove_annotator,
    set_quotas,
)
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Answer, Item, Operation, Project
from evenhand.core.errors import NotAllowed, NotFound
from tests.support.projects import broken_rules, decide, filled_project

EightLeased = tuple[Store, Project, list[Annotator], list[Item]]


@pytest.fixture
def eight_leased(fresh_store: Store) -> EightLeased:
    """Return a project of 8 sentences; Ada has leased them all."""
    project, people = filled_project(fresh_store, 8)
    return fresh_store, project, people, claim(fresh_store, project, people[0])


def one(eight_leased: EightLeased, operation: Operation, person: int = 0) -> Answer:
    store, project, people, _ = eight_leased
    return store_operations(store, project, people[person], [operation])[0]


def state(eight_leased: EightLeased, item: Item, person: int = 0) -> tuple[Any, ...]:
    query = "SELECT state, latest IS NOT NULL, blind IS NOT NULL FROM assignment WHERE item = ? AND annotator = ?"
    store, _, people, _ = eight_leased
    return tuple(store.db.execute(query, (item.id, people[person].id)).fetchone())


def test_an_acknowledged_label_is_stored(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    operation = decide(items[0], note="  clear  ", seconds=2.5, form_shown="masked")
    assert one(eight_leased, operation) == Answer(operation.op_id, True, latest=operation.op_id)
    with Store.open(store.path) as other:
        row = label_rows(other, project)[0]
    assert (row["item"], row["choice"], row["note"], row["seconds"]) == (items[0].uid, "accept", "clear", 2.5)
    assert (row["form_shown"], row["guideline"], row["after_reveal"]) == ("masked", 1, False)


def test_a_repeated_operation_is_stored_once(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    operation = decide(items[0])
    first, second = one(eight_leased, operation), one(eight_leased, operation)
    assert first == second
    assert len(label_rows(store, project, which="all")) == 1


def test_a_skip_sent_twice_counts_once_even_after_a_label(eight_leased: EightLeased) -> None:
    store, _, _, items = eight_leased
    skip = decide(items[0], "skip")
    one(eight_leased, skip)
    one(eight_leased, decide(items[0], base=skip.op_id))
    assert one(eight_leased, skip).stored
    assert state(eight_leased, items[0]) == ("labelled", 1, 1)
    assert store.db.execute("SELECT skips FROM assignment WHERE item = ?", (items[0].id,)).fetchone() == (1,)


def test_a_reused_operation_id_is_refused(eight_leased: EightLeased) -> None:
    items = eight_leased[3]
    operation = decide(items[0])
    one(eight_leased, operation)
    stolen = decide(items[1], op_id=operation.op_id)
    assert not one(eight_leased, stolen).stored
    assert not one(eight_leased, operation, person=1).stored


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("reject", {"reasons": ()}),
    ("reject", {"reasons": (), "note": "   "}),
    ("reject", {"reasons": ("no such reason",)}),
    ("keep", {}),
    ("correct", {}),
    ("", {}),
    ("accept", {"guideline": 7}),
    ("accept", {"seconds": -1.0}),
    ("accept", {"seconds": float("nan")}),
    ("accept", {"note": "x" * 4_001}),
    ("accept", {"note": "half \ud800"}),
    ("accept", {"op_id": ""}),
    ("accept", {"op_id": "x" * 101}),
    ("accept", {"revision": 2**70}),
    ("accept", {"form_shown": "upside down"}),
    ("accept", {"item": "no such item"}),
]


@pytest.mark.parametrize(("choice", "fields"), REFUSED)
def test_an_invalid_operation_is_refused_and_others_are_stored(
    eight_leased: EightLeased, choice: str, fields: dict[str, Any]
) -> None:
    store, project, people, items = eight_leased
    rest = {name: value for name, value in fields.items() if name != "item"}
    wrong = decide(fields.get("item", items[1].uid), choice, **rest)
    answers = store_operations(store, project, people[0], [decide(items[0]), wrong, decide(items[2], "reject")])
    assert [answer.stored for answer in answers] == [True, False, True]
    assert answers[1].reason and not answers[0].reason
    assert answers[1].reason.format(**answers[1].values)
    assert len(label_rows(store, project, which="all")) == 2
    assert broken_rules(store) == []


def test_a_reject_with_a_note_needs_no_reason(eight_leased: EightLeased) -> None:
    assert one(eight_leased, decide(eight_leased[3][0], "reject", reasons=(), note="reads oddly")).stored


def test_items_of_other_projects_or_unpublished_files_are_unknown(eight_leased: EightLeased) -> None:
    from evenhand.annotations.items.batch import Batch
    from tests.support.projects import new_items

    store, project, people, _ = eight_leased
    elsewhere, _ = filled_project(store, 1)
    foreign = store.db.execute("SELECT uid FROM item WHERE project = ?", (elsewhere.id,)).fetchone()[0]
    batch = Batch.begin(store, project, "later.txt")
    batch.add(new_items(1, first=500))
    hidden = store.db.execute("SELECT uid FROM item WHERE batch = ?", (batch.id,)).fetchone()[0]
    answers = store_operations(store, project, people[0], [decide(foreign), decide(hidden)])
    assert [answer.stored for answer in answers] == [False, False]


def test_a_non_member_cannot_label(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    other = filled_project(store, 1, people=("Dan",))[1][0]
    with pytest.raises(NotAllowed):
        store_operations(store, project, other, [decide(items[0])])
    assert label_rows(store, project, which="all") == []


def test_undo_and_redo_append_rows(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    first = decide(items[0])
    undo = decide(items[0], None, base=first.op_id)
    again = decide(items[0], "reject", base=undo.op_id)
    for operation, expected in ((first, "labelled"), (undo, "leased"), (again, "labelled")):
        assert one(eight_leased, operation).latest == operation.op_id
        assert state(eight_leased, items[0])[0] == expected
    rows = label_rows(store, project, which="all")
    assert [row["choice"] for row in rows] == ["accept", None, "reject"]
    assert [row["choice"] for row in label_rows(store, project, which="latest")] == ["reject"]
    assert broken_rules(store) == []


def test_undoing_a_skip_returns_the_item(eight_leased: EightLeased) -> None:
    store, _, _, items = eight_leased
    skip = decide(items[0], "skip")
    one(eight_leased, skip)
    one(eight_leased, decide(items[0], None, base=skip.op_id))
    assert state(eight_leased, items[0]) == ("leased", 0, 0)
    assert store.db.execute("SELECT skips, taken FROM assignment JOIN item ON item.id = item").fetchone() == (0, 1)


def test_a_conflicting_label_of_a_second_desk_is_kept_until_resolved(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    first, second = decide(items[0], desk="one"), decide(items[0], "reject", desk="two")
    one(eight_leased, first)
    answer = one(eight_leased, second)
    assert (answer.stored, answer.conflict, answer.latest) == (True, True, first.op_id)
    assert [row["choice"] for row in label_rows(store, project)] == ["accept"]
    result = own_conflicts(store, project, people[0])
    assert [(conflict.op_id, conflict.choice, conflict.superseded) for conflict in result] == [
        (second.op_id, "reject", True)
    ]
    assert one(eight_leased, second) == answer
    one(eight_leased, decide(items[0], "reject", desk="two", base=first.op_id))
    assert own_conflicts(store, project, people[0]) == []
    assert [row["choice"] for row in label_rows(store, project)] == ["reject"]


def test_within_a_desk_the_higher_revision_wins(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    newer = decide(items[0], "reject", revision=9, base="lost on the way")
    older = decide(items[0], "accept", revision=3)
    one(eight_leased, decide(items[0], revision=1))
    assert one(eight_leased, newer).latest == newer.op_id
    answer = one(eight_leased, older)
    assert (answer.stored, answer.conflict, answer.latest) == (True, False, newer.op_id)
    assert [row["choice"] for row in label_rows(store, project)] == ["reject"]
    assert own_conflicts(store, project, people[0]) == []


def test_a_label_with_a_missing_base_counts_if_there_is_no_other(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    never = decide(items[0], revision=1)
    later = decide(items[0], "reject", revision=2, base=never.op_id)
    assert one(eight_leased, later).latest == later.op_id
    answer = one(eight_leased, never)  # arrives after all
    assert (answer.conflict, answer.latest) == (False, later.op_id)
    assert [row["choice"] for row in label_rows(store, project)] == ["reject"]


def test_an_earlier_decision_never_replaces_a_later_one(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    other = decide(items[0], desk="other")
    first = decide(items[0], "reject", revision=1, base=other.op_id)
    second = decide(items[0], None, revision=2, base=first.op_id)
    one(eight_leased, other)
    assert one(eight_leased, second).conflict
    assert one(eight_leased, first).latest == other.op_id
    assert [conflict.op_id for conflict in own_conflicts(store, project, people[0])] == [second.op_id]


def test_gold_uses_the_last_blind_label(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    first = decide(items[0])
    one(eight_leased, first)
    reveal(store, project, people[0], items[0].uid)
    one(eight_leased, decide(items[0], "reject", base=first.op_id))
    assert [(row["choice"], row["after_reveal"]) for row in label_rows(store, project)] == [("accept", False)]
    latest = label_rows(store, project, which="latest")
    assert [(row["choice"], row["after_reveal"]) for row in latest] == [("reject", True)]
    assert broken_rules(store) == []


def test_a_label_withdrawn_after_a_reveal_still_counts_as_blind(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    first = decide(items[0])
    one(eight_leased, first)
    reveal(store, project, people[0], items[0].uid)
    one(eight_leased, decide(items[0], None, base=first.op_id))
    assert state(eight_leased, items[0]) == ("leased", 0, 1)
    claim(store, project, people[1], now=4e9)  # far in the future: Ada's leases have run out
    assert state(eight_leased, items[0]) == ("leased", 0, 1)
    assert len(label_rows(store, project)) == 1
    assert broken_rules(store) == []


@pytest.mark.parametrize("before", [[], ["skip"], ["accept", None]])
def test_an_opinion_is_revealed_only_after_a_current_label(eight_leased: EightLeased, before: list[str | None]) -> None:
    store, project, people, items = eight_leased
    base = None
    for choice in before:
        operation = decide(items[0], choice, base=base)
        base = one(eight_leased, operation).latest
    with pytest.raises(NotAllowed):
        reveal(store, project, people[0], items[0].uid)
    with pytest.raises(NotFound):
        reveal(store, project, people[0], "no such item")


@pytest.mark.parametrize(("left", "slot"), [(False, ("leased", 1)), (True, ("released", 0))])
def test_an_item_undone_by_a_former_annotator_goes_to_others(
    eight_leased: EightLeased, left: bool, slot: tuple[str, int]
) -> None:
    store, project, people, items = eight_leased
    first = decide(items[0])
    one(eight_leased, first)
    if left:
        remove_annotator(store, project, people[0])
    assert one(eight_leased, decide(items[0], None, base=first.op_id)).stored
    taken = store.db.execute("SELECT taken FROM item WHERE id = ?", (items[0].id,)).fetchone()[0]
    assert (state(eight_leased, items[0])[0], taken) == slot
    assert broken_rules(store) == []


def test_a_label_beyond_the_wanted_number_counts(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 1, per_item=2)
    item = claim(fresh_store, project, people[0])[0]
    for person in people:
        assert store_operations(fresh_store, project, person, [decide(item)])[0].stored
    assert counts(fresh_store, project).by_labels == {3: 1}
    assert broken_rules(fresh_store) == []


def test_statuses_of_items_by_their_labels(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4)
    items = claim(fresh_store, project, people[0])
    given = [("accept",) * 3, ("accept", "reject", "accept"), ("accept", "accept"), ("reject", "reject")]
    for item, choices in zip(items, given, strict=True):
        for person, choice in zip(people, choices, strict=False):
            store_operations(fresh_store, project, person, [decide(item, choice)])
    totals = counts(fresh_store, project)
    assert (totals.accepted, totals.rejected, totals.pending) == (1, 1, 2)
    assert totals.by_labels == {2: 2, 3: 2}


def test_a_label_points_to_the_guideline_in_view(eight_leased: EightLeased) -> None:
    store, project, _, items = eight_leased
    old = guideline(store, project)
    add_guideline(store, project, "Keep what reads well.", old.choices, old.reasons[:1])
    one(eight_leased, decide(items[0], "reject", guideline=1))
    one(eight_leased, decide(items[1]))
    rows = {row["item"]: row["guideline"] for row in label_rows(store, project)}
    assert rows == {items[0].uid: 1, items[1].uid: 2}
    assert not one(eight_leased, decide(items[2], "reject")).stored  # the new version has no such reason


def test_labels_of_an_archived_project_are_still_stored(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    archive(store, project)
    assert one(eight_leased, decide(items[0])).stored
    assert claim(store, project, people[0]) == []


def test_history_is_newest_first_and_searchable(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    for item in items[:4]:
        one(eight_leased, decide(item, note="see 姥姥" if item is items[1] else ""))
    one(eight_leased, decide(items[0], "reject", base=own_decisions(store, project, people[0])[-1].op_id))
    one(eight_leased, decide(items[4], "skip"))
    assert [decision.item.uid for decision in own_decisions(store, project, people[0])] == [
        items[n].uid for n in (0, 3, 2, 1)
    ]
    assert [decision.item.uid for decision in own_decisions(store, project, people[0], limit=1)] == [items[0].uid]
    assert [decision.item.uid for decision in own_decisions(store, project, people[0], search="姥姥")].count(
        items[1].uid
    ) == 1
    assert [decision.item.uid for decision in own_decisions(store, project, people[0], search=items[2].text)] == [
        items[2].uid
    ]
    assert own_decisions(store, project, people[0], search="%") == []
    assert own_decisions(store, project, people[1]) == []


def test_a_history_search_has_a_limit(eight_leased: EightLeased, monkeypatch: pytest.MonkeyPatch) -> None:
    store, project, people, items = eight_leased
    store_operations(store, project, people[0], [decide(item) for item in items[:4]])
    monkeypatch.setattr("evenhand.annotations.labels.own.MOST_SEARCHED", 2)
    result = own_decisions(store, project, people[0], search="市场")
    assert [decision.item.uid for decision in result] == [items[3].uid, items[2].uid]
    assert len(own_decisions(store, project, people[0])) == 4


def test_own_progress_counts_only_own_labels(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    one(eight_leased, decide(items[0]))
    one(eight_leased, decide(items[1], "reject"))
    store_operations(store, project, people[1], [decide(item) for item in items])
    progress = own_progress(store, project, people[0])
    assert (progress.labelled, progress.total, progress.pace) == (2, 8, None)
    assert sum(cell.labelled for cell in progress.cells) == 2
    assert sum(cell.accepted for cell in progress.cells) == 1


def test_pace_excludes_breaks(eight_leased: EightLeased) -> None:
    store, project, people, items = eight_leased
    minutes = (0, 1, 2, 3, 120, 121, 122, 123)  # a break of two hours
    for item, minute in zip(items, minutes, strict=True):
        store_operations(store, project, people[0], [decide(item)], now=1_767_600_000 + 60 * minute)
    assert own_progress(store, project, people[0]).pace == pytest.approx(60.0)
    assert own_progress(store, project, people[0]).hours_left == 0


def test_items_are_shared_equally_among_annotators(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 9, people=("A", "B", "C", "D"), per_item=2)
    assert own_progress(fresh_store, project, people[0]).total == 5  # 9 x 2 / 4, rounded up


def test_the_total_of_a_fast_annotator_includes_items_beyond_the_share(fresh_store: Store) -> None:
    """A faster annotator is handed more than an equal share; the count does not reach its total before."""
    project, people = filled_project(fresh_store, 9, people=("A", "B", "C", "D"), per_item=2)
    items = claim(fresh_store, project, people[0], want=9)
    for number, item in enumerate(items, 1):
        store_operations(fresh_store, project, people[0], [decide(item)])
        progress = own_progress(fresh_store, project, people[0])
        assert (progress.labelled, progress.total) == (number, 5 if number < 5 else 9)
    assert own_progress(fresh_store, project, people[0], share=9).total == 9


def test_a_quota_ends_the_share_of_its_cell(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 32)
    store, items = fresh_store, claim(fresh_store, project, people[0], want=32)
    eight_leased = (store, project, people, items)
    cell = {(items[0].pair, str(items[0].side)): 1}
    of_cell = [item for item in items if (item.pair, item.side) == (items[0].pair, items[0].side)]
    set_quotas(store, project, cell)
    rest = len(items) - len(of_cell)
    assert len(of_cell) > 2 and own_progress(store, project, people[0]).total == rest + 1
    one(eight_leased, decide(of_cell[0], "reject"))
    assert own_progress(store, project, people[0]).total == rest + 2  # one more is needed to fill the cell
    one(eight_leased, decide(of_cell[1]))
    progress = own_progress(store, project, people[0])
    assert (progress.labelled, progress.total) == (2, rest + 2)


def test_a_quota_is_shared_among_annotators(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 9, people=("A", "B", "C", "D"), per_item=2)
    cells = {(cell.pair, str(cell.side)): 1 for cell in counts(fresh_store, project).cells}
    set_quotas(fresh_store, project, cells)
    assert own_progress(fresh_store, project, people[0]).total == -(-len(cells) * 2 // 4)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE label SET choice = 'reject'",
        "DELETE FROM label",
        "UPDATE item SET text = 'x'",
        "DELETE FROM item",
        "DELETE FROM assignment",
        "UPDATE guideline SET text = 'x'",
        "DELETE FROM guideline",
        "UPDATE item SET status = 'perhaps'",
        "UPDATE item SET taken = -1",
        "UPDATE assignment SET state = 'labelled', latest = NULL",
        "UPDATE assignment SET blind = NULL WHERE latest IS NOT NULL",
        "UPDATE project SET per_item = 0",
        "UPDATE project SET gold = 'best of three'",
        "UPDATE cell SET quota = -1",
        "UPDATE cell SET side = 'left'",
        "INSERT INTO annotator (uid, name, created) VALUES ('u', '  ', 'now')",
        "INSERT INTO label (op_id, project, item, annotator, guideline, choice, form_shown, desk, revision, created)"
        " SELECT 'x', project, item, annotator, guideline, 'perhaps', 'masked', 'd', 1, 'now' FROM label",
        "INSERT INTO label (op_id, project, item, annotator, guideline, choice, form_shown, desk, revision, created)"
        " SELECT 'x', project + 1, item, annotator, guideline, 'accept', 'masked', 'd', 1, 'now' FROM label",
        "INSERT INTO item (uid, project, batch, cell, rank, hash, text, file, line, wanted)"
        " SELECT 'x', project, batch, cell, rank, hash, text, file, line, wanted FROM item",
        "INSERT INTO item (uid, project, batch, cell, rank, hash, text, start, stop, stem_start, stem_stop, keyword,"
        " counterpart, file, line, wanted) SELECT 'x', project, batch, cell, rank, x'00', text, 0, 999, 0, 1, '他',"
        " '她', file, line, wanted FROM item",
        "INSERT INTO item (uid, project, batch, cell, rank, hash, text, start, stop, stem_start, stem_stop, keyword,"
        " counterpart, file, line, wanted) SELECT 'x', project, batch, cell, rank, x'00', text, 0, 1, 0, 1, '他', '她',"
        " file, line, wanted FROM item",
    ],
)
def test_the_database_refuses_invalid_labels(eight_leased: EightLeased, statement: str) -> None:
    store, _, _, items = eight_leased
    create_project(store, "second")
    one(eight_leased, decide(items[0]))
    with pytest.raises(sqlite3.IntegrityError):
        store.db.execute(statement)
    assert broken_rules(store) == []
