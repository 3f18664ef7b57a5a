"""Undoing a large import: hidden in one step, deleted in many, and finished by the next process if one ends."""

from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database import bulk_writes
from evenhand.annotations.database.store import Store
from evenhand.annotations.files import undo_import as undoing
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.undo_import import find_import, undo
from evenhand.annotations.items import withdrawn
from evenhand.annotations.items.batch import SILENT_S, Batch, ImportBusy, discard_incomplete
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import Refused
from tests.support.projects import broken_rules, decide, new_items
from tests.support.released_project import ready_project, work

MORE = 40


class Stopped(Exception):
    """The process is gone, as far as the test goes."""


@pytest.fixture(autouse=True)
def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_writes, "until_over", lambda pace, work: work(7))
    monkeypatch.setattr("evenhand.annotations.items.batch.ABANDONED_S", SILENT_S)  # on a machine of any speed


def second_file(store: Store, project: Project) -> str:
    with Batch.begin(store, project, "second.txt") as batch:
        batch.add(new_items(MORE, first=500))
        batch.publish()
    return f"items-{batch.id}"


def at_work(store: Store) -> tuple[Project, Annotator, str, list[Item]]:
    """Return a project whose second file is partly labelled, leased or skipped, and the leased items."""
    project = ready_project(store, 6)
    work(store, project)
    key = second_file(store, project)
    people = [Annotator(*row) for row in store.db.execute("SELECT id, uid, name FROM annotator ORDER BY id")]
    items = [
        item for item in claim(store, project, people[0], want=30) if item.file == "made.txt" and int(item.line) > 499
    ]
    operations = [decide(item, choice) for item, choice in zip(items, ["accept", "reject", "skip"] * 5, strict=False)]
    assert all(answer.stored for answer in store_operations(store, project, people[0], operations))
    return project, people[0], key, items[len(operations) :]


def seen(store: Store, project: Project, tmp_path: Path) -> Any:
    """Return the data shown by pages, files and desks."""
    out = tmp_path / "export.jsonl"
    export_file(store, project, out, format="jsonl")
    rows = search_items(store, project, Filters()).rows
    return (
        counts(store, project), out.read_text(encoding="utf-8"), [row.item.uid for row in rows],
        label_rows(store, project, which="all"), make_release(store, project, "1.0").hash,
    )  # fmt: skip


@pytest.mark.parametrize("steps", [0, 2])
def test_a_half_deleted_import_counts_as_undone(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    project, ada, key, held = at_work(fresh_store)
    with Store.open(tmp_path / "whole.db") as other:
        fresh_store.db.backup(other.db)
        undo(other, project, key)
        right = seen(other, project, tmp_path)
    with monkeypatch.context() as patch:
        stop_after(patch, steps)
        with pytest.raises(Stopped):
            undo(fresh_store, project, key)
    assert find_import(fresh_store, project, key).rows == MORE - 7 * steps
    assert seen(fresh_store, project, tmp_path) == right and broken_rules(fresh_store) == []
    # labels of items on a desk are stored, hidden; no item of the file is handed out
    assert held and all(answer.stored for answer in store_operations(fresh_store, project, ada, [decide(held[0])]))
    assert all(int(item.line) < 500 for item in claim(fresh_store, project, ada, want=50))
    assert broken_rules(fresh_store) == []
    with pytest.raises(
        ImportBusy, match=r"An import of this project is being undone\. Try again when this is finished\."
    ):  # this process lives, so it may be at it still
        second_file(fresh_store, project)
    done: list[tuple[int, int]] = []
    undo(fresh_store, project, key, progress=lambda *step: done.append(step))
    assert done[-1] == (MORE - 7 * steps, MORE - 7 * steps)
    with pytest.raises(Refused, match="was already undone on"):
        undo(fresh_store, project, key)
    second_file(fresh_store, project)
    assert broken_rules(fresh_store) == []
    back = {row["item"] for row in label_rows(fresh_store, project) if row["line"] >= 500}
    assert held[0].uid in back and len(back) == 11


def stop_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    real, made = withdrawn._clear_chunk, [0]

    def few(*given: Any) -> int:
        made[0] += 1
        if made[0] > steps:
            raise Stopped
        return real(*given)

    monkeypatch.setattr(withdrawn, "_clear_chunk", few)


@pytest.mark.parametrize(
    "gone",
    ["started_process = 1.0", f"heard = heard - {withdrawn.ABANDONED_S + 1}"],
    ids=["another one's number", "silent for a minute"],
)
def test_an_undo_left_by_a_dead_process_is_finished(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    project, _ada, key, _held = at_work(fresh_store)
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(Stopped):
            undo(fresh_store, project, key)
    assert discard_incomplete(fresh_store) == 0 and find_import(fresh_store, project, key).unfinished
    fresh_store.db.execute(f"UPDATE batch SET {gone} WHERE undone IS NOT NULL")
    monkeypatch.setattr("evenhand.annotations.items.batch.ABANDONED_S", withdrawn.ABANDONED_S)
    assert discard_incomplete(fresh_store) == 1
    listed = find_import(fresh_store, project, key)
    assert (listed.rows, listed.unfinished) == (0, False) and broken_rules(fresh_store) == []
    assert discard_incomplete(fresh_store) == 0


def test_both_ways_of_counting_give_equal_counts(fresh_store: Store, tmp_path: Path) -> None:
    """Subtracting the items or counting the others again, by which of the two has fewer items."""
    project, _ada, key, _held = at_work(fresh_store)
    query = "SELECT * FROM census WHERE items > 0 ORDER BY 1, 2, 3, 4", "SELECT * FROM tally WHERE handed > 0"
    results = []
    for more in (0, 1000):
        with Store.open(tmp_path / f"{more}.db") as other:
            fresh_store.db.backup(other.db)
            other.db.execute("UPDATE stock SET items = items + ? WHERE batch <> ?", (more, int(key.split("-")[1])))
            undoing.undo_import(other, project, int(key.split("-")[1]))
            assert broken_rules(other) == []
            results.append([other.db.execute(statement).fetchall() for statement in query])
    assert results[0] == results[1] and results[0][0]
