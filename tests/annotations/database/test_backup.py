"""Snapshots: whole, consistent while others write, and never in the place of something by accident."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.annotations.database.backup import backup, check, restore
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import project, projects
from evenhand.annotations.queue.leases import claim
from evenhand.core.errors import BadFile, EvenhandError, NotAllowed, NotFound, Refused
from tests.support.projects import broken_rules, decide, filled_project


def test_a_restored_backup_equals_the_database(fresh_store: Store, tmp_path: Path) -> None:
    made, people = filled_project(fresh_store, 12)
    store_operations(
        fresh_store, made, people[0], [decide(item) for item in claim(fresh_store, made, people[0], want=5)]
    )
    saved = backup(fresh_store, tmp_path / "saved.db")
    assert (saved.projects, saved.items, saved.labels) == (1, 12, 5)
    assert saved.path.stat().st_size == saved.bytes
    restored = restore(saved.path, tmp_path / "elsewhere.db")
    assert (restored.items, restored.labels) == (12, 5)
    with Store.open(tmp_path / "elsewhere.db") as store:
        assert store.uid == fresh_store.uid
        assert label_rows(store, project(store, made.name)) == label_rows(fresh_store, made)
        assert broken_rules(store) == []


def test_a_restored_database_uses_a_write_ahead_log(fresh_store: Store, tmp_path: Path) -> None:
    """Without a log, readers make writers wait."""

    def mode(path: Path) -> str:
        with closing(sqlite3.connect(path)) as db:
            return str(db.execute("PRAGMA journal_mode").fetchone()[0])

    filled_project(fresh_store, 2)
    backup(fresh_store, tmp_path / "saved.db")
    path = restore(tmp_path / "saved.db", tmp_path / "back.db").path
    assert mode(path) == "delete"  # one file that can be moved
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM project").fetchone()
        with Store.open(path) as store:  # a reader is active: the next process that opens the database switches it
            assert len(projects(store)) == 1
    with Store.open(path) as reader, Store.open(path) as writer, reader.read():
        assert len(projects(reader)) == 1
        filled_project(writer, 2)  # at once, even with an active reader
    assert mode(path) == "wal"


def test_a_backup_during_labelling_is_consistent(fresh_store: Store, tmp_path: Path) -> None:
    made, people = filled_project(fresh_store, 150, per_item=1)
    begun, failures = threading.Event(), []

    def work() -> None:
        try:
            with Store.open(fresh_store.path) as store:
                while items := claim(store, made, people[0], want=3):
                    store_operations(store, made, people[0], [decide(item) for item in items])
                    begun.set()
        except BaseException as error:
            failures.append(error)
        finally:
            begun.set()

    worker = threading.Thread(target=work)
    worker.start()
    begun.wait(600)
    copies = [backup(fresh_store, tmp_path / f"saved-{n}.db") for n in range(5)]
    worker.join(600)
    assert not failures
    for copy in copies:
        assert copy.labels % 3 == 0  # a batch is there as a whole or not at all
        with Store.open(copy.path) as store:
            assert broken_rules(store) == []
    assert [copy.labels for copy in copies] == sorted(copy.labels for copy in copies)


def test_existing_files_are_never_overwritten(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    with pytest.raises(NotAllowed):
        backup(fresh_store, tmp_path / "saved.db")
    target = tmp_path / "target.db"
    with Store.open(target) as store:
        uid = store.uid
    with pytest.raises(NotAllowed, match="--force"):
        restore(saved.path, target)
    restore(saved.path, target, force=True)
    with Store.open(target) as store, Store.open(tmp_path / "target.db.before-restore") as old:
        assert (store.uid, old.uid) == (fresh_store.uid, uid)
    restore(saved.path, target, force=True)
    assert (tmp_path / "target.db.before-restore-2").is_file()


def test_labels_in_the_log_of_the_old_database_are_kept_with_it(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    target = tmp_path / "target.db"
    killed = Store.open(target)  # as a killed process leaves it: the last labels are in the log only
    filled_project(killed, 7)
    (tmp_path / "copy.db").write_bytes(target.read_bytes())
    (tmp_path / "copy.db-wal").write_bytes((tmp_path / "target.db-wal").read_bytes())
    killed.close()
    restore(saved.path, tmp_path / "copy.db", force=True)
    assert not (tmp_path / "copy.db-wal").exists()
    assert check(tmp_path / "copy.db").items == 3
    assert check(tmp_path / "copy.db.before-restore").items == 7


def test_a_log_without_its_database_does_not_get_into_the_restored_one(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    killed = Store.open(tmp_path / "target.db")
    filled_project(killed, 7)
    (tmp_path / "lost.db-wal").write_bytes((tmp_path / "target.db-wal").read_bytes())
    killed.close()
    restore(saved.path, tmp_path / "lost.db")
    assert check(tmp_path / "lost.db").items == 3
    assert (tmp_path / "lost.db.before-restore-wal").is_file()


def test_a_database_in_use_is_not_replaced(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    with Store.open(tmp_path / "target.db") as busy, busy.write():
        with pytest.raises(NotAllowed, match="in use"):
            restore(saved.path, tmp_path / "target.db", force=True)
        busy.db.execute("INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', 'now')")
    assert not list(tmp_path.glob("*before-restore*"))


def test_a_database_exists_at_every_step_of_a_restore(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    target = tmp_path / "target.db"
    Store.open(target).close()
    replace, there = Path.replace, list[bool]()

    def watched(self: Path, other: Path) -> Path:
        there.append(target.exists())
        return replace(self, other)

    monkeypatch.setattr(Path, "replace", watched)
    restore(saved.path, target, force=True)
    assert there and all(there)
    assert check(target).items == 3 and check(tmp_path / "target.db.before-restore").items == 0


def test_a_damaged_database_can_be_replaced(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 3)
    saved = backup(fresh_store, tmp_path / "saved.db")
    (tmp_path / "bad.db").write_bytes(b"garbage" * 1_000)
    restore(saved.path, tmp_path / "bad.db", force=True)
    assert check(tmp_path / "bad.db").items == 3
    assert (tmp_path / "bad.db.before-restore").read_bytes() == b"garbage" * 1_000


def broken(path: Path, whole: bytes) -> list[tuple[str, type[EvenhandError]]]:
    middle = bytearray(whole)
    middle[len(whole) // 2 : len(whole) // 2 + 6_000] = b"\xff" * 6_000
    (path / "cut.db").write_bytes(whole[: len(whole) // 2])
    (path / "holes.db").write_bytes(bytes(middle))
    (path / "text.db").write_text("not a database " * 500, encoding="utf-8")
    (path / "empty.db").touch()
    other = sqlite3.connect(path / "other.db")
    other.execute("CREATE TABLE label (x)")
    other.close()
    return [(f"{name}.db", BadFile) for name in ("cut", "holes", "text", "empty", "other")] + [("gone.db", NotFound)]


def test_a_broken_backup_is_refused_and_changes_nothing(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 200)
    whole = backup(fresh_store, tmp_path / "saved.db").path.read_bytes()
    fresh_store.close()
    before = fresh_store.path.read_bytes()
    for name, error in broken(tmp_path, whole):
        with pytest.raises(error):
            restore(tmp_path / name, fresh_store.path, force=True)
        assert fresh_store.path.read_bytes() == before
    with Store.open(fresh_store.path) as store:
        assert len(projects(store)) == 1


def test_a_backup_into_a_missing_folder_is_refused(fresh_store: Store, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        backup(fresh_store, tmp_path / "nowhere" / "saved.db")
    assert not list(tmp_path.glob("**/*.part"))
