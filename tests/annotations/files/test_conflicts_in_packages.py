"""Conflicts and decisions of them that go to another database in a package: what they point at is the same there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.files import undo_import as undoing
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import import_file, tables_in
from evenhand.annotations.files.package import write_package
from evenhand.annotations.files.undo_import import (
    Conflict,
    conflicts,
    exported_row,
    find_import,
    imports,
    keep_first,
    undo,
)
from evenhand.annotations.items.batch import Batch, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_conflicts as at_the_desk
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Operation, Project
from tests.conftest import SENTENCES
from tests.support.packages import bring, placed
from tests.support.pages import open_page, open_section, text_of
from tests.support.projects import filled_project

TEXT, OTHER = "他请她修灯。", "他改了主意。"


def item_line(uid: str, text: str) -> str:
    values = {"item": uid, "sentence": text, "start": 0, "end": 1, "stem_start": 0, "stem_end": 1, "keyword": "他",
              "counterpart": "她", "pair": "他/她", "side": "male", "file": "b", "line": 4}  # fmt: skip
    return json.dumps(values) + "\n"


@pytest.fixture
def uids(fresh_store: Store, sample_project: Project) -> list[str]:
    return [item.uid for item in items(fresh_store, sample_project)]


@pytest.fixture
def disagreeing(fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path) -> Project:
    """Make two conflicts of each kind, and one between two desks."""
    for number in range(2):
        bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[number], "Ada", "accept"))
        bring(fresh_store, sample_project, tmp_path / "two.csv", (uids[number], "Ada", "reject"))
        for choice in ("accept", "reject"):
            set_known(fresh_store, sample_project, uids[number + 2], choice)
        for place in (0, 1):
            with Batch.begin(fresh_store, sample_project, "placed") as batch:
                batch.add([placed(TEXT * (number + 1), place)])
                batch.publish()
        (tmp_path / "b.jsonl").write_text(item_line(uids[number], OTHER * (number + 1)), encoding="utf-8")
        import_file(fresh_store, sample_project, tmp_path / "b.jsonl")
    two_desks(fresh_store, sample_project, uids[4])
    return sample_project


def two_desks(store: Store, project: Project, uid: str) -> None:
    ada = annotators(store, project)[0]
    for desk, choice in (("a", "accept"), ("b", "reject")):
        store_operations(store, project, ada, [Operation(f"{desk}-{uid}", uid, choice, desk, 1, note="n")])
    assert [conflict.op_id for conflict in at_the_desk(store, project, ada) if conflict.item.uid == uid] == [f"b-{uid}"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Store]:
    """Yield a database whose rows have other numbers, because it contains another project already."""
    with Store.open(tmp_path / "elsewhere.db") as store:
        other, people = filled_project(store, 3)
        for number, item in enumerate(items(store, other)):
            store_operations(
                store, other, people[0], [Operation(f"other-{number}", item.uid, "accept", "desk", number)]
            )
        yield store


def travel(old: Store, project: Project, new: Store, path: Path, **wish: bool) -> Project:
    export_file(old, project, path, format="package", **wish)
    with tables_in(path) as members:
        return write_package.import_package(new, "back", members, path.name).project


def conflict_row(one: Conflict) -> tuple[str, str, str, str | None, str]:
    return one.kind, one.item, one.first, one.second, one.of


@pytest.mark.parametrize("names", [True, False], ids=["names", "codes"])
def test_a_package_keeps_decided_and_open_conflicts(
    fresh_store: Store, disagreeing: Project, elsewhere: Store, tmp_path: Path, names: bool
) -> None:
    before = conflicts(fresh_store, disagreeing)
    assert sorted(conflict.kind for conflict in before) == sorted(2 * ["label", "answer", "word", "text"])
    decided = {
        kind: next(conflict for conflict in before if conflict.kind == kind)
        for kind in ("label", "answer", "word", "text")
    }
    for conflict in decided.values():
        keep_first(fresh_store, disagreeing, conflict.key)
    left = conflicts(fresh_store, disagreeing)
    assert len(left) == 4
    back = travel(fresh_store, disagreeing, elsewhere, tmp_path / "set.zip", names=names)
    listed = conflicts(elsewhere, back)
    unseen = {} if names else {"text": None}  # a text of another file leaves with names only
    assert sorted(map(str, map(conflict_row, listed))) == sorted(
        str((conflict.kind, conflict.item, conflict.first, unseen.get(conflict.kind, conflict.second), conflict.of))
        for conflict in left
    )
    assert {conflict.key for conflict in listed} != {conflict.key for conflict in left}
    for conflict in listed:
        keep_first(elsewhere, back, conflict.key)
    assert conflicts(elsewhere, back) == []


def test_a_text_missing_from_this_database_is_reported(
    fresh_store: Store, disagreeing: Project, elsewhere: Store, tmp_path: Path
) -> None:
    back = travel(fresh_store, disagreeing, elsewhere, tmp_path / "set.zip")
    listed = {conflict.kind: conflict for conflict in conflicts(elsewhere, back)}
    assert (listed["text"].second, listed["text"].second_file, listed["word"].second_file) == (None, "", "")
    assert listed["word"].second == "她 2–3 (他/她)"
    assert "of" not in exported_row(back, listed["text"])
    shown = CliRunner().invoke(cli, ["conflicts", "back", "--db", str(elsewhere.path)])
    assert shown.exit_code == 0 and "not in this database" in shown.output and OTHER not in shown.output


def test_the_page_reports_a_missing_text(fresh_store: Store, sample_project: Project, uids: list[str]) -> None:
    numbers = {"line": 1, "start": 2, "end": 3}  # what an older version left of such events in a package with codes
    item = fresh_store.db.execute("SELECT id FROM item WHERE uid = ?", (uids[0],)).fetchone()[0]
    with fresh_store.write():
        record(fresh_store, sample_project, "conflict_word", item=item, **numbers)
        record(fresh_store, sample_project, "conflict_text", item=item, line=1)
    assert [conflict.second for conflict in conflicts(fresh_store, sample_project)] == [None, None]
    shown = text_of(open_section(open_page("projects", project=sample_project.name), "imports"))
    assert shown.count("is not in this database") == 2 and SENTENCES[0] in shown


def test_a_conflict_of_two_desks_survives_a_package(
    fresh_store: Store, sample_project: Project, uids: list[str], elsewhere: Store, tmp_path: Path
) -> None:
    two_desks(fresh_store, sample_project, uids[0])
    two_desks(fresh_store, sample_project, uids[1])
    back = travel(fresh_store, sample_project, elsewhere, tmp_path / "set.zip", names=True)
    assert conflicts(elsewhere, back) == []
    # A file with a label different from both is a conflict.
    bring(elsewhere, back, tmp_path / "one.csv", (uids[0], "Ada", "reject"))
    (one,) = conflicts(elsewhere, back)
    assert (one.first_file, one.second_file) == ("set.zip: labels.jsonl (labels-1)", "one.csv (labels-2)")
    # It is still one where both come in the file of one package.
    with Store.open(tmp_path / "third.db") as third:
        again = travel(elsewhere, back, third, tmp_path / "again.zip")
        assert [conflict.of for conflict in conflicts(third, again)] == [one.of]


def test_an_interrupted_package_is_continued_as_one_import(
    fresh_store: Store, sample_project: Project, uids: list[str], elsewhere: Store, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    two_desks(fresh_store, sample_project, uids[0])
    stored, seen = write_package.label_rows_in, []

    def cut(source: object) -> Iterator[object]:
        for row in stored(source):  # type: ignore[arg-type]
            if seen:
                raise KeyboardInterrupt
            seen.append(row)
            yield row

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(write_package, "_try_import", lambda *_: None)
        patched.setattr(write_package, "label_rows_in", cut)
        patched.setattr("evenhand.annotations.files.import_labels.CHUNK", 1)
        travel(fresh_store, sample_project, elsewhere, tmp_path / "set.zip", names=True)
    back = travel(fresh_store, sample_project, elsewhere, tmp_path / "set.zip", names=True)
    assert [import_.rows for import_ in imports(elsewhere, back) if import_.kind == "labels"] == [2]
    assert conflicts(elsewhere, back) == []


def test_an_older_event_counts_in_its_own_database_and_for_its_own_conflict(
    fresh_store: Store, disagreeing: Project
) -> None:
    first, second = (conflict for conflict in conflicts(fresh_store, disagreeing) if conflict.kind == "label")

    def settled(key: str, uid: str, said: str | None) -> None:
        item = fresh_store.db.execute("SELECT id FROM item WHERE uid = ?", (uid,)).fetchone()[0]
        with fresh_store.write():
            record(fresh_store, disagreeing, "conflict_settled", item=item, key=key, took="first", kind="label",
                   first="accept", second=said)  # fmt: skip

    settled(first.key, second.item, first.second)  # as one that came from another database may read
    settled(second.key, second.item, "accept")
    assert {first.key, second.key} <= {conflict.key for conflict in conflicts(fresh_store, disagreeing)}
    settled(first.key, first.item, first.second)
    assert first.key not in {conflict.key for conflict in conflicts(fresh_store, disagreeing)}


@pytest.mark.parametrize("older", [True, False])
def test_undone_files_of_a_package_are_not_confused_with_local_ones(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    older: bool,
) -> None:  # fmt: skip
    name = "set.zip: labels.jsonl"  # of the same name, as it may have
    bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[0], "Ada", "accept"))
    with fresh_store.write() as db:
        db.execute("UPDATE label_file SET file = ?", (name,))
    undo(fresh_store, sample_project, "labels-1")
    assert not find_import(fresh_store, sample_project, "labels-1").unfinished
    if older:
        with fresh_store.write():
            record(fresh_store, sample_project, "labels_undone", label_file=3, file="two.csv", labels=1)
    bring(fresh_store, sample_project, tmp_path / "two.csv", (uids[1], "Ada", "accept"))
    with Store.open(tmp_path / "empty.db") as store:
        back = travel(fresh_store, sample_project, store, tmp_path / "set.zip", names=True)
        assert len(events(store, back, action="labels_undone")) == 1 + older
        first, other = find_import(store, back, "labels-1"), find_import(store, back, "labels-3")
        assert first.undone and not first.unfinished and (other.file, other.undone) == ("two.csv", None)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(undoing, "record", stopped)
            undo(store, back, "labels-3")
        assert find_import(store, back, "labels-3").unfinished
        undo(store, back, "labels-3")
        assert not find_import(store, back, "labels-3").unfinished


def test_an_older_event_of_an_undone_file_counts(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[0], "Ada", "accept"))
    monkeypatch.setattr(undoing, "record", lambda store, project, action, **_: record(
        store, project, action, label_file=1, file="one.csv", labels=1))  # fmt: skip
    undo(fresh_store, sample_project, "labels-1")
    assert not find_import(fresh_store, sample_project, "labels-1").unfinished


def stopped(*_args: object, **_named: object) -> None:
    raise KeyboardInterrupt
