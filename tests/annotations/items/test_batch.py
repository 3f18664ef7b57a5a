"""Batches: invisible until published, counted duplicates, kept ids, pages."""

import os
import time
from dataclasses import replace

import pytest

from evenhand.annotations.database import bulk_writes
from evenhand.annotations.database.bulk_writes import Pace
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import (
    CHUNK,
    SILENT_S,
    Batch,
    NewItem,
    delete_items,
    discard_incomplete,
    item,
    items,
)
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, counts, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Mark
from evenhand.core.errors import NotFound, Refused
from evenhand.core.text.keywords import find
from tests.support.projects import broken_rules, decide, filled_project, new_items


def test_items_are_invisible_before_publication(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p", annotators=["Ada"])
    ada = annotators(fresh_store, project)[0]
    batch = Batch.begin(fresh_store, project, "a.txt")
    assert batch.add(new_items(20)) == (20, 0)
    uid = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
    assert list(items(fresh_store, project)) == []
    assert counts(fresh_store, project).items == 0
    assert claim(fresh_store, project, ada) == []
    with pytest.raises(NotFound):
        item(fresh_store, project, uid)
    batch.publish()
    assert len(list(items(fresh_store, project))) == counts(fresh_store, project).items == 20
    assert len(claim(fresh_store, project, ada)) == 20
    assert item(fresh_store, project, uid).uid == uid
    assert broken_rules(fresh_store) == []


def test_an_import_commits_small_parts_during_labelling(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project, (ada, *_others) = filled_project(fresh_store, 3)
    commits: list[int] = []
    heard = Batch._touch
    monkeypatch.setattr(Batch, "_touch", lambda self: (commits.append(self.id), heard(self))[1])
    monkeypatch.setattr(bulk_writes, "BESIDE", Pace(0.0, 0.0))
    monkeypatch.setattr(bulk_writes, "ALONE", Pace(60.0, 0.0))

    def imported(first: int) -> int:
        del commits[:]
        with Batch.begin(fresh_store, project, "more.txt") as batch:
            assert batch.add(list(new_items(first + 5))[first:]) == (5, 0)
            batch.publish()
        return len(commits) - 1  # that of the publication

    assert imported(10) == 1
    store_operations(fresh_store, project, ada, [decide(claim(fresh_store, project, ada)[0], "accept")])
    assert imported(20) == 5
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + bulk_writes.ALONE_S + 1)
    assert imported(30) == 1
    assert counts(fresh_store, project).items == 18
    assert broken_rules(fresh_store) == []


def test_a_large_import_restores_the_settings_of_the_connection(fresh_store: Store) -> None:
    pragmas = ("cache_size", "wal_autocheckpoint", "synchronous")
    before = [fresh_store.db.execute(f"PRAGMA {name}").fetchone() for name in pragmas]
    project = create_project(fresh_store, "p")
    with Batch.begin(fresh_store, project, "a.txt") as batch:
        assert batch.add(new_items(3_500)) == (3_500, 0)
        assert fresh_store.path.stat().st_size > 800_000  # in the database itself, not only in its log
        batch.publish()
    assert [fresh_store.db.execute(f"PRAGMA {name}").fetchone() for name in pragmas] == before
    assert broken_rules(fresh_store) == []


def test_importing_a_file_twice_adds_nothing(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 30)
    with Batch.begin(fresh_store, project, "again.txt") as batch:
        assert batch.add(new_items(30)) == (0, 30)
        assert batch.add(new_items(3, first=30)) == (2, 1)
        batch.publish()
    assert counts(fresh_store, project).items == 32
    assert broken_rules(fresh_store) == []


def test_a_repeated_text_in_a_file_is_a_duplicate(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p")
    with Batch.begin(fresh_store, project, "a.txt") as batch:
        assert batch.add([*new_items(2), *new_items(2)]) == (2, 2)


def test_a_text_in_two_projects_is_two_items(fresh_store: Store) -> None:
    first, _ = filled_project(fresh_store, 5)
    second, _ = filled_project(fresh_store, 5)
    ids = {item.uid for project in (first, second) for item in items(fresh_store, project)}
    assert len(ids) == 10


def test_items_are_read_in_order_of_import_page_by_page(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, CHUNK + 5)
    with Batch.begin(fresh_store, project, "b.txt") as batch:
        batch.add(new_items(3, first=90_000))
        batch.publish()
    lines = [item.line for item in items(fresh_store, project)]
    assert lines == [*range(1, CHUNK + 6), 90_000, 90_001, 90_002]


def test_items_can_be_limited_to_accepted_ones(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 6, people=("Ada",), per_item=1)
    got = claim(fresh_store, project, ada)
    store_operations(fresh_store, project, ada, [decide(got[0]), decide(got[1], "reject")])
    assert [item.uid for item in items(fresh_store, project, accepted_only=True)] == [got[0].uid]
    assert {item.status for item in items(fresh_store, project)} == {"accepted", "rejected", "pending"}


def test_a_stored_item_equals_the_imported_row(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p")
    text = "😀 他的姥姥𠮷说：“好。”"
    match = next(candidate for candidate in find(text) if candidate.keyword == "姥姥")
    with Batch.begin(fresh_store, project, "a.csv") as batch:
        batch.add([NewItem(text, match, "a.csv", 7, {"genre": "诗", "n": 3}, uid="0" * 32)])
        batch.publish()
    got = next(items(fresh_store, project))
    assert (got.uid, got.text, got.file, got.line, got.extra) == ("0" * 32, text, "a.csv", 7, {"genre": "诗", "n": 3})
    assert got.word and text[slice(*got.word)] == got.keyword == "姥姥"
    assert got.stem and got.stem == (got.word[0] + 1, got.word[1])  # 姥姥: the second character differs
    assert (got.pair, got.side, got.counterpart) == (match.pair.name, "female", "姥爷")


def test_a_taken_id_is_replaced(fresh_store: Store) -> None:
    for name in ("p", "q"):
        project = create_project(fresh_store, name)
        with Batch.begin(fresh_store, project, "a.txt") as batch:
            new = next(new_items(1))
            assert batch.add([NewItem(new.text, new.candidate, "a.txt", 1, uid="f" * 32)]) == (1, 0)
            batch.publish()
    assert fresh_store.db.execute("SELECT count(DISTINCT uid) FROM item").fetchone() == (2,)


def test_a_known_id_among_new_rows_drops_no_other_row(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 3)
    with Batch.begin(fresh_store, project, "a.txt") as batch:
        taken = next(items(fresh_store, project)).uid
        new = list(new_items(10))
        new[6] = replace(new[6], uid=taken)  # the id of another text
        assert batch.add([*new, new[9]]) == (7, 4)
        batch.publish()
    assert [item.line for item in items(fresh_store, project)] == [1, 2, 3, *range(4, 11)]
    assert len({item.uid for item in items(fresh_store, project)}) == 10
    assert broken_rules(fresh_store) == []


def test_generations_with_different_keys_are_different_items(fresh_store: Store) -> None:
    project = create_project(fresh_store, "g", kind="generations", annotators=["Ada"])
    rows = [
        NewItem("They went.", None, "g.csv", n, context="Sam?", key=f"m|s|{n % 2}", stratum="they") for n in range(4)
    ]
    with Batch.begin(fresh_store, project, "g.csv") as batch:
        assert batch.add(rows) == (2, 2)
        batch.publish()
    ada = annotators(fresh_store, project)[0]
    got = claim(fresh_store, project, ada)
    assert [(item.pair, item.side, item.word, item.context) for item in got] == [("they", "", None, "Sam?")] * 2
    assert store_operations(
        fresh_store, project, ada, [decide(got[0], "correct", extraneous=True, spans=(Mark(0, 4, "extraneous"),))]
    )[0].stored


def test_a_failed_batch_is_removed(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p")
    with pytest.raises(RuntimeError), Batch.begin(fresh_store, project, "a.txt") as batch:
        batch.add(new_items(1_500))
        raise RuntimeError
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (0,)
    assert fresh_store.db.execute("SELECT count(*) FROM batch").fetchone() == (0,)


def test_discarding_a_published_batch_does_nothing(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p")
    batch = Batch.begin(fresh_store, project, "a.txt")
    batch.add(new_items(5))
    batch.publish()
    batch.discard()
    assert discard_incomplete(fresh_store) == 0
    assert counts(fresh_store, project).items == 5


def test_one_import_at_a_time_in_a_project(fresh_store: Store) -> None:
    project, other = create_project(fresh_store, "p"), create_project(fresh_store, "q")
    batch = Batch.begin(fresh_store, project, "a.txt")
    with pytest.raises(Refused, match="Another file"):
        Batch.begin(fresh_store, project, "b.txt")
    with pytest.raises(Refused, match="being imported"):
        change_project(fresh_store, project, per_item=2)
    Batch.begin(fresh_store, other, "b.txt").discard()
    batch.publish()
    Batch.begin(fresh_store, project, "b.txt").discard()


def test_an_abandoned_import_is_removed_and_cannot_continue(fresh_store: Store) -> None:
    project = create_project(fresh_store, "p")
    batch = Batch.begin(fresh_store, project, "a.txt")
    batch.add(new_items(5))
    fresh_store.db.execute("UPDATE batch SET heard = ?", (time.time() - SILENT_S - 1,))
    Batch.begin(fresh_store, project, "b.txt").publish()
    with pytest.raises(Refused, match="made no progress for a long time"):
        batch.add(new_items(5, first=50))
    with pytest.raises(Refused, match="made no progress for a long time"):
        batch.publish()
    assert counts(fresh_store, project).items == 0


def test_a_reused_batch_number_belongs_to_the_new_import(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project = create_project(fresh_store, "p")
    gone = Batch.begin(fresh_store, project, "a.txt")
    gone.add(new_items(5))
    fresh_store.db.execute("UPDATE batch SET heard = ?, created = '2020'", (time.time() - SILENT_S - 1,))
    gone.created = "2020"
    removing, others = delete_items, list[Batch]()

    def then_another(store: Store, batch: int, created: str) -> None:  # two programs find the same one to be removed
        removing(store, batch, created)
        if not others:
            others.append(Batch.begin(store, project, "b.txt"))
            others[0].add(new_items(3, first=100))
            assert others[0].id == gone.id
        removing(store, batch, created)

    monkeypatch.setattr("evenhand.annotations.items.batch.delete_items", then_another)
    assert discard_incomplete(fresh_store) == 1
    with pytest.raises(Refused, match="made no progress for a long time"):
        gone.add(new_items(5))
    gone.discard()
    others[0].publish()
    assert counts(fresh_store, project).items == 3


def test_an_import_resumed_during_its_removal_publishes_nothing(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = create_project(fresh_store, "p")
    batch = Batch.begin(fresh_store, project, "a.txt")
    batch.add(new_items(CHUNK + 5))
    fresh_store.db.execute("UPDATE batch SET heard = ?", (time.time() - SILENT_S - 1,))
    results: list[str] = []

    def wake(_: float) -> None:
        with pytest.raises(Refused, match="made no progress for a long time") as error:
            batch.publish()
        results.append(str(error.value))

    monkeypatch.setattr("evenhand.annotations.database.bulk_writes.time.sleep", wake)
    assert discard_incomplete(fresh_store) == 1
    assert results and counts(fresh_store, project).items == 0


@pytest.mark.parametrize("pid", [1, os.getpid()], ids=["one", "own"])
def test_a_batch_of_a_dead_process_with_a_reused_pid_is_removed(fresh_store: Store, pid: int) -> None:
    project = create_project(fresh_store, "p")
    Batch.begin(fresh_store, project, "a.txt").add(new_items(5))
    fresh_store.db.execute("UPDATE batch SET pid = ?, started_process = 1.0", (pid,))
    assert discard_incomplete(fresh_store) == 1
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (0,)
