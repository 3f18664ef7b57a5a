"""A change of settings in a large project: in short steps, reported as unfinished, completed after a kill."""

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.package.import_records import store_records
from evenhand.annotations.files.package.records import each_record
from evenhand.annotations.items.batch import Batch, ImportBusy
from evenhand.annotations.items.gold import recount_items
from evenhand.annotations.items.wanted_labels import open_recount
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.plan import recount
from evenhand.annotations.plan.recount import finish_recount
from evenhand.annotations.projects.projects import change_project, counts, finish_changes, project_by_uid, write_changes
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.types import Annotator, Project
from evenhand.commands.shared import RECOUNTING
from evenhand.core.errors import Busy
from tests.support.generations import generations_project
from tests.support.projects import broken_rules, database, decide, filled_project, new_items

ROOT = Path(__file__).resolve().parents[3]
ITEMS = 60
CHANGES: tuple[dict[str, Any], ...] = (
    {"per_item": 4}, {"per_item": 1}, {"gold": "majority"}, {"plan": "stop", "share": 0.3}, {"retest": 0.5},
    {"per_item": 2, "gold": "majority", "retest": 0.2},
)  # fmt: skip
WHOLE = "SELECT hash, wanted, labels, status, gold, split, shared FROM item ORDER BY hash"
AGAIN = "SELECT uid, state, due FROM retest ORDER BY uid"


@pytest.fixture
def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settle in steps of seven items a transaction, like a large project."""
    monkeypatch.setattr(recount, "AT_ONCE", 0)
    monkeypatch.setattr(recount, "CHUNK", 7)
    monkeypatch.setattr(recount, "PAUSE_S", 0.0)
    yield


def labelled(store: Store, name: str = "") -> tuple[Project, list[Annotator]]:
    """Make items with three, two, one or no labels, of which some differ."""
    project, people = filled_project(store, ITEMS)
    for n, person in enumerate(people):
        operations = [
            decide(item, "reject" if (int(item.line) + n) % 4 == 0 else "accept")
            for item in claim(store, project, person, want=ITEMS - 15 * n)
        ]
        store_operations(store, project, person, operations, now=1_000_000.0)
    return project, people


def everything(store: Store) -> tuple[list[tuple[object, ...]], ...]:
    return store.db.execute(WHOLE).fetchall(), store.db.execute(AGAIN).fetchall()


@pytest.mark.parametrize("fields", CHANGES, ids=str)
def test_recounting_in_small_steps_gives_equal_results(
    fresh_store: Store, tmp_path: Path, in_small_steps: None, fields: Any
) -> None:
    project, people = labelled(fresh_store)
    with Store.open(tmp_path / "copy.db") as other:
        fresh_store.db.backup(other.db)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recount, "AT_ONCE", 10_000)
            change_project(other, project, **fields)
            assert open_recount(other, project) is None
        change_project(fresh_store, project, **fields)
        assert everything(fresh_store) == everything(other)
    assert open_recount(fresh_store, project) is None and broken_rules(fresh_store) == []
    actions = [row[0] for row in fresh_store.db.execute("SELECT action FROM event ORDER BY id")]
    assert actions == ["plan", "settling", "settled"]
    # every item that needs a label can be reached
    for person in people:
        while items := claim(fresh_store, project, person):
            store_operations(fresh_store, project, person, [decide(item, "accept") for item in items])
    short = "SELECT count(*) FROM item WHERE labels < min(wanted, 3)"
    assert fresh_store.db.execute(short).fetchone()[0] == 0 and broken_rules(fresh_store) == []


def test_a_doubly_labelled_sample_is_recounted_in_small_steps(fresh_store: Store, in_small_steps: None) -> None:
    project = generations_project(fresh_store, "made", 20, per_item=2)
    for doubled, wanted in ((6, {1: 14, 2: 6}), (None, {2: 20}), (0, {1: 20})):
        project = change_project(fresh_store, project, doubled=doubled)
        rows = fresh_store.db.execute("SELECT wanted, count(*) FROM item GROUP BY wanted").fetchall()
        assert dict(rows) == wanted


class Stopped(Exception):
    """The process is gone, as far as the test goes."""


def stop_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let the work end in its middle: after so many short transactions."""
    made = [0]

    def few(*given: Any) -> None:
        made[0] += 1
        if made[0] > steps:
            raise Stopped
        recount_items(*given)

    monkeypatch.setattr("evenhand.annotations.plan.recount.recount_items", few)


def halfway(store: Store, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> tuple[Project, list[Annotator]]:
    """Return a project whose change has reached some items only."""
    project, people = labelled(store)
    project = change_project(store, project, licence="CC0", source_statement="Own.")
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(Stopped):
            change_project(store, project, **fields)
    return project_by_uid(store, project.uid), people


def test_an_export_never_contains_half_settled_items(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project, _people = labelled(fresh_store)
    changes = iter([{"gold": "majority"}])

    def and_then_changed(store: Store, one: Project) -> bool:
        worked = finish_recount(store, one)
        for fields in changes:  # by another process, between the settling and the reading
            with store.write():
                write_changes(store, one, fields)
        return worked

    monkeypatch.setattr("evenhand.annotations.files.export.finish_recount", and_then_changed)
    export_file(fresh_store, project, tmp_path / "a.jsonl", format="jsonl")
    assert open_recount(fresh_store, project) is None
    export_file(fresh_store, project, tmp_path / "b.jsonl", format="jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_an_unfinished_recount_is_recorded_and_finished(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project, people = halfway(fresh_store, monkeypatch, per_item=2)
    assert project.per_item == 2 and open_recount(fresh_store, project) is not None
    assert any(row[0] == 3 for row in fresh_store.db.execute("SELECT wanted FROM item")) and not broken_rules(
        fresh_store
    )
    assert [check.code for check in readiness(fresh_store, project) if check.state == "missing"] == ["settling"]
    with pytest.raises(ImportBusy), Batch.begin(fresh_store, project, "more"):
        pass
    # a label stored in between counts under the current settings
    (item, *_) = claim(fresh_store, project, people[2], want=1)
    store_operations(fresh_store, project, people[2], [decide(item)])
    finish_changes(fresh_store)
    assert open_recount(fresh_store, project) is None and broken_rules(fresh_store) == []
    assert fresh_store.db.execute("SELECT DISTINCT wanted FROM item").fetchall() == [(2,)]
    pending = "SELECT count(*) FROM item WHERE (labels < 2) <> (status = 'pending')"
    assert fresh_store.db.execute(pending).fetchone()[0] == 0


def test_a_stored_change_succeeds_though_its_recount_is_locked_out(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _people = labelled(fresh_store)
    with monkeypatch.context() as patch:
        patch.setattr("evenhand.annotations.plan.recount.recount_items", kept_busy)
        project = change_project(fresh_store, project, per_item=2)
    assert project.per_item == 2 and open_recount(fresh_store, project) is not None
    finish_recount(fresh_store, project)
    assert open_recount(fresh_store, project) is None and broken_rules(fresh_store) == []


def kept_busy(*_given: Any) -> None:
    """Raise the error of a transaction that gets no lock in time."""
    raise Busy("Nothing was stored.")


@pytest.mark.parametrize("way", ["release", "export", "import", "another change"])
def test_release_export_import_and_changes_finish_the_recount_first(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    project, _people = halfway(fresh_store, monkeypatch, gold="majority")
    if way == "release":
        made = make_release(fresh_store, project, "1.0")
        assert made.items == counts(fresh_store, project).accepted
    elif way == "export":
        export_file(fresh_store, project, tmp_path / "out.csv", format="slguset", items="accepted")
    elif way == "import":
        finish_recount(fresh_store, project)
        with Batch.begin(fresh_store, project, "more") as batch:
            batch.add(new_items(5, first=900))
            batch.publish()
    else:
        change_project(fresh_store, project, per_item=2)
    assert open_recount(fresh_store, project) is None and broken_rules(fresh_store) == []
    wrong = "SELECT count(*) FROM item WHERE split = 1 AND labels = 3 AND status = 'pending'"
    assert fresh_store.db.execute(wrong).fetchone()[0] == 0


def test_a_second_change_overtakes_the_first(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second change is made while the first is at work; both end, and the second one is in force."""
    project, _people = labelled(fresh_store)
    once: list[int] = []

    def meddling(store: Store, items: Any) -> None:
        recount_items(store, items)
        if not once:
            once.append(1)
            late.start()

    def change() -> None:
        with Store.open(fresh_store.path) as own:
            change_project(own, project, per_item=1)

    late = threading.Thread(target=change)
    monkeypatch.setattr("evenhand.annotations.plan.recount.recount_items", meddling)
    change_project(fresh_store, project, per_item=4)
    late.join()
    assert open_recount(fresh_store, project) is None and broken_rules(fresh_store) == []
    assert fresh_store.db.execute("SELECT DISTINCT wanted FROM item").fetchall() == [(1,)]


@pytest.mark.parametrize("command", ["agreement", "progress", "quality", "describe", "plan", "project show"])
def test_reports_during_a_recount_have_a_warning(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    project, _people = halfway(fresh_store, monkeypatch, per_item=2)
    arguments = [*command.split(), project.name, "--db", str(fresh_store.path)]
    assert RECOUNTING in CliRunner().invoke(cli, arguments, catch_exceptions=False).stderr
    finish_recount(fresh_store, project)
    assert CliRunner().invoke(cli, arguments, catch_exceptions=False).stderr == ""


def test_an_unrelated_setting_does_not_restart_the_recount(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _people = halfway(fresh_store, monkeypatch, per_item=2)
    before = open_recount(fresh_store, project)
    with fresh_store.write():
        write_changes(fresh_store, project, {"blur": True})
    assert open_recount(fresh_store, project) == before is not None


@pytest.mark.parametrize("data", [{}, {"changed": 3}, {"changed": ["gold"]}], ids=str)
def test_the_recount_mark_does_not_travel_in_packages(
    fresh_store: Store, in_small_steps: None, monkeypatch: pytest.MonkeyPatch, data: dict[str, Any]
) -> None:
    """A package neither exports nor imports it, since only this database knows whether its own work is done."""
    project, _people = halfway(fresh_store, monkeypatch, gold="majority")
    left = [row["action"] for row in each_record(fresh_store, project, {}) if row["kind"] == "event"]
    assert "plan" in left and "settling" not in left
    finish_recount(fresh_store, project)
    row = {"kind": "event", "action": "settling", "data": data, "author": "", "created": "2026-01-01T00:00:00.000Z"}
    assert store_records(fresh_store, project, [row], early=False) == 0
    assert open_recount(fresh_store, project) is None


def test_an_import_uses_the_plan_at_its_beginning(fresh_store: Store) -> None:
    """The page that imports may have read the project before the plan was changed."""
    before = filled_project(fresh_store, 0)[0]
    change_project(fresh_store, before, plan="stop", share=0.5, per_item=2)
    with Batch.begin(fresh_store, before, "late") as batch:
        batch.add(new_items(40))
        batch.publish()
    results = dict(fresh_store.db.execute("SELECT shared, group_concat(DISTINCT wanted) FROM item GROUP BY shared"))
    assert results == {0: "1", 1: "2"}


KILLED = """
    import os, signal, sys
    from evenhand.annotations.plan import recount as settling
    from evenhand.annotations.projects.projects import change_project, projects
    from evenhand.annotations.database.store import Store

    settling.AT_ONCE, settling.CHUNK, steps = 0, 5, int(sys.argv[2])
    real, made = settling.set_wanted, [0]

    def few(*given):
        made[0] += 1
        if made[0] > steps:
            os.kill(os.getpid(), signal.SIGKILL)  # in the middle of a transaction
        return real(*given)

    settling.set_wanted = few
    with Store.open(sys.argv[1]) as store:
        change_project(store, projects(store)[0], plan="stop", share=0.2)
"""


@pytest.mark.parametrize("steps", [0, 4])
def test_a_killed_recount_is_finished_later(fresh_store: Store, tmp_path: Path, steps: int) -> None:
    project, _people = labelled(fresh_store)
    with Store.open(tmp_path / "copy.db") as other:
        fresh_store.db.backup(other.db)
        change_project(other, project, plan="stop", share=0.2)
        right = everything(other)
    run = [sys.executable, "-c", textwrap.dedent(KILLED), str(database(tmp_path)), str(steps)]
    assert subprocess.run(run, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert open_recount(fresh_store, project) is not None and broken_rules(fresh_store) == []
    assert everything(fresh_store) != right
    finish_changes(fresh_store)
    assert everything(fresh_store) == right and open_recount(fresh_store, project) is None
    assert broken_rules(fresh_store) == []
