"""Disks that take nothing, files that are gone or damaged: what can be read is read, and the rest is one sentence."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.annotations.database.pool import Pool
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import projects
from evenhand.core.errors import BadFile, Busy
from tests.support.pages import open_page, without_errors
from tests.support.projects import filled_project
from tests.support.terminal import typed

ROOT = Path(__file__).resolve().parents[3]
# Reads and then writes, as a user who is subject to file permissions.
READER = """
import json, sys
from evenhand.annotations.items.batch import items
from evenhand.annotations.database.pool import Pool
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.database.store import Store
from evenhand.core.errors import Busy
told = {}
try:
    with Store.open(sys.argv[1]) as store:
        told["items"] = sum(1 for _ in items(store, projects(store)[0]))
        told["frozen"] = store.frozen
        with store.write() as db:
            db.execute("DELETE FROM item")
except Busy as error:
    told["refused"] = str(error)
pool = Pool()
with pool.borrow():
    pass
told["kept"] = len(pool._kept)
print(json.dumps(told))
"""


def as_somebody(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run *script* in a process that is subject to file permissions, also if started by root."""
    bounds = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--"] if os.geteuid() == 0 else []
    if bounds and (shutil.which("setpriv") is None or subprocess.run([*bounds, "true"]).returncode):
        pytest.skip("root may write everywhere, and nothing here takes that away")
    command = [*bounds, sys.executable, "-c", script, *arguments]
    environment = os.environ | {"EVENHAND_DB": arguments[0]}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a database with three sentences in a folder of its own."""
    path = tmp_path / "disk" / "labels.db"
    path.parent.mkdir()
    with Store.open(path) as store:
        filled_project(store, 3)
    return path


@pytest.mark.parametrize(
    ("file", "folder", "frozen"), [(0o400, 0o500, True), (0o600, 0o500, True), (0o400, 0o700, False)]
)
def test_a_read_only_database_can_be_read(database: Path, file: int, folder: int, frozen: bool) -> None:
    database.with_name("labels.db-turn").unlink()
    database.chmod(file)
    database.parent.chmod(folder)
    try:
        done = as_somebody(READER, str(database))
    finally:
        database.parent.chmod(0o700)
    assert done.stderr == ""
    data = json.loads(done.stdout)
    assert (data["items"], data["frozen"], data["kept"]) == (3, frozen, 0 if frozen else 1)
    assert data["refused"].startswith("The database could not be written (attempt to write a readonly database).")


def test_a_full_disk_is_reported_and_nothing_is_stored(fresh_store: Store) -> None:
    made, _people = filled_project(fresh_store, 3)
    (pages,) = fresh_store.db.execute("PRAGMA page_count").fetchone()
    fresh_store.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Busy, match=r"could not be written \(database or disk is full\)"), fresh_store.write() as db:
        db.execute("UPDATE item SET extra = json_object('a', hex(zeroblob(1000000)))")
    fresh_store.db.execute("PRAGMA max_page_count = 1000000")
    assert [item.extra for item in items(fresh_store, made)] == [{}] * 3


def test_a_missing_database_is_not_created_again(database: Path) -> None:
    pool, away = Pool(), database.with_name("away.db")
    with Store.open(database):
        pass
    database.rename(away)
    for _ in range(2):
        with pytest.raises(Busy, match="is missing"):
            Store.open(database)
    assert sorted(path.name for path in database.parent.iterdir()) == ["away.db", "labels.db-turn"]
    pool.close()
    away.rename(database)
    with Store.open(database) as store:
        assert len(projects(store)) == 1


@pytest.mark.parametrize("page", ["home", "projects", "jobs"])
def test_a_page_reports_a_missing_database(database: Path, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(database))
    app = without_errors(open_page(page))
    database.rename(database.with_name("away.db"))
    app.run()
    assert not app.exception
    assert ["is missing" in error.value for error in app.error] == [True]


@pytest.mark.parametrize(
    ("code", "kind", "says"),
    [
        (sqlite3.SQLITE_IOERR_READ, Busy, "could not be written"),
        (sqlite3.SQLITE_CANTOPEN, Busy, "could not be written"),
        (
            sqlite3.SQLITE_BUSY,
            Busy,
            "The database is locked by another program. Nothing was stored; try again in a moment.",
        ),
        (sqlite3.SQLITE_CORRUPT, BadFile, "is damaged"),
    ],
)
def test_disk_errors_of_a_read_are_translated(fresh_store: Store, code: int, kind: type[Exception], says: str) -> None:
    error = (sqlite3.DatabaseError if kind is BadFile else sqlite3.OperationalError)("disk")
    error.sqlite_errorcode = code
    with pytest.raises(kind, match=says), Store.open(fresh_store.path):
        raise error
    with pytest.raises(ZeroDivisionError), Store.open(fresh_store.path):
        1 / 0  # noqa: B018


def test_a_damaged_page_of_the_database_is_reported(database: Path) -> None:
    with Store.open(database) as store:
        name = projects(store)[0].name
    with database.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 40)
    ended = typed("export", name, database.with_name("out.csv"), "--format", "jsonl", "--db", database)
    assert ended.code == 2 and len(ended.stderr.splitlines()) == 1, ended
    assert "labels.db is damaged" in ended.stderr or "labels.db is not an Evenhand database" in ended.stderr, ended


def test_an_unwritable_file_is_reported_in_one_sentence(database: Path) -> None:
    with Store.open(database) as store:
        name = projects(store)[0].name
    out = database.with_name("none") / "out.tex"
    ended = typed("describe", name, "--latex", out, "--db", database)
    assert (ended.code, ended.stderr) == (2, f"{out} cannot be read or written: No such file or directory.\n")
