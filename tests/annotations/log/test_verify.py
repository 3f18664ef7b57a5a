"""The log is valid after every event of a project, and its check finds every row that was changed past the app."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.accounts.accounts import account, add_account, close_account, grant, withdraw
from evenhand.annotations.database import migrations
from evenhand.annotations.database.hash_chain import daily_heads, head
from evenhand.annotations.database.schema.log_kinds import KINDS, Kind
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import store_labels
from evenhand.annotations.files.label_files import LabelRow
from evenhand.annotations.guideline.versions import PREFERENCE, add_guideline, place_on_left
from evenhand.annotations.items.batch import items
from evenhand.annotations.items.gold import store_gold
from evenhand.annotations.judges.judges import Spec, add_judge, choose_margin
from evenhand.annotations.judges.judges import store_labels as store_judge_labels
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.annotators import annotators, rename_annotator
from evenhand.annotations.projects.consent import add_grouping, answer_consent, set_group
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release
from evenhand.annotations.sampling.frame import plan_sample
from evenhand.annotations.sampling.samples import close_sample, start_sample
from evenhand.annotations.study.studies import change_consent, set_closed
from evenhand.annotations.types import Project
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.comparisons import compared_project
from tests.support.own_schemes import own_project
from tests.support.projects import decide, filled_project, new_store
from tests.support.released_project import rehearse
from tests.support.studies import come, new_study
from tests.support.tampering import broken_at, covered, opened_bare, other


def history(store: Store) -> Project:
    """Make a database with an event of every kind in the log."""
    compared(store)
    for name in ("one", "two"):
        own_project(store, f"own scheme {name}")
    made = rehearse(store, 24)
    make_release(store, made, "1.0", author="Vera")
    ada, bo = annotators(store, made)[:2]
    study, (first, *_others) = filled_project(store, 12)
    second, third, fourth = claim(store, study, first, want=3)
    store_operations(store, study, first, [
        decide(second, "reject", note="他 means anybody here"), decide(third, tags=("old",)), decide(fourth, "skip"),
    ])  # fmt: skip
    reveal(store, study, first, second.uid)
    store_operations(store, study, first, [decide(second, base=None, note="changed"), decide(third, None)])
    item = list(items(store, study))[5].uid
    row = LabelRow(1, item, "Zoe", "op-zoe", "accept", (), None, (), "", 2.5, None, False, None, "", 1, None, False, "")
    assert store_labels(store, study, "labels.csv", [row], sha256="0" * 64).imported == 1
    with store.write():
        for second, gold in zip(items(store, study), ("accept", None), strict=False):
            store_gold(store, study, second.id, store.db.execute("SELECT max(id) FROM label_file").fetchone()[0], gold)
    rename_annotator(store, study, bo, "Boris", author="Vera")
    prolific = new_study(store, study, uses=("release", "training"))
    change_consent(store, prolific, {"en": "Please read this.", "zh": "请阅读。"})
    come(store, prolific)
    set_closed(store, prolific, True)
    texts = [item.id for item in items(store, study)]
    for name in ("one", "two"):
        judge = add_judge(store, study, name, Spec("file", 1, name, name))
        store_judge_labels(store, judge, [JudgeLabel(text, "accept") for text in texts[: 3 + len(name)]])
        choose_margin(store, study, judge, 0.1)
    for _ in range(2):
        start_sample(store, study, plan_sample(store, study, "simple", 2), author="Vera")
        close_sample(store, study, author="Vera")
    for given in (True, False):
        answer_consent(store, study, first, "release", given=given)
    for name in ("L1", "dialect"):
        grouping = add_grouping(store, study, name, ("one", "two"))
        for value in ("one", None, "two"):
            set_group(store, study, grouping, first, value, "annotator")
    for name in ("vera", "ada", "gone"):
        add_account(store, name, password="a long enough password")
    grant(store, account(store, "vera"), "owner", None)
    grant(store, account(store, "ada"), "annotator", made, annotator=ada.name, author=account(store, "vera"))
    grant(store, account(store, "gone"), "reader", study)
    withdraw(store, account(store, "gone"), study)
    close_account(store, account(store, "gone"))
    return study


def compared(store: Store) -> None:
    """Store labels of comparisons by a person and a judge."""
    pairs, (ada, *_others) = compared_project(store, store.path.parent, 3)
    add_guideline(store, pairs, "once more", PREFERENCE.choices, (), scheme=PREFERENCE.more)
    results = list(items(store, pairs))
    places = [place_on_left(0, item.uid, ada.uid) for item in results]
    operations = [decide(item, "first", left=left) for item, left in zip(results, places, strict=True)]
    assert all(answer.stored for answer in store_operations(store, pairs, ada, operations))
    judge = add_judge(store, pairs, "one", Spec("file", 2, "one", "one"))
    store_judge_labels(store, judge, [JudgeLabel(item.id, "tie", first="second") for item in results])


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "lived.db"
    with new_store(path) as store:
        history(store)
        store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def test_the_log_of_a_complete_history_is_valid(lived: Path) -> None:
    with Store.open(lived) as store:
        holds = verify(store)
        assert set(holds.kinds) == {"start", *(kind.table for kind in KINDS)} - {"scrubbed"}
        assert (holds.entries, holds.head) == (head(store.db).entry, head(store.db).hash)
        assert holds.kinds["label"] == store.db.execute("SELECT count(*) FROM label").fetchone()[0]


LOGGED = [kind for kind in KINDS if kind.table != "scrubbed"]  # test_erasure has that one


def test_every_edit_of_a_row_is_found(lived: Path) -> None:
    """A row of each table that the log is about, and each of its columns in turn."""
    draw = random.Random(15)
    with opened_bare(lived) as store:
        for kind in LOGGED:
            names = [row[1] for row in store.db.execute(f"PRAGMA table_info({kind.table})")]
            rows = store.db.execute(f"SELECT * FROM {kind.table} WHERE {kind.when.format(r=kind.table)}").fetchall()
            this = " AND ".join(f"{name} IS ?" for name in names)
            for column in covered(kind):
                row = draw.choice(rows)
                value = other(row[names.index(column)])
                store.db.execute("SAVEPOINT one")
                store.db.execute(f"UPDATE OR REPLACE {kind.table} SET {column} = ? WHERE {this}", (value, *row))
                assert broken_at(store), (kind.table, column, row)
                store.db.execute("ROLLBACK TO one")


@pytest.mark.parametrize("kind", LOGGED, ids=lambda kind: kind.table)
def test_every_deletion_insertion_and_exchange_of_rows_is_found(lived: Path, kind: Kind) -> None:
    table, counts = kind.table, kind.when.format(r=kind.table)
    with opened_bare(lived) as store:
        db, names = store.db, [row[1] for row in store.db.execute(f"PRAGMA table_info({kind.table})")]
        rows = db.execute(f"SELECT * FROM {table} WHERE {counts}").fetchall()
        this = " AND ".join(f"{name} IS ?" for name in names)
        for row in (rows[0], rows[-1]):
            db.execute("SAVEPOINT one")
            db.execute(f"DELETE FROM {table} WHERE {this}", row)
            assert broken_at(store), f"deleted {row}"
            db.execute("ROLLBACK TO one")
        fresh = [_fresh(name, value) for name, value in zip(names, rows[-1], strict=True)]
        if table == "study_person":  # each has an annotator of its own
            fresh[names.index("annotator")] = 990_001
        db.execute("SAVEPOINT one")
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", fresh)
        assert broken_at(store), f"inserted {fresh}"
        db.execute("ROLLBACK TO one")
        if len(rows) > 1 and "id" in names:
            pair = [dict(zip(names, row, strict=True)) for row in (rows[0], rows[-1])]
            fixed = covered(kind)
            if any(pair[0][name] != pair[1][name] for name in fixed if name != "id"):
                db.execute(f"DELETE FROM {table} WHERE id IN (?, ?)", (pair[0]["id"], pair[1]["id"]))
                for before, after in (pair, pair[::-1]):
                    values = [*(before | {"id": after["id"]}).values()]
                    db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", values)
                assert broken_at(store), f"exchanged {pair}"


def _fresh(name: str, value: Any) -> Any:
    if name in ("id", "item", "project", "account", "file", "label", "judge", "guideline", "grouping"):
        return 990_001
    if name in ("uid", "op_id", "name", "version", "hash", "use") and value is not None:  # one of them may be unique
        return value + 990_001 if isinstance(value, int) else other(value)
    return value


@pytest.mark.parametrize("column", ["id", "kind", "row", "at", "body", "annotator", "own", "hash"])
def test_every_edit_of_an_entry_is_found(lived: Path, column: str) -> None:
    with opened_bare(lived) as store:
        rows = store.db.execute(f"SELECT id, {column} FROM log WHERE {column} IS NOT NULL").fetchall()
        last = rows[-1][0]
        for entry, value in [rows[0], *random.Random(column).sample(rows, 8), rows[-1]]:
            store.db.execute("SAVEPOINT one")
            changed = "label" if column == "kind" and value != "label" else "skip" if column == "kind" else other(value)
            changed = "[null,null]" if column == "body" else 990_000 + entry if column == "id" else changed
            store.db.execute(f"UPDATE log SET {column} = ? WHERE id = ?", (changed, entry))
            assert broken_at(store), (column, entry, last)
            store.db.execute("ROLLBACK TO one")


def test_missing_moved_and_inserted_entries_are_found(lived: Path) -> None:
    with opened_bare(lived) as store:
        db, draw = store.db, random.Random(7)
        last = head(db).entry
        for entry in [1, 2, *draw.sample(range(3, last), 10), last]:
            db.execute("SAVEPOINT one")
            db.execute("DELETE FROM log WHERE id = ?", (entry,))
            assert broken_at(store), entry
            db.execute("UPDATE log SET id = -id WHERE id > ?", (entry,))
            db.execute("UPDATE log SET id = -id - 1 WHERE id < 0")  # the gap is closed
            assert broken_at(store), entry
            db.execute("ROLLBACK TO one")
        for drawn in draw.sample(range(2, last), 6):
            for two in (drawn + 1, draw.randrange(2, last)):
                if drawn == two:
                    continue
                db.execute("SAVEPOINT one")
                db.executemany("UPDATE log SET id = ? WHERE id = ?", [(0, drawn), (drawn, two), (two, 0)])
                assert f"Log entry {min(drawn, two)} is out of order" in broken_at(store)
                db.execute("ROLLBACK TO one")
        db.execute(
            "INSERT INTO log SELECT id + 1, kind, row, at, body, annotator, own, hash FROM log WHERE id = ?", (last,)
        )
        assert f"Log entry {last + 1} " in broken_at(store)


def test_a_changed_note_or_sentence_of_a_label_is_found(lived: Path) -> None:
    changes = (
        "UPDATE item SET text = text || ' ' WHERE id = (SELECT min(item) FROM label)",
        "UPDATE item SET second = second || ' ' WHERE id = (SELECT min(item) FROM left_text)",
        "UPDATE log_salt SET salt = x'00' WHERE kind = 'label' AND part = 'note'",
        "DELETE FROM log_salt WHERE kind = 'label' AND part = 'note'",
        "INSERT INTO log_salt SELECT 'label', id, 'note', x'00' FROM label WHERE note = '' LIMIT 1",
        "UPDATE release_file SET content = x'00' WHERE rowid = (SELECT max(rowid) FROM release_file)",
    )
    with opened_bare(lived) as store:
        for change in changes:
            store.db.execute("SAVEPOINT one")
            assert store.db.execute(change).rowcount == 1 or "log_salt" in change
            assert broken_at(store), change
            store.db.execute("ROLLBACK TO one")


def test_the_database_refuses_a_label_without_its_log_entry(fresh_store: Store) -> None:
    """Another program than this app has no function for the hash, so its label is not stored at all."""
    study, (ada, *_others) = filled_project(fresh_store, 2)
    (item,) = claim(fresh_store, study, ada, want=1)
    store_operations(fresh_store, study, ada, [decide(item)])
    with closing(sqlite3.connect(fresh_store.path)) as plain, pytest.raises(sqlite3.OperationalError, match="log_"):
        columns = "project, item, annotator, guideline, choice, form_shown, desk, revision, created"
        plain.execute(f"INSERT INTO label (op_id, {columns}) SELECT 'x', {columns} FROM label")
    for statement in ("UPDATE log SET at = 0", "DELETE FROM log", "INSERT OR REPLACE INTO log SELECT * FROM log"):
        with pytest.raises(sqlite3.IntegrityError, match="the log is appended"):
            fresh_store.db.execute(statement)
    assert verify(fresh_store).kinds["label"] == 1


def test_a_transaction_that_fails_leaves_no_entry(fresh_store: Store) -> None:
    study, _people = filled_project(fresh_store, 2)
    before = head(fresh_store.db)
    with pytest.raises(RuntimeError), fresh_store.write() as db:
        db.execute("UPDATE project SET licence = 'CC0' WHERE id = ?", (study.id,))
        raise RuntimeError
    assert head(fresh_store.db) == before and verify(fresh_store).entries == before.entry


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_rows_older_than_the_log_are_in_its_first_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    path = tmp_path / "old.db"
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    with Store.open(path) as old:
        _old_rows(old.db)
    monkeypatch.undo()
    with Store.open(path) as store:
        assert verify(store).kinds == {"start": 10}  # each later version with kinds has one, too
        store.db.execute("UPDATE project SET name = 'renamed'")
        store.db.execute("UPDATE assignment SET revealed = 'now'")
        assert verify(store).kinds == {"start": 10, "project": 1, "assignment": 1}
    for change in (
        "UPDATE label SET note = 'another'", "UPDATE label SET choice = 'reject'", "UPDATE item SET text = 'u'",
        "UPDATE annotator SET name = 'b'", "UPDATE assignment SET blind = NULL", "DELETE FROM guideline",
        "INSERT INTO annotator VALUES (2, 'u2', 'two', '')", "UPDATE project SET name = 'p'",
    ):  # fmt: skip
        with opened_bare(path) as bare:
            bare.db.execute(change)
            assert broken_at(bare), change


def _old_rows(db: sqlite3.Connection) -> None:
    """Insert a label of each time with its note, as that version wrote it."""
    db.execute(
        "INSERT INTO project (id, uid, name, kind, language, per_item, gold, presentation, created)"
        " VALUES (1, 'p', 'p', 'sentences', 'zh', 3, 'unanimous', 'masked', '')"
    )
    db.execute(
        "INSERT INTO guideline (id, project, version, text, choices, reasons, created)"
        " VALUES (1, 1, 1, '', '[]', '[]', '')"
    )
    db.execute("INSERT INTO annotator (id, uid, name, created) VALUES (1, 'a', 'a', '')")
    db.execute("INSERT INTO cell (id, project, pair, side) VALUES (1, 1, '', '')")
    db.execute("INSERT INTO batch (id, project, file, heard, created) VALUES (1, 1, 'f', 0, '')")
    db.execute(
        "INSERT INTO item (id, uid, project, batch, cell, rank, hash, text, file, line, wanted)"
        " VALUES (1, 'i', 1, 1, 1, 1, x'00', 't', 'f', 1, 3)"
    )
    db.execute(
        "INSERT INTO label (id, op_id, project, item, annotator, guideline, choice, form_shown, desk, revision, note,"
        " seconds, created) VALUES (1, 'o', 1, 1, 1, 1, 'accept', 'original', 'd', 1, 'a note', 1.25, '')"
    )
    db.execute(
        "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind, op_id, desk, revision)"
        " VALUES (1, 1, 1, 'labelled', 1, 1, 1, 'o', 'd', 1)"
    )


def test_the_head_of_a_day_is_its_last_entry(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    study, (ada, *_others) = filled_project(fresh_store, 3)
    day = 86_400_000
    heads = []
    for number, item in enumerate(claim(fresh_store, study, ada, want=3)):
        monkeypatch.setattr(
            "evenhand.annotations.database.hash_chain.now_ms", lambda at=(40_000 + 2 * number) * day: at
        )
        store_operations(fresh_store, study, ada, [decide(item)])
        heads.append(head(fresh_store.db))
    assert daily_heads(fresh_store.db)[-2:] == heads[:2]  # the third day is not over
    assert [head.day for head in heads] == ["2079-07-08", "2079-07-10", "2079-07-12"]
