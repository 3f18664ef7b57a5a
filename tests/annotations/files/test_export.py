"""The way out: layouts, pseudonyms, nothing half-written. Tests of the way out and in again: test_formats_roundtrip."""

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.files import export
from evenhand.annotations.files.export import export_file, export_preview
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.files.label_tables import LABELS, ORIGIN
from evenhand.annotations.files.package.write_package import package_files
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotator, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Item, Operation, Project
from evenhand.core.errors import BadFile
from evenhand.core.files.csv_out import restored
from evenhand.core.text.keywords import find
from tests.support.projects import filled_project


def test_the_slguset_layout_is_exported(fresh_store: Store, sample_project: Project, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert export_file(fresh_store, sample_project, out, format="slguset").rows == 8
    lines = out.read_bytes().decode("utf-8").split("\r\n")
    assert lines[0] == "句子,关键词位置,原始关键词,对立关键词"
    assert lines[1] == '他把实验报告交给了老师。,"[0, 1]",他,她'
    assert lines[3] == '那个男孩在操场上练习投篮。,"[2, 4]",男,女'
    assert lines[7] == '姥姥喜欢在院子里种花。,"[0, 2]",姥,爷'
    assert (
        export_preview(fresh_store, sample_project, export_options("slguset"), limit=2)
        == "\r\n".join(lines[:3]) + "\r\n"
    )


@pytest.mark.parametrize("first", ["-", "=", "+", "@", "'-"])
def test_the_position_fits_a_sentence_that_begins_like_a_formula(
    fresh_store: Store, tmp_path: Path, first: str
) -> None:
    text = f"{first}他把实验报告交给了老师。"
    made = create_project(fresh_store, "f", annotators=("Ada",))
    with Batch.begin(fresh_store, made, "a.txt") as batch:
        batch.add([NewItem(text, find(text)[0], "a.txt", 1)])
        batch.publish()
    export_file(fresh_store, made, tmp_path / "x.csv", format="slguset")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["句子"] == text
    assert row["句子"][slice(*json.loads(row["关键词位置"]))] == "他"
    label(fresh_store, made, "Ada", text, "accept", op_id="a", desk="Ada", revision=1, note="-2: sure?")
    export_file(fresh_store, made, tmp_path / "l.csv", format="labels")
    with (tmp_path / "l.csv").open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["text"], row["note"]) == (text, "-2: sure?")
    export_file(fresh_store, made, tmp_path / "copy.csv", format="labels", spreadsheet=True)
    with (tmp_path / "copy.csv").open(encoding="utf-8-sig", newline="") as file:
        [row] = csv.DictReader(file)
    assert (row["text"], row["note"]) == ("'" + text, "'-2: sure?")


def label(store: Store, project: Project, name: str, text: str, choice: str | None, **more: Any) -> None:
    person = annotator(store, project, name)
    claim(store, project, person)
    uid = next(item.uid for item in items(store, project) if item.text == text)
    (answer,) = store_operations(store, project, person, [Operation(choice=choice, item=uid, **more)])
    assert answer.stored, answer


@pytest.fixture
def labelled(fresh_store: Store, sample_project: Project) -> Project:
    first, second = [item.text for item in items(fresh_store, sample_project)][:2]
    reject = {"reasons": ("criterion_1",), "note": '=cmd|" /C calc"!A0\r\n"quoted"'}
    reason = fresh_store.db.execute("SELECT json_extract(reasons, '$[0].code') FROM guideline").fetchone()[0]
    reject["reasons"] = (reason,)
    for number, name in enumerate(("Ada", "Bo", "Chen")):
        label(
            fresh_store, sample_project, name, first, "accept", op_id=f"a{number}", desk=name, revision=1, seconds=1.5
        )
    label(fresh_store, sample_project, "Bo", second, "accept", op_id="b", desk="Bo", revision=2)
    label(fresh_store, sample_project, "Bo", second, "reject", op_id="c", desk="Bo", revision=3, base="b", **reject)
    label(fresh_store, sample_project, "Chen", second, "accept", op_id="d", desk="Chen", revision=2)
    label(fresh_store, sample_project, "Chen", second, None, op_id="e", desk="Chen", revision=3, base="d")
    return sample_project


def read_labels(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: restored(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def test_labels_are_exported_with_pseudonyms(fresh_store: Store, labelled: Project, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    assert export_file(fresh_store, labelled, out, format="labels").rows == 4
    rows = read_labels(out)
    assert tuple(rows[0]) == (*LABELS, *ORIGIN)
    assert [(row["annotator"], row["choice"], row["op_id"]) for row in rows] == [
        ("A1", "accept", "a0"),
        ("A2", "accept", "a1"),
        ("A3", "accept", "a2"),
        ("A2", "reject", "c"),
    ]
    rejected = rows[3]
    assert rejected["note"] == '=cmd|" /C calc"!A0\r\n"quoted"' and rejected["reasons"]
    assert (rejected["seconds"], rejected["after_reveal"], rejected["extraneous"], rejected["spans"]) == (
        "",
        "0",
        "",
        "[]",
    )
    assert (rows[0]["seconds"], rows[0]["guideline"], rows[0]["form_shown"]) == ("1.5", "1", "original")
    assert {row["item"] for row in rows} <= {item.uid for item in items(fresh_store, labelled)}
    assert not any(name in out.read_text("utf-8") for name in ("Ada", "Chen"))


def test_an_annotator_who_left_keeps_the_pseudonym(fresh_store: Store, labelled: Project, tmp_path: Path) -> None:
    ada = annotator(fresh_store, labelled, "Ada")
    fresh_store.db.execute("UPDATE member SET active = 0 WHERE annotator = ?", (ada.id,))
    export_file(fresh_store, labelled, tmp_path / "labels.csv", format="labels")
    by_operation = {row["op_id"]: row["annotator"] for row in read_labels(tmp_path / "labels.csv")}
    assert by_operation == {"a0": "A1", "a1": "A2", "a2": "A3", "c": "A2"}


def test_exports_can_include_names_history_or_accepted_items_only(
    fresh_store: Store, labelled: Project, tmp_path: Path
) -> None:
    out = tmp_path / "labels.csv"
    export_file(fresh_store, labelled, out, format="labels", names=True, history=True)
    rows = read_labels(out)
    assert {row["annotator"] for row in rows} == {"Ada", "Bo", "Chen"}
    assert {(row["op_id"], row["choice"], row["base"]) for row in rows if row["annotator"] == "Chen"} == {
        ("a2", "accept", ""),
        ("d", "accept", ""),
        ("e", "", "d"),
    }
    assert export_file(fresh_store, labelled, out, format="labels", items="accepted").rows == 3
    assert export_file(fresh_store, labelled, out, format="slguset", items="accepted").rows == 1
    assert export_file(fresh_store, labelled, out, format="jsonl", items="accepted").rows == 1
    assert json.loads(out.read_text("utf-8"))["status"] == "accepted"


def test_a_failed_export_leaves_the_old_file(
    fresh_store: Store, sample_project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("before", "utf-8")

    def full(item: Item) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "released_line", full)
    with pytest.raises(BadFile, match=r"out\.csv cannot be written: No space left on device"):
        export_file(fresh_store, sample_project, out, format="slguset")
    assert out.read_text("utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "evenhand.db",
        "evenhand.db-shm",
        "evenhand.db-turn",
        "evenhand.db-wal",
        "out.csv",
    ]


def test_an_unwritable_target_or_format_is_refused(fresh_store: Store, sample_project: Project, tmp_path: Path) -> None:
    for out in (tmp_path / "none" / "x.csv", tmp_path):
        with pytest.raises(BadFile, match="cannot be written"):
            export_file(fresh_store, sample_project, out, format="slguset")
    with pytest.raises(BadFile, match="no export with format xlsx"):
        export_file(fresh_store, sample_project, tmp_path / "x", format="xlsx")


def test_every_export_leaves_an_event_with_its_hash(fresh_store: Store, tmp_path: Path) -> None:
    study, _people = filled_project(fresh_store, 3)
    export_file(fresh_store, study, tmp_path / "a.jsonl", format="jsonl", author="vera")
    export_file(fresh_store, study, tmp_path / "a.zip", format="labels", names=True, password="long enough it is")
    first, second = events(fresh_store, study, action="exported")
    assert (first.author, first.data["format"], first.data["names"], first.data["encrypted"]) == (
        "vera", "jsonl", False, False,
    )  # fmt: skip
    assert (second.data["format"], second.data["names"], second.data["encrypted"]) == ("labels", True, True)
    for options, file in ((first, "a.jsonl"), (second, "a.zip")):
        assert options.data["sha256"] == sha256((tmp_path / file).read_bytes()).hexdigest()
    before = package_files(fresh_store, study, export_options("package"))
    export_file(fresh_store, study, tmp_path / "b.jsonl", format="jsonl")
    assert package_files(fresh_store, study, export_options("package")) == before  # an export changes no package


def test_statuses_in_a_package_match_other_files(fresh_store: Store, labelled: Project) -> None:
    for study, version, words in ((make_generations_demo(fresh_store), 2, {"has_gold"}), (labelled, 1, {"accepted"})):
        files = package_files(fresh_store, study, export_options("package"))
        results = {json.loads(line)["status"] for line in files["gold.jsonl"].splitlines()}
        assert (json.loads(files["project.json"])["v"], results) == (version, words)


def test_an_export_of_a_page_is_made_in_another_process(
    fresh_store: Store, labelled: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = export.export_row_count(fresh_store, labelled, export_options("labels"))
    plain = export.export_bytes(fresh_store, labelled, export_options("labels"), "labels.csv", None)
    monkeypatch.setattr(export, "export_bytes", lambda *_: pytest.fail("made here"))
    monkeypatch.setattr(export, "export_row_count", lambda *_: pytest.fail("counted here"))
    assert export.made_elsewhere(fresh_store, labelled, export_options("labels"), "a.csv", None) == plain
    assert export.counted_elsewhere(fresh_store, labelled, export_options("labels")) == rows
    assert export.made_elsewhere(fresh_store, labelled, export_options("package"), "a", None)[:2] == b"PK"
    with pytest.raises(BadFile, match="an archive of several files"):
        export.run_bounded(_lines, fresh_store.path, labelled, file="a")


def _lines(path: Path, project: Project) -> list[str]:
    with Store.open(path) as store:
        return list(export.export_lines(store, project, export_options("package")))
