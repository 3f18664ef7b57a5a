"""Triggers that are missing or changed are restored when the database is opened, with an entry of the log."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.annotations.database import migrations
from evenhand.annotations.database.migrations import Differences, different_triggers, digest_of_triggers
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.verify import verify
from evenhand.annotations.queue.leases import claim
from tests.support.projects import broken_rules, decide, filled_project
from tests.support.tampering import broken_at, forget_comparison

NO_LABEL_ENTRY = "CREATE TRIGGER log_label AFTER INSERT ON label BEGIN SELECT 1; END"


def names(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))


def opened_again(store: Store) -> Store:
    """Open the database of *store* as the first one of a process does."""
    store.close()
    forget_comparison(store.path)
    return Store.open(store.path)


def test_the_stored_digest_matches_the_schema(fresh_store: Store) -> None:
    """Write the digest of the newest version into `DIGEST` where this fails: without it each first opening is slow."""
    assert digest_of_triggers(fresh_store.db) == migrations.DIGEST


def test_dropped_triggers_are_restored(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4)
    before = names(fresh_store.db)
    with closing(sqlite3.connect(fresh_store.path, isolation_level=None)) as plain:
        plain.execute("BEGIN")
        for name in before:
            plain.execute(f"DROP TRIGGER {name}")
        plain.execute("COMMIT")
    with opened_again(fresh_store) as store:
        assert names(store.db) == before and different_triggers(store.db) == Differences()
        result = verify(store)
        assert list(result.restored.items()) == [(result.entries, sorted(before))]
        store_operations(store, project, people[0], [decide(claim(store, project, people[0], want=1)[0])])
        assert verify(store).kinds["label"] == 1 and broken_rules(store) == []


def test_a_label_stored_without_its_trigger_is_found_afterwards(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4)
    items = claim(fresh_store, project, people[0], want=2)
    fresh_store.db.execute("DROP TRIGGER log_label")
    fresh_store.db.execute(NO_LABEL_ENTRY)
    store_operations(fresh_store, project, people[0], [decide(items[0])])
    with opened_again(fresh_store) as store:
        body = store.db.execute("SELECT body FROM log ORDER BY id DESC LIMIT 1").fetchone()[0]
        (differences,) = json.loads(body).values()
        assert differences == {"missing": [], "changed": ["log_label"], "unknown": []}
        assert names(store.db)["log_label"] != NO_LABEL_ENTRY
        store_operations(store, project, people[0], [decide(items[1])])
        assert broken_at(store) == (
            "Row 1 of label has no log entry: it was added outside the app, or its entry is missing."
        )


def test_a_trigger_of_another_program_is_kept(fresh_store: Store) -> None:
    fresh_store.db.execute("CREATE TRIGGER own AFTER INSERT ON label BEGIN SELECT 1; END")
    entries = verify(fresh_store).entries
    with opened_again(fresh_store) as store:
        assert different_triggers(store.db) == Differences(unknown=("own",)) and "own" in names(store.db)
        assert verify(store).entries == entries


def test_a_read_only_database_is_opened_without_restoring_triggers(fresh_store: Store) -> None:
    fresh_store.db.execute("DROP TRIGGER log_label")
    with Store.reading(fresh_store.path) as store:
        assert different_triggers(store.db).missing == ("log_label",)
        with pytest.raises(sqlite3.OperationalError):
            store.db.execute("DELETE FROM job")


@pytest.mark.parametrize("version", [3, 7, 12])
def test_an_older_database_gets_all_triggers_without_a_log_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
        Store.open(tmp_path / "a.db").close()
    forget_comparison(tmp_path / "a.db")
    with Store.open(tmp_path / "a.db") as store:
        assert digest_of_triggers(store.db) == migrations.DIGEST and verify(store).restored == {}
