"""Projects with sentences for tests of the store: own, made by counting, one keyword each."""

import itertools
import secrets
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from evenhand.annotations.database import connections, migrations
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.log.verify import verify_derived
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.types import Annotator, Item, Operation, Project
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.keywords import find

WORDS = ("他", "她", "爸爸", "妈妈", "男孩", "女孩", "姥爷", "姥姥")
_numbers = itertools.count(1)
_drafts = itertools.count(1)
_ALL = migrations.MIGRATIONS
PATIENCE_MS = 600_000  # how long a writer waits for another one, because machines may be busy
# The beginning of the script of a process that writes while others do.
PATIENT = f"import annotations.database.store\nannotations.database.store.BUSY_MS = {PATIENCE_MS}\n"


def new_items(number: int, words: Sequence[str] = WORDS, first: int = 1) -> Iterator[NewItem]:
    """Yield *number* sentences, the words in turn."""
    for n in range(first, first + number):
        text = f"第{n}个早上，{words[n % len(words)]}去市场买菜。"
        yield NewItem(text, find(text)[0], "made.txt", n)


def filled_project(
    store: Store,
    number: int,
    *,
    people: Sequence[str] = ("Ada", "Bo", "Chen"),
    words: Sequence[str] = WORDS,
    **fields: object,
) -> tuple[Project, list[Annotator]]:
    """Make a project with published sentences and its annotators."""
    project = create_project(store, f"made {next(_numbers)}", annotators=people, **fields)  # type: ignore[arg-type]
    with Batch.begin(store, project, "made.txt") as batch:
        batch.add(new_items(number, words))
        batch.publish()
    return project, annotators(store, project)


def decide(
    item: Item | str, choice: str | None = "accept", *, desk: str = "desk", base: str | None = None, **fields: object
) -> Operation:
    """Return an operation with an id and a revision of its own; a reject has a reason."""
    number = next(_numbers)
    reasons = ("name",) if choice == "reject" else ()
    values = {"op_id": f"op-{desk}-{number}", "revision": number, "reasons": reasons} | fields
    uid = item if isinstance(item, str) else item.uid
    return Operation(item=uid, choice=choice, desk=desk, base=base, **values)  # type: ignore[arg-type]


def broken_rules(store: Store) -> list[str]:
    """Return the errors of the database's own counts, found by counting again; empty if there are none."""
    held = "(state IN ('leased', 'labelled') OR blind IS NOT NULL)"
    counted = "item.batch NOT IN (SELECT id FROM batch WHERE withdrawn = 1)"  # undone imports count nowhere
    queries = {
        "taken": "SELECT id FROM item WHERE taken <> (SELECT count(*) FROM assignment WHERE item = item.id"
        f" AND {held})",
        "labels": "SELECT id FROM item WHERE labels <> (SELECT count(*) FROM assignment WHERE item = item.id"
        " AND blind IS NOT NULL)",
        "handed": "SELECT annotator, cell FROM tally WHERE handed <> (SELECT count(*) FROM assignment JOIN item"
        " ON item.id = assignment.item WHERE item.cell = tally.cell AND assignment.annotator = tally.annotator"
        f" AND state <> 'released' AND {counted})",
        "labelled": "SELECT annotator, cell FROM tally WHERE labelled <> (SELECT count(*) FROM assignment JOIN item"
        " ON item.id = assignment.item WHERE item.cell = tally.cell AND assignment.annotator = tally.annotator"
        f" AND latest IS NOT NULL AND {counted})",
        "accepted": "SELECT annotator, cell FROM tally WHERE accepted <> (SELECT count(*) FROM assignment JOIN item"
        " ON item.id = assignment.item JOIN label ON label.id = latest WHERE item.cell = tally.cell"
        f" AND assignment.annotator = tally.annotator AND choice = 'accept' AND {counted})",
        "census": "SELECT cell, labels, status, aside, items FROM census WHERE items > 0 EXCEPT"
        " SELECT cell, labels, status, aside, count(*) FROM item JOIN batch ON batch.id = item.batch"
        " WHERE published > 0 GROUP BY cell, labels, status, aside",
        "census lacks": "SELECT cell, labels, status, aside, count(*) FROM item JOIN batch ON batch.id = item.batch"
        " WHERE published > 0 GROUP BY cell, labels, status, aside EXCEPT SELECT * FROM census",
        "latest": "SELECT assignment.item FROM assignment JOIN label ON label.id = latest"
        " WHERE label.item <> assignment.item OR label.annotator <> assignment.annotator OR choice IS NULL",
    }
    results = [f"{name}: {rows[:3]}" for name, query in queries.items() if (rows := store.db.execute(query).fetchall())]
    for result in verify_derived(store):
        results += [f"stale in {result.project}: {state}" for state in result.items[:3]]
        results += [f"count of {result.project}: {count}" for count in result.counts.items()]
    return results


@cache
def new_database() -> tuple[bytes, bytes]:
    """Return the bytes of a database that the app has just made, before and after its id, its key and its time."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "new.db"
        path.touch()  # an empty file gets its tables from the migrations
        with Store.open(path) as store:
            row = store.db.execute("SELECT uid, secret, created FROM database").fetchone()
        assert [file for file in path.parent.iterdir() if file.stat().st_size] == [path]  # no log next to it
        before, after = path.read_bytes().split(_row(*row))
        return before, after


def _row(uid: str, secret: bytes, created: str) -> bytes:
    return b"".join((uid.encode(), secret, created.encode()))  # as SQLite writes it


def new_store(path: Path) -> Store:
    """Open a new database at *path*, as the app makes it, with an id and a key of its own."""
    copy_new_database(path)
    return Store.open(path)


def copy_new_database(path: Path) -> None:
    """Put a database that the app has made to *path*, which must not exist, with an id and a key of its own.

    It is a copy of one made once, since making the tables takes longer than most tests.
    """
    before, after = new_database()
    draft = path.with_name(f"{path.name}.draft-{next(_drafts)}")
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_bytes(before + _row(uuid.uuid4().hex, secrets.token_bytes(32), timestamp()) + after)
    try:
        path.hardlink_to(draft)  # whole, or not at all: another thread may make the same
    finally:
        draft.unlink()


def make_private_and_whole(path: Path) -> None:
    """Make the file of a database as the app does, but with its tables; for `Store.open` in tests."""
    newest = migrations.MIGRATIONS is _ALL  # a test may ask for an older version
    if newest and not path.exists() and path.parent.is_dir() and path.absolute() not in connections._opened:
        with suppress(FileExistsError):
            copy_new_database(path)
    connections.make_private(path)


def database(tmp_path: Path) -> Path:
    """Return where the fixtures of tests/conftest.py put the database of a test."""
    return tmp_path / "evenhand.db"
