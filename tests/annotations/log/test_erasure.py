"""Erasing a person: no trace of the name in the file, labels unchanged, and the log still valid."""

from pathlib import Path

import pytest

from evenhand.annotations.accounts.accounts import account, add_account, grant, person_of
from evenhand.annotations.accounts.links import invite_link
from evenhand.annotations.accounts.sign_ins import sign_in, signed_in
from evenhand.annotations.adjudication.decisions import add_comment
from evenhand.annotations.database.backup import backup
from evenhand.annotations.database.hash_chain import head, own_chain
from evenhand.annotations.database.schema.log_kinds import KINDS
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.erasure import SCRUBBED, erase, scrub_texts, texts_of
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.annotators import annotators, rename_annotator
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Project
from evenhand.core.errors import NotFound, Refused
from tests.support.projects import decide, filled_project
from tests.support.tampering import broken_at, covered, opened_bare, other

NAME, FORMER = "Wilhelmina Testperson", "Mina Unmarried"
SUBJECT = "wilhelmina-at-the-provider"
SECRET = "my brother Theobald would say so"


@pytest.fixture
def worked(fresh_store: Store) -> tuple[Store, Project]:
    """Return a project with an owner and an annotator with account, former names, labels with notes and comments."""
    study, (mina, bo, _chen) = filled_project(fresh_store, 6, people=(FORMER, "Bo", "Chen"))
    add_account(fresh_store, "owner", password="a long enough password")
    owner = account(fresh_store, "owner")
    grant(fresh_store, owner, "owner", None)
    mina = rename_annotator(fresh_store, study, mina, NAME, author="owner")
    add_account(fresh_store, NAME, password="a long enough password", author=owner)
    grant(fresh_store, account(fresh_store, NAME), "annotator", study, annotator=NAME, author=owner)
    invite_link(fresh_store, "annotator", study, name=NAME, author=owner)
    fresh_store.db.execute(
        "INSERT INTO account_identity SELECT 'https://provider.example', ?, id, '' FROM account WHERE name = ?",
        (SUBJECT, NAME),
    )
    for item in claim(fresh_store, study, mina, want=3):
        store_operations(fresh_store, study, mina, [decide(item, "reject", note=SECRET, tags=("Theobald",))])
        add_comment(fresh_store, study, item.uid, SECRET, author=NAME, annotator=mina, thread=mina)
    for item in claim(fresh_store, study, bo, want=2):
        store_operations(fresh_store, study, bo, [decide(item, note="of Bo")])
    return fresh_store, study


def labels(store: Store) -> list[tuple[object, ...]]:
    return store.db.execute("SELECT op_id, item, annotator, choice, reasons, created FROM label ORDER BY id").fetchall()


def test_erasure_removes_the_name_and_keeps_the_labels(worked: tuple[Store, Project], tmp_path: Path) -> None:
    store, study = worked
    secret, uid, before = sign_in(store, account(store, NAME)), account(store, NAME).uid, labels(store)
    done = erase(store, NAME, author=account(store, "owner"))
    assert labels(store) == before and verify(store).kinds["label"] == 5
    assert signed_in(store, secret) is None and person_of(store, uid) is None
    assert done.code in [annotator.name for annotator in annotators(store, study, active=False)]
    assert NAME not in [annotator.name for annotator in annotators(store, study, active=False)]
    assert {text.text for text in done.texts} == {SECRET, '["Theobald"]'} and len(done.texts) == 9
    assert scrub_texts(store, done.texts) == 9 and texts_of(store, done.code) == []
    holds = verify(store)
    assert holds.kinds["scrubbed"] > 9 and labels(store) == before
    copy = tmp_path / "copy.db"
    backup(store, copy)
    with Store.open(copy) as whole:
        whole.db.execute("VACUUM")
        assert verify(whole).head == holds.head == head(whole.db).hash
    content = copy.read_bytes()
    for trace in (NAME, FORMER, SUBJECT, "Theobald"):
        assert trace.encode() not in content
    assert b"of Bo" in content


def test_scrubbing_a_text_deletes_its_salt(worked: tuple[Store, Project]) -> None:
    store, _study = worked
    salts = "SELECT count(*) FROM log_salt WHERE kind = 'label'"
    assert store.db.execute(salts).fetchone() == (8,)
    done = erase(store, NAME)
    assert scrub_texts(store, [text for text in done.texts if text.part == "note"]) == 3
    assert store.db.execute(salts).fetchone() == (5,)
    names = "SELECT count(*) FROM log_salt WHERE kind IN ('annotator', 'account')"
    assert store.db.execute(names).fetchone() == (5,)  # of three annotators and two accounts, as they are called now
    comments = [row[0] for row in store.db.execute("SELECT text FROM comment")]
    assert comments == [SECRET] * 3
    assert scrub_texts(store, texts_of(store, done.code)) == 6
    assert {row[0] for row in store.db.execute("SELECT text FROM comment")} == {SCRUBBED}


def test_texts_and_salts_change_only_by_scrubbing(worked: tuple[Store, Project]) -> None:
    store, _study = worked
    for statement in (
        "UPDATE label SET note = ''", "UPDATE comment SET text = 'x'", "UPDATE event SET author = ''",
        "DELETE FROM log_salt WHERE kind = 'label'", "UPDATE log_salt SET salt = x'00'", "DELETE FROM comment",
        "UPDATE label SET choice = 'accept', note = note",
    ):  # fmt: skip
        with pytest.raises(Exception, match=r"never changed|never deleted|goes with its text"):
            store.db.execute(statement)
    scrub_texts(store, texts_of(store, NAME))
    for statement in ("UPDATE label SET note = 'again' WHERE annotator = 1", "UPDATE scrubbed SET text = ''",
                      "DELETE FROM scrubbed"):  # fmt: skip
        with pytest.raises(Exception, match=r"never changed|for good"):
            store.db.execute(statement)
    assert verify(store)


def test_a_changed_scrubbed_text_is_found(worked: tuple[Store, Project]) -> None:
    store, _study = worked
    erase(store, NAME)
    scrub_texts(store, texts_of(store, f"P-{_uid(store)[:8]}"))
    kind = next(kind for kind in KINDS if kind.table == "scrubbed")
    with opened_bare(store.path) as bare:
        row = bare.db.execute("SELECT kind, row, part FROM scrubbed WHERE kind = 'label'").fetchone()
        for column in covered(kind):
            bare.db.execute("SAVEPOINT one")
            where = "WHERE (kind, row, part) = (?, ?, ?)"
            value = bare.db.execute(f"SELECT {column} FROM scrubbed {where}", row).fetchone()
            bare.db.execute(f"UPDATE OR REPLACE scrubbed SET {column} = ? {where}", (other(value[0]), *row))
            assert broken_at(bare), column
            bare.db.execute("ROLLBACK TO one")
        for change in (
            "UPDATE label SET note = 'of her' WHERE note = ''", "UPDATE comment SET text = 'hers'",
            "DELETE FROM scrubbed WHERE kind = 'comment'", "UPDATE event SET author = 'x' WHERE id = 1",
        ):  # fmt: skip
            bare.db.execute("SAVEPOINT one")
            bare.db.execute(change)
            assert broken_at(bare), change
            bare.db.execute("ROLLBACK TO one")


def _uid(store: Store) -> str:
    return str(store.db.execute("SELECT uid FROM annotator WHERE id = 1").fetchone()[0])


def test_erasing_another_person_leaves_the_own_chain(worked: tuple[Store, Project]) -> None:
    store, study = worked
    bo = next(annotator for annotator in annotators(store, study) if annotator.name == "Bo")
    before = own_chain(store.db, bo.id)
    assert len(before) == 2
    erase(store, NAME)
    assert own_chain(store.db, bo.id) == before


def test_an_annotator_without_an_account_can_be_erased(worked: tuple[Store, Project]) -> None:
    store, study = worked
    done = erase(store, "Bo")
    assert done.code.startswith("P-") and [text.text for text in done.texts] == ["of Bo", "of Bo"]
    assert "Bo" not in [annotator.name for annotator in annotators(store, study, active=False)]
    with pytest.raises(NotFound):
        erase(store, "Bo")
    with pytest.raises(Refused, match="last owner"):
        erase(store, "owner")
    assert verify(store)
