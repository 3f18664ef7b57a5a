"""Many processes at one database, and processes that are killed: no slot twice, no label lost or doubled."""

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, discard_incomplete
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import counts, project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release import stored_releases
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_files
from tests.support.projects import WORDS, broken_rules, database, decide, filled_project, new_items
from tests.support.released_project import ready_project, work
from tests.support.writers import outputs, start

pytestmark = pytest.mark.early

# Labels until nothing is left, sending every batch twice; prints what it was handed and which ids count as stored.
WORKER = """
    import sys, uuid
    from evenhand.annotations.labels.operations import store_operations
    from evenhand.annotations.projects.projects import annotator, project
    from evenhand.annotations.queue.leases import claim
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.types import Operation
    path, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Store.open(path) as store:
        made = project(store, "race")
        person = annotator(store, made, name)
        for _ in range(rounds):
            items = claim(store, made, person, want=7)
            if not items:
                break
            for item in items:
                print("handed", item.uid)
            operations = [Operation(uuid.uuid4().hex, item.uid, "accept", name, n) for n, item in enumerate(items)]
            for _ in range(2):
                answers = store_operations(store, made, person, operations)
            for answer in answers:
                assert answer.stored, answer
                print("stored", answer.op_id, flush=True)
"""

# Opens a transaction, writes a label that was not acknowledged, prints that, and waits to be killed inside it.
HALF = """
    import sys, time
    from evenhand.annotations.labels.operations import _Writer
    from evenhand.annotations.projects.projects import annotator, project
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.types import Operation
    with Store.open(sys.argv[1]) as store:
        made = project(store, "race")
        person = annotator(store, made, "Ada")
        with store.write() as db:
            writer = _Writer(store, made, person, "2026-01-01T00:00:00.000Z")
            assert writer.answer(Operation("half", sys.argv[2], "accept", "d", 1)).stored
            print("inside", flush=True)
            time.sleep(600)
"""

IMPORTER = """
    import sys, time
    from evenhand.annotations.items.batch import Batch
    from evenhand.annotations.projects.projects import project
    from evenhand.annotations.database.store import Store
    from tests.support.projects import new_items
    with Store.open(sys.argv[1]) as store:
        batch = Batch.begin(store, project(store, "race"), "big.txt")
        batch.add(new_items(2_500, first=10_000))
        print("added", flush=True)
        time.sleep(600)
"""


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    """Read until the process prints *word*."""
    assert process.stdout
    line = process.stdout.readline().strip()
    assert line == word, (line, process.stderr.read() if process.stderr and process.poll() is not None else "")


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=600)


def race_project(store: Store, number: int, people: tuple[str, ...], per_item: int) -> None:
    made, _ = filled_project(store, number, people=people, per_item=per_item)
    store.db.execute("UPDATE project SET name = 'race' WHERE id = ?", (made.id,))


def test_simultaneous_processes_fill_each_slot_once(fresh_store: Store, tmp_path: Path) -> None:
    people = ("Ada", "Bo", "Chen", "Dan", "Eve")
    race_project(fresh_store, 90, people, per_item=2)
    workers = {name: start(WORKER, database(tmp_path), name, 1_000) for name in people}
    lines = dict(zip(workers, outputs(workers.values()), strict=True))
    handed = Counter(line for output in lines.values() for line in output if line.startswith("handed"))
    assert len(handed) == 90 and set(handed.values()) == {2}
    results = sorted(line.split()[1] for output in lines.values() for line in output if line.startswith("stored"))
    rows = label_rows(fresh_store, project(fresh_store, "race"), which="all")
    assert results == sorted(row["op_id"] for row in rows) and len(results) == 180
    assert len({(row["item"], row["annotator"]) for row in rows}) == 180
    assert counts(fresh_store, project(fresh_store, "race")).accepted == 90
    assert broken_rules(fresh_store) == []


def test_a_kill_between_labels_loses_no_acknowledged_label(fresh_store: Store, tmp_path: Path) -> None:
    race_project(fresh_store, 3_000, ("Ada",), per_item=1)
    worker = start(WORKER, database(tmp_path), "Ada", 1_000)
    results: list[str] = []
    assert worker.stdout
    while len(results) < 40:
        words = worker.stdout.readline().split()
        results += words[1:] if words[0] == "stored" else []
    worker.send_signal(signal.SIGKILL)
    out, _ = worker.communicate(timeout=600)
    results += [line.split()[1] for line in out.splitlines() if line.startswith("stored") and len(line) == 39]
    stored = [row["op_id"] for row in label_rows(fresh_store, project(fresh_store, "race"), which="all")]
    assert set(results) <= set(stored) and len(set(stored)) == len(stored)
    assert fresh_store.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert broken_rules(fresh_store) == []


def test_a_kill_inside_a_transaction_leaves_no_trace(fresh_store: Store, tmp_path: Path) -> None:
    race_project(fresh_store, 8, ("Ada", "Bo"), per_item=2)
    made = project(fresh_store, "race")
    item = next(iter(fresh_store.db.execute("SELECT uid FROM item")))[0]
    writer = start(HALF, database(tmp_path), item)
    wait_for(writer, "inside")
    assert label_rows(fresh_store, made, which="all") == []
    kill(writer)
    person = fresh_store.db.execute("SELECT id FROM annotator WHERE name = 'Ada'").fetchone()[0]
    assert person
    assert label_rows(fresh_store, made, which="all") == []
    from evenhand.annotations.projects.projects import annotator

    answer = store_operations(fresh_store, made, annotator(fresh_store, made, "Ada"), [decide(item, op_id="half")])[0]
    assert answer.stored and not answer.conflict
    assert broken_rules(fresh_store) == []


def test_only_the_import_of_a_dead_process_is_removed(fresh_store: Store, tmp_path: Path) -> None:
    race_project(fresh_store, 8, ("Ada",), per_item=1)
    importer = start(IMPORTER, database(tmp_path))
    wait_for(importer, "added")
    assert discard_incomplete(fresh_store) == 0
    number = "SELECT count(*) FROM item"
    assert fresh_store.db.execute(number).fetchone() == (2_508,)
    made = project(fresh_store, "race")
    assert counts(fresh_store, made).items == 8
    kill(importer)
    # the next import of the same file finds the rest of the dead one gone and takes every row
    with Batch.begin(fresh_store, made, "big.txt") as batch:
        assert batch.add(new_items(2_500, first=10_000)) == (2_500, 0)
        batch.publish()
    assert fresh_store.db.execute(number).fetchone() == (2_508,)
    assert fresh_store.db.execute("SELECT count(*) FROM batch").fetchone() == (2,)
    assert broken_rules(fresh_store) == []


def test_simultaneous_processes_create_one_database(tmp_path: Path) -> None:
    script = "import sys; from evenhand.annotations.database.store import Store; print(Store.open(sys.argv[1]).uid)"
    processes = [start(script, tmp_path / "new.db") for _ in range(5)]
    assert len({lines[0] for lines in outputs(processes)}) == 1


def test_labels_are_stored_during_an_import(fresh_store: Store) -> None:
    race_project(fresh_store, 200, ("Ada",), per_item=1)
    made = project(fresh_store, "race")
    failures: list[BaseException] = []

    def bring_in() -> None:
        try:
            with Store.open(fresh_store.path) as store, Batch.begin(store, made, "more.txt") as batch:
                batch.add(new_items(3_000, WORDS, first=50_000))
                batch.publish()
        except BaseException as error:
            failures.append(error)

    from evenhand.annotations.projects.projects import annotator

    ada = annotator(fresh_store, made, "Ada")
    importing = threading.Thread(target=bring_in)
    importing.start()
    labelled = 0
    while importing.is_alive() and labelled < 200:
        for item in claim(fresh_store, made, ada, want=5):
            assert store_operations(fresh_store, made, ada, [decide(item)])[0].stored
            labelled += 1
    importing.join(600)
    assert not failures and labelled > 0
    assert counts(fresh_store, made).items == 3_200
    assert broken_rules(fresh_store) == []


@pytest.mark.long
def test_repeated_kills_lose_no_acknowledged_label(fresh_store: Store, tmp_path: Path) -> None:
    race_project(fresh_store, 20_000, ("Ada", "Bo"), per_item=2)
    for round_number in range(12):
        workers = [start(WORKER, database(tmp_path), name, 10_000) for name in ("Ada", "Bo")]
        for worker in workers:
            assert worker.stdout
            worker.stdout.readline()
        time.sleep(0.05 * round_number)  # at a different time in each round, without waiting
        for worker in workers:
            os.kill(worker.pid, signal.SIGKILL)
        for worker in workers:
            worker.communicate(timeout=600)
        assert fresh_store.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert broken_rules(fresh_store) == []


def test_removing_a_release_twice_leaves_the_next_one_complete(
    fresh_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two programs found the same release to be removed; by the time of the second its number is another's."""
    made = ready_project(fresh_store, 6)
    work(fresh_store, made)
    insert, numbers = stored_releases._insert_file, set[int]()

    def then_removed(store: Store, values: Mapping[str, Any]) -> None:
        insert(store, values)
        numbers.add(values["release"])
        stored_releases._discard(store, values["release"], "uid of before")

    monkeypatch.setattr(stored_releases, "_insert_file", then_removed)
    release = make_release(fresh_store, made, "1.0")
    assert numbers == {release.id} and len(release_files(fresh_store, release)) > 10
    stored_releases._discard(fresh_store, release.id, "uid of before")
    assert fresh_store.db.execute("SELECT count(*) FROM release_item").fetchone() == (6,)
