"""Where two files disagree: what is listed, what taking and keeping do."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.files.undo_import import (
    Conflict,
    conflicts,
    exported_row,
    find_import,
    keep_first,
    take_second,
    undo,
    undo_effect,
)
from evenhand.annotations.items.batch import Batch, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_conflicts as at_the_desk
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.quality.known_answers import known_items, set_known
from evenhand.annotations.types import Operation, Project
from evenhand.core.errors import NotFound, Refused
from tests.conftest import SENTENCES
from tests.support.generations import generations_project
from tests.support.packages import bring, placed


@pytest.fixture
def uids(fresh_store: Store, sample_project: Project) -> list[str]:
    return [item.uid for item in items(fresh_store, sample_project)]


def label(store: Store, project: Project, uid: str, who: str) -> str | None:
    results = [row["choice"] for row in label_rows(store, project) if (row["item"], row["annotator"]) == (uid, who)]
    return results[0] if results else None


def test_different_labels_in_two_files_are_a_conflict(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    bring(
        fresh_store,
        sample_project,
        first,
        (uids[0], "Ada", "accept"),
        (uids[1], "Ada", "accept"),
        (uids[2], "Bo", "accept"),
    )
    bring(
        fresh_store,
        sample_project,
        second,
        (uids[0], "Ada", "reject"),
        (uids[1], "Ada", "accept"),
        (uids[2], "Ada", "reject"),
    )
    (conflict,) = conflicts(fresh_store, sample_project)
    assert (conflict.kind, conflict.item, conflict.annotator) == ("label", uids[0], "Ada")
    assert (conflict.first, conflict.first_file, conflict.second, conflict.second_file) == (
        "accept",
        "one.csv (labels-1)",
        "reject",
        "two.csv (labels-2)",
    )
    keep_first(fresh_store, sample_project, conflict.key, author="Lin")
    assert conflicts(fresh_store, sample_project) == []
    assert label(fresh_store, sample_project, uids[0], "Ada") == "accept"
    event = events(fresh_store, sample_project, action="conflict_settled")[0]
    assert (event.author, event.item, event.data["took"]) == ("Lin", uids[0], "first")
    with pytest.raises(NotFound):
        take_second(fresh_store, sample_project, conflict.key)


def test_a_label_of_a_file_can_replace_the_label_of_the_desk(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    ada = annotators(fresh_store, sample_project)[0]
    store_operations(fresh_store, sample_project, ada, [Operation("op", uids[0], "reject", "desk", 1, note="n")])
    bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[0], "Ada", "accept"))
    for who in ("Bo", "Chen"):
        bring(fresh_store, sample_project, tmp_path / f"{who}.csv", (uids[0], who, "accept"))
    (conflict,) = conflicts(fresh_store, sample_project)
    assert (conflict.first_file, conflict.second_file) == ("", "one.csv (labels-1)")
    before = fresh_store.db.execute("SELECT count(*) FROM label").fetchone()[0]
    take_second(fresh_store, sample_project, conflict.key)
    assert fresh_store.db.execute("SELECT count(*) FROM label").fetchone()[0] == before + 1
    assert label(fresh_store, sample_project, uids[0], "Ada") == "accept"
    assert next(item.status for item in items(fresh_store, sample_project)) == "accepted"
    assert conflicts(fresh_store, sample_project) == []
    assert at_the_desk(fresh_store, sample_project, ada) == []  # nothing to decide there any more either


def test_a_conflict_ends_when_its_file_is_undone(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[0], "Ada", "accept"))
    bring(fresh_store, sample_project, tmp_path / "two.csv", (uids[0], "Ada", "reject"))
    assert len(conflicts(fresh_store, sample_project)) == 1
    undo(fresh_store, sample_project, "labels-2")
    assert conflicts(fresh_store, sample_project) == []
    assert label(fresh_store, sample_project, uids[0], "Ada") == "accept"


def test_undoing_the_first_file_restores_the_other_label(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    bring(fresh_store, sample_project, first, (uids[0], "Ada", "accept"))
    bring(fresh_store, sample_project, second, (uids[0], "Ada", "reject"))
    undo(fresh_store, sample_project, "labels-1")
    (left,) = conflicts(fresh_store, sample_project)
    assert (left.first, left.second, left.second_file) == ("", "reject", "two.csv (labels-2)")
    bring(fresh_store, sample_project, first, (uids[0], "Ada", "accept"))  # the same file again: it disagrees again
    (again,) = conflicts(fresh_store, sample_project)
    assert (again.first, again.first_file, again.second) == ("accept", "one.csv (labels-3)", "reject")
    undo(fresh_store, sample_project, "labels-3")
    take_second(fresh_store, sample_project, left.key)
    assert label(fresh_store, sample_project, uids[0], "Ada") == "reject"
    assert conflicts(fresh_store, sample_project) == []


def test_undoing_the_file_of_a_kept_label_reopens_the_conflict(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    bring(fresh_store, sample_project, tmp_path / "one.csv", (uids[0], "Ada", "accept"))
    bring(fresh_store, sample_project, tmp_path / "two.csv", (uids[0], "Ada", "reject"))
    keep_first(fresh_store, sample_project, conflicts(fresh_store, sample_project)[0].key)
    undo(fresh_store, sample_project, "labels-1")
    (again,) = conflicts(fresh_store, sample_project)
    assert (again.first, again.second) == ("", "reject")
    keep_first(fresh_store, sample_project, again.key)  # the current state, without a label, is kept
    assert conflicts(fresh_store, sample_project) == []
    assert label(fresh_store, sample_project, uids[0], "Ada") is None


def test_a_label_chosen_by_the_lead_survives_an_undo_of_its_file(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    bring(fresh_store, sample_project, tmp_path / "one.csv", *((uid, "Ada", "accept") for uid in uids[:2]))
    bring(fresh_store, sample_project, tmp_path / "two.csv", *((uid, "Ada", "reject") for uid in uids[:3]))
    taken, _left = conflicts(fresh_store, sample_project)
    take_second(fresh_store, sample_project, taken.key)
    expected = undo_effect(fresh_store, sample_project, find_import(fresh_store, sample_project, "labels-2"))
    assert (expected.labels, expected.kept, expected.chosen) == (1, 1, 1)
    done = CliRunner().invoke(
        cli, ["undo", sample_project.name, "labels-2", "--yes", "--db", str(fresh_store.path)], catch_exceptions=False
    )
    assert "1 that the lead let count where files disagree still count" in done.output
    assert [label(fresh_store, sample_project, uid, "Ada") for uid in uids[:3]] == ["reject", "accept", None]


def test_the_list_of_conflicts_omits_texts_of_generations(fresh_store: Store, tmp_path: Path) -> None:
    project = generations_project(fresh_store, "made", 2)
    item = next(iter(items(fresh_store, project)))
    for name, choice in (("one.csv", "correct"), ("two.csv", "misgendering")):
        bring(fresh_store, project, tmp_path / name, (item.uid, "Ada", choice))
    (conflict,) = conflicts(fresh_store, project)
    row = exported_row(project, conflict)
    assert (row["item"], row["text"], row["first"], row["second"]) == (item.uid, None, "correct", "misgendering")
    texts = exported_row(
        project, Conflict("text-1", "text", item.uid, item.text, "", item.text, "a:1", "Other.", "b:2")
    )
    assert (texts["text"], texts["first"], texts["second"], texts["second_file"]) == (None, None, None, "b:2")
    shown = CliRunner().invoke(cli, ["conflicts", "made", "--db", str(fresh_store.path)]).output
    assert item.uid in shown and item.text.strip() not in shown
    opened = change_project(fresh_store, project, open_text=True)
    assert exported_row(opened, conflict)["text"] == item.text


def test_a_conflict_of_two_desks_is_not_listed_for_files(
    fresh_store: Store, sample_project: Project, uids: list[str]
) -> None:
    ada = annotators(fresh_store, sample_project)[0]
    for desk, choice in (("a", "accept"), ("b", "reject")):
        store_operations(fresh_store, sample_project, ada, [Operation(desk, uids[0], choice, desk, 1, note="n")])
    assert len(at_the_desk(fresh_store, sample_project, ada)) == 1
    assert conflicts(fresh_store, sample_project) == []


def test_two_known_answers_of_an_item_are_a_conflict(
    fresh_store: Store, sample_project: Project, uids: list[str]
) -> None:
    set_known(fresh_store, sample_project, uids[3], "accept", why="one.json")
    set_known(fresh_store, sample_project, uids[3], "reject", why="two.json")
    set_known(fresh_store, sample_project, uids[4], "reject", why="two.json")
    (conflict,) = conflicts(fresh_store, sample_project)
    assert (conflict.kind, conflict.first, conflict.first_file, conflict.second, conflict.second_file) == (
        "answer", "reject", "two.json", "accept", "one.json",
    )  # fmt: skip
    take_second(fresh_store, sample_project, conflict.key)
    assert {known.item.uid: known.choice for known in known_items(fresh_store, sample_project)}[uids[3]] == "accept"


def test_a_text_imported_with_another_word_is_a_conflict(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    text = "他请她修灯。"
    for number in (0, 1, 1):  # the third file equals the second: listed once
        with Batch.begin(fresh_store, sample_project, "placed") as batch:
            added = batch.add([placed(text, number)])
            assert added.added == (number == 0)
            batch.publish()
    (conflict,) = conflicts(fresh_store, sample_project)
    assert (conflict.kind, conflict.first, conflict.second) == ("word", "他 0–1 (他/她)", "她 2–3 (他/她)")
    with pytest.raises(Refused, match="never change"):
        take_second(fresh_store, sample_project, conflict.key)
    keep_first(fresh_store, sample_project, conflict.key)
    assert conflicts(fresh_store, sample_project) == []


def test_an_id_imported_with_another_text_is_a_conflict(
    fresh_store: Store, sample_project: Project, uids: list[str], tmp_path: Path
) -> None:
    new: dict[str, Any] = {"item": uids[0], "sentence": "他改了主意。", "start": 0, "end": 1, "stem_start": 0,
                           "stem_end": 1, "keyword": "他", "counterpart": "她", "pair": "他/她", "side": "male",
                           "file": "b", "line": 4}  # fmt: skip
    import json

    (tmp_path / "b.jsonl").write_text(json.dumps(new), encoding="utf-8")
    assert import_file(fresh_store, sample_project, tmp_path / "b.jsonl").imported == 1
    (conflict,) = conflicts(fresh_store, sample_project)
    assert (conflict.kind, conflict.item, conflict.first, conflict.second, conflict.second_file) == (
        "text", uids[0], SENTENCES[0], "他改了主意。", "b:4",
    )  # fmt: skip
