"""Opening, migrating and writing the database."""

import hashlib
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.annotations.database import migrations
from evenhand.annotations.database.connections import connect
from evenhand.annotations.database.events import record
from evenhand.annotations.database.schema import SCRIPTS
from evenhand.annotations.database.store import Store, database_path, delete_rows, insert, update_rows
from evenhand.annotations.projects import projects
from evenhand.core.errors import BadFile, Busy
from tests.conftest import ROOT
from tests.support.projects import broken_rules, filled_project


def names(store: Store) -> set[str]:
    return {row[0] for row in store.db.execute("SELECT name FROM sqlite_master")}


def test_an_empty_file_and_a_missing_file_become_equal_databases(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with Store.open(tmp_path / "empty.db") as empty, Store.open(tmp_path / "new.db") as new:
        assert names(empty) == names(new) and "label" in names(new)
        assert empty.uid != new.uid and len(new.uid) == 32 and len(new.secret) == 32


@dataclass
class Named:
    id: int
    name: str


def test_rows_are_read_by_column_name(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        query = "SELECT 'b' AS name, 2 AS id UNION ALL SELECT 'a', 1"
        assert store.rows(Named, query) == [Named(2, "b"), Named(1, "a")]
        assert store.row(dict, f"{query} ORDER BY id") == {"id": 1, "name": "a"}
        assert store.row(Named, f"SELECT * FROM ({query}) WHERE id = ?", (3,)) is None
        assert store.value("SELECT max(id) FROM label WHERE id > :least", {"least": 0}) is None
        assert store.value("SELECT 7") == 7


PROJECT_OF_VERSION_1 = (
    "INSERT INTO project VALUES (1, 'u', 'old', 'sentences', 'zh', 2, 'unanimous', 'masked', NULL, 0, 0, '', NULL)"
)


def test_rows_are_changed_and_deleted_by_the_values_of_columns(fresh_store: Store) -> None:
    with fresh_store.write() as db:
        for tag in "abc":
            insert(db, "account", {"uid": tag, "name": tag, "created": ""})
        assert update_rows(db, "account", {"password": "x", "closed": "now"}, name=("a", "b")) == 2
        assert update_rows(db, "account", {"password": "y"}, name="a", closed=None) == 0
        assert delete_rows(db, "account", closed=None) == 1
        assert delete_rows(db, "account", name=()) == 0
    rows = fresh_store.db.execute("SELECT name, password, closed FROM account ORDER BY id").fetchall()
    assert rows == [("a", "x", "now"), ("b", "x", "now")]


RELEASED, DIGEST = 21, "97607b3166215786b623a80a04b4fb7b02df1c07362fc8335ce814fec1b9873a"


def test_a_released_script_of_the_schema_never_changes() -> None:
    """A file keeps what a script made in it: an edited script would make another schema of the same version."""
    assert list(SCRIPTS) == [migration.__name__ for migration in migrations.MIGRATIONS]
    assert [int(name[1:4]) for name in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))
    released = b"".join(file.read_bytes() for file in list(SCRIPTS.values())[:RELEASED])
    assert hashlib.sha256(released).hexdigest() == DIGEST


def test_reopening_changes_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        before = (store.uid, store.secret, names(store))
        filled_project(store, 3)
    with Store.open(tmp_path / "a.db") as store:
        assert (store.uid, store.secret, names(store)) == before
        assert store.db.execute("SELECT count(*) FROM item").fetchone() == (3,)


def test_a_current_database_is_opened_without_pandas(tmp_path: Path) -> None:
    """sqlite-utils brings pandas and numpy along, half of the time that a command needs to start."""
    Store.open(tmp_path / "a.db").close()
    query = "SELECT count(*) FROM project"
    script = f"""
import sys
from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
with Store.open({str(tmp_path / "a.db")!r}) as store:
    print(store.db.execute({query!r}).fetchone()[0], sorted({{"numpy", "pandas", "sqlite_utils"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "0 []\n", done.stderr


def test_replacing_an_append_only_row_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        project, _people = filled_project(store, 1)
        with store.write():
            record(store, project, "plan")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            store.db.execute("INSERT OR REPLACE INTO event SELECT * FROM event")


def test_a_later_migration_reaches_a_file_with_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "a.db") as store:
        filled_project(store, 3)

    def m999_later(db: object) -> None:
        db.execute("ALTER TABLE item ADD COLUMN colour TEXT")  # type: ignore[attr-defined]

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_later))
    with Store.open(tmp_path / "a.db") as store:
        assert store.db.execute("SELECT count(*), count(colour) FROM item").fetchone() == (3, 0)
    monkeypatch.undo()
    with pytest.raises(BadFile, match="newer version"):
        Store.open(tmp_path / "a.db")


def test_before_a_migration_a_copy_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def m999_later(db: object) -> None:
        db.execute("ALTER TABLE item ADD COLUMN colour TEXT")  # type: ignore[attr-defined]

    with Store.open(tmp_path / "a.db") as store:
        filled_project(store, 3)
        uid = store.uid
        monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_later))
        with Store.open(tmp_path / "a.db"):  # while another program has it open, its labels still in the log
            pass
    copy = tmp_path / "a.db.before-version-999"
    assert copy.stat().st_mode & 0o777 == 0o600
    with Store.open(tmp_path / "a.db"):  # once
        pass
    assert [file.name for file in tmp_path.glob("*before*")] == [copy.name]
    monkeypatch.undo()
    with Store.open(copy) as store:  # the earlier version opens it
        assert (store.uid, store.db.execute("SELECT count(*) FROM item").fetchone()[0]) == (uid, 3)


@pytest.mark.parametrize("version", range(1, len(migrations.MIGRATIONS)))
def test_every_earlier_version_is_brought_up_to_date_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    with Store.open(tmp_path / "a.db") as store:
        uid = store.uid
        store.db.execute("INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', 'now')")
    monkeypatch.undo()
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "new.db") as new:
        assert (store.uid, names(store)) == (uid, names(new))
        assert store.db.execute("SELECT name FROM annotator").fetchall() == [("Ada",)]
    (copy,) = tmp_path.glob("a.db.before-version-*")
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    with Store.open(copy) as old:
        assert old.uid == uid


def test_without_room_for_a_copy_no_migration_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "a.db") as store:
        filled_project(store, 3)

    def m999_full(*_: object, **__: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.annotations.database.store.whole_path", m999_full)
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_full))
    with pytest.raises(Busy, match="no copy of it could be made"):
        Store.open(tmp_path / "a.db")
    monkeypatch.undo()
    with Store.open(tmp_path / "a.db") as store:
        assert store.db.execute("SELECT count(*) FROM item").fetchone()[0] == 3


def test_migrating_version_1_adds_gold_labels_and_disputes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
    with Store.open(tmp_path / "a.db") as store:
        store.db.execute(PROJECT_OF_VERSION_1)
        store.db.execute("INSERT INTO guideline VALUES (1, 1, 1, '', '[]', '[]', '')")
        store.db.execute("INSERT INTO cell VALUES (1, 1, '', '', NULL)")
        store.db.execute("INSERT INTO batch VALUES (1, 1, 'f', 1, NULL, NULL, 0, '')")
        for item, (status, choices) in enumerate([("accepted", "aa"), ("rejected", "ar"), ("pending", "a")], 1):
            store.db.execute(
                "INSERT INTO item (id, uid, project, batch, cell, rank, hash, text, file, line, wanted, labels, status)"
                " VALUES (?, ?, 1, 1, 1, 0, ?, 'x', 'f', 1, 2, ?, ?)",
                (item, str(item), bytes([item]), len(choices), status),
            )
            for number, letter in enumerate(choices, 1):
                store.db.execute("INSERT OR IGNORE INTO annotator VALUES (?1, ?1, ?1, '')", (number,))
                label = store.db.execute(
                    "INSERT INTO label (op_id, project, item, annotator, guideline, choice, form_shown, desk, revision,"
                    " created) VALUES (?, 1, ?, ?, 1, ?, 'original', 'd', 1, '')",
                    (f"{item}{number}", item, number, {"a": "accept", "r": "reject"}[letter]),
                ).lastrowid
                store.db.execute(
                    "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind)"
                    " VALUES (?, ?, 1, 'labelled', 1, ?, ?)",
                    (item, number, label, label),
                )
        store.db.commit()
    monkeypatch.undo()
    with Store.open(tmp_path / "a.db") as store:
        rows = store.db.execute("SELECT gold, split FROM item ORDER BY id").fetchall()
        assert rows == [("accept", 0), ("reject", 1), (None, 0)]
        assert projects.project(store, "old").checked is True


def test_a_failed_migration_is_rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def m999_broken(db: object) -> None:
        db.execute("CREATE TABLE half (x)")  # type: ignore[attr-defined]
        raise RuntimeError("power cut")

    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, m999_broken))
    with pytest.raises(RuntimeError):
        Store.open(tmp_path / "a.db")
    monkeypatch.undo()
    with Store.open(tmp_path / "a.db") as store:
        assert "half" not in names(store) and "label" in names(store)


def test_a_file_of_another_format_is_refused_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("This is not a database. " * 200, encoding="utf-8")
    before = file.read_bytes()
    with pytest.raises(BadFile, match="notes\\.txt is not an Evenhand database \\("):
        Store.open(file)
    assert file.read_bytes() == before


def test_a_database_of_another_program_is_refused_unchanged(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE songs (title TEXT)")
    other.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(BadFile, match=r"is a database, but not an Evenhand database\."):
        Store.open(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_database_in_a_missing_folder_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(Busy, match="cannot be opened"):
        Store.open(tmp_path / "nowhere" / "a.db")
    with pytest.raises(Busy, match="cannot be opened"):
        Store.open(tmp_path)


def test_connections_use_wal_full_sync_and_foreign_keys(fresh_store: Store) -> None:
    pragmas = {name: fresh_store.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    assert pragmas == {"journal_mode": "wal", "synchronous": 2}
    assert fresh_store.db.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_only_commits_within_unsynced_skip_the_disk_sync(fresh_store: Store) -> None:
    def synchronous() -> int:
        return int(fresh_store.db.execute("PRAGMA synchronous").fetchone()[0])

    with fresh_store.unsynced(), fresh_store.write() as db:
        assert synchronous() == 1
        db.execute("UPDATE database SET created = 'x'")
    fresh_store.sync_log()
    assert synchronous() == 2
    with suppress(ValueError), fresh_store.unsynced():
        raise ValueError
    assert synchronous() == 2
    with Store.open(fresh_store.path) as other:
        assert other.db.execute("SELECT created FROM database").fetchone() == ("x",)


def test_the_file_is_readable_by_its_owner_only(fresh_store: Store) -> None:
    assert stat.S_IMODE(fresh_store.path.stat().st_mode) & 0o077 == 0


def test_a_transaction_is_all_or_nothing(fresh_store: Store) -> None:
    count = "SELECT count(*) FROM annotator"
    insert = "INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', 'now')"
    with pytest.raises(KeyError), fresh_store.write() as db:
        db.execute(insert)
        raise KeyError
    assert fresh_store.db.execute(count).fetchone() == (0,)
    with fresh_store.write() as db:
        db.execute(insert)
    with Store.open(fresh_store.path) as other:
        assert other.db.execute(count).fetchone() == (1,)


def test_a_busy_database_is_reported_in_one_sentence(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(connect(fresh_store.path)) as other, monkeypatch.context() as patched:
        other.execute("BEGIN IMMEDIATE")
        patched.setattr("evenhand.annotations.database.store.BUSY_MS", 10)
        with (
            pytest.raises(
                Busy, match=r"The database is locked by another program\. Nothing was stored; try again in a moment\."
            ),
            fresh_store.write(),
        ):
            pass
    with fresh_store.write():
        pass


def test_a_full_disk_rolls_back_and_is_reported(fresh_store: Store) -> None:
    pages = fresh_store.db.execute("PRAGMA page_count").fetchone()[0]
    fresh_store.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Busy, match="could not be written"), fresh_store.write() as db:
        for number in range(2_000):
            db.execute("INSERT INTO annotator (uid, name, created) VALUES (?, ?, 'now')", (f"u{number}", f"n{number}"))
    assert fresh_store.db.execute("SELECT count(*) FROM annotator").fetchone() == (0,)
    assert broken_rules(fresh_store) == []


def test_an_error_in_a_statement_is_raised_untranslated(fresh_store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), fresh_store.write() as db:
        db.execute("SELECT * FROM no_such_table")


def test_the_path_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "named.db"))
    assert database_path() == tmp_path / "named.db"
    monkeypatch.setenv("EVENHAND_DB", "")
    assert database_path() == Path("evenhand.db")
