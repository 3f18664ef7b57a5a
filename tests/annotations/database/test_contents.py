"""One entry of the log for all items of an import, and one for the test and the codes of a study."""

import pytest

from evenhand.annotations.database.events import record
from evenhand.annotations.database.hash_chain import imports_without_entry
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.undo_import import undo_import
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.verify import Broken, verify
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release
from tests.support.projects import decide, filled_project, new_items
from tests.support.released_project import ready_project, work
from tests.support.studies import new_study
from tests.support.tampering import broken_at, changed_outside


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE item SET text = text || ' ' WHERE id = 3",
        "UPDATE item SET context = 'of others' WHERE id = 3",
        "UPDATE item SET counterpart = '它' WHERE id = 3",
        "UPDATE item SET hash = x'00' WHERE id = 3",
        "UPDATE item SET uid = 'another' WHERE id = 3",
        "UPDATE item SET extra = '{\"a\": 1}' WHERE id = 3",
        "UPDATE item SET cell = 1 + cell WHERE id = 3",
        "DELETE FROM item WHERE id = 3",
        "UPDATE batch SET published = 0",
        "DELETE FROM batch",
    ],
)
def test_a_change_of_an_item_without_labels_is_found(fresh_store: Store, statement: str) -> None:
    filled_project(fresh_store, 8)
    assert broken_at(fresh_store) == ""
    changed_outside(fresh_store, statement)
    assert broken_at(fresh_store).startswith("Items of the import 1 20")


def test_undoing_and_repeating_an_import_is_not_a_change(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 8)
    store_operations(fresh_store, project, people[0], [decide(claim(fresh_store, project, people[0], want=1)[0])])
    with Batch.begin(fresh_store, project, "more.txt") as batch:
        batch.add(new_items(4, first=20))
        batch.publish()
    keys = [row[0] for row in fresh_store.db.execute("SELECT id FROM batch ORDER BY id")]
    for key in keys:
        undo_import(fresh_store, project, key)
        verify(fresh_store)
    with Batch.begin(fresh_store, project, "again.txt") as batch:  # with the item that has a label, and others
        batch.add(new_items(10))
        batch.publish()
    verify(fresh_store)
    changed_outside(fresh_store, "UPDATE item SET line = line + 1 WHERE labels = 1")
    with pytest.raises(Broken, match="Items of the import"):
        verify(fresh_store)


def test_a_release_adds_the_log_entries_of_older_imports(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 12)
    work(fresh_store, made)
    assert imports_without_entry(fresh_store.db, made.id) == []
    changed_outside(fresh_store, "DELETE FROM log WHERE body LIKE '%items of import%'")
    ((batch, _),) = imports_without_entry(fresh_store.db, made.id)
    assert batch == 1
    make_release(fresh_store, made, "1.0", reason="for a test")
    assert imports_without_entry(fresh_store.db, made.id) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE study_question SET answer = iif(answer = 'accept', 'reject', 'accept') WHERE id = 1",
        "UPDATE study_question SET text = text || ' '",
        "DELETE FROM study_question WHERE id = 1",
        "UPDATE study SET code_finished = 'AAAAAAAA'",
    ],
)
def test_a_changed_test_or_code_of_a_study_is_found(fresh_store: Store, statement: str) -> None:
    project, _ = filled_project(fresh_store, 8)
    new_study(fresh_store, project, questions=2, pass_mark=2)
    verify(fresh_store)
    changed_outside(fresh_store, statement)
    assert broken_at(fresh_store).startswith("The test or the codes of the study")


def test_a_dangling_reference_is_found(fresh_store: Store) -> None:
    """The public id of no row is hashed as that of a row that does not exist."""
    project, _ = filled_project(fresh_store, 2)
    with fresh_store.write():
        record(fresh_store, project, "mined")
    changed_outside(fresh_store, "UPDATE event SET annotator = 77 WHERE id = 1")
    assert broken_at(fresh_store) == (
        "Row 1 of event refers to a row of annotator that does not exist: it was changed outside the app."
    )
