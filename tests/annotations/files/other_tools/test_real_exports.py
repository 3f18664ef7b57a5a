"""Files as Label Studio 1.23 and doccano 1.8 write them: imported completely, and our exports survive them."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.types import Operation, Project
from evenhand.core.text.keywords import find
from tests.support.task_files import HE, SHE, bring, rows_of, said, written

WHEN = "2026-03-01T09:30:00.123456Z"


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return create_project(fresh_store, "here", per_item=2)


def flat(text: str, annotation: int | None, annotator: int | None, **answers: Any) -> dict[str, Any]:
    """Return a row of JSON_MIN: the data, the task's id, the answers by control, then annotator and time."""
    made = {"created_at": WHEN, "updated_at": WHEN, "lead_time": 3.5} if annotation else dict.fromkeys(
        ("created_at", "updated_at", "lead_time")
    )  # fmt: skip
    return {"text": text, "src": "s", "id": 5} | answers | {"annotator": annotator, "annotation_id": annotation} | made


def test_answers_of_json_min_are_the_columns_between_task_and_annotator(
    fresh_store: Store, project: Project, tmp_path: Path
) -> None:
    rows = [
        flat(HE, 1, 1, ruling="保留", free={"text": ["one", "two 👩"]}, sure=[{"rating": 4}]),
        flat(HE, 2, 3, ruling="剔除", grounds={"choices": ["含人名", "泛指的“他”"]}),
        flat(HE, 3, 4, ruling="剔除", grounds="含人名", remark="only this"),
        flat(SHE, None, None),
    ]
    names = Names({"剔除": "reject", "含人名": "name", "泛指的“他”": "generic"})
    report = bring(fresh_store, project, written(tmp_path / "p.json", rows), names)
    assert report.labels.errors == [] and report.left["other"] == 1
    results = {
        row["annotator"]: (row["choice"], row["reasons"], row["note"]) for row in label_rows(fresh_store, project)
    }
    assert results == {
        "user 1": ("accept", [], "one\ntwo 👩"),
        "user 3": ("reject", ["name", "generic"], ""),
        "user 4": ("reject", ["name"], "only this"),
    }
    assert [item.extra for item in items(fresh_store, project)] == [{"src": "s", "task_id": 5}] * 2


@pytest.fixture
def labelled(fresh_store: Store, project: Project) -> Project:
    """Make two sentences with different extra columns, labelled by two people."""
    add_two(fresh_store, project)
    create = [("An", "accept", (), "a 👩\nb"), ("Bo 👩", "reject", ("name", "biological"), "")]
    from evenhand.annotations.projects.annotators import add_annotators

    people = {
        annotator.name: annotator for annotator in add_annotators(fresh_store, project, [who for who, *_ in create])
    }
    for number, (who, choice, reasons, note) in enumerate(create):
        uid = next(iter(items(fresh_store, project))).uid
        (answer,) = store_operations(fresh_store, project, people[who], [
            Operation(f"op {number}", uid, choice, "desk", 1, None, reasons, note, 2.5),
        ])  # fmt: skip
        assert answer.stored
    return project


def add_two(store: Store, project: Project) -> None:
    with Batch.begin(store, project, "x") as batch:
        batch.add([NewItem(HE, find(HE)[0], "a", 1, {"n": 1}), NewItem(SHE, find(SHE)[0], "a", 2, {"other": None})])
        batch.publish()


def as_label_studio_keeps(task: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a task as after its import: without data outside the results, all annotations by the importing user."""
    kept = ("result", "was_cancelled", "ground_truth", "lead_time")
    annotations = [
        {key: annotation[key] for key in kept} | {"id": 10 * number + place, "completed_by": 1, "created_at": WHEN,
         "unique_id": f"{number}-{place}", "parent_annotation": None, "updated_by": None}
        for place, annotation in enumerate(task["annotations"])
    ]  # fmt: skip
    return {"id": number + 500, "data": task["data"], "annotations": annotations, "drafts": [], "predictions": []}


def test_annotators_survive_a_round_trip_through_label_studio(
    fresh_store: Store, labelled: Project, tmp_path: Path
) -> None:
    out = export_file(fresh_store, labelled, tmp_path / "out.json", format="label-studio", names=True).out
    tasks = [as_label_studio_keeps(task, number) for number, task in enumerate(json.loads(out.read_text("utf-8")))]
    with Store.open(tmp_path / "b.db") as other:
        twin = create_project(other, "there", per_item=2)
        report = bring(other, twin, written(tmp_path / "back.json", tasks))
        assert report.labels.errors == [] and rows_of(other, twin) == rows_of(fresh_store, labelled)


def test_labels_changed_in_label_studio_belong_to_their_editor(
    fresh_store: Store, labelled: Project, tmp_path: Path
) -> None:
    out = export_file(fresh_store, labelled, tmp_path / "out.json", format="label-studio", names=True).out
    first, second = (
        as_label_studio_keeps(task, number) for number, task in enumerate(json.loads(out.read_text("utf-8")))
    )
    an, bo = first["annotations"]
    an["result"][0]["value"]["choices"] = ["reject"]
    copy = json.loads(json.dumps(bo)) | {"id": 99, "unique_id": "c", "completed_by": 7, "parent_annotation": bo["id"]}
    first["annotations"].append(copy)
    with Store.open(tmp_path / "b.db") as other:
        twin = create_project(other, "there", per_item=2)
        bring(other, twin, written(tmp_path / "back.json", [first, second]))
        assert said(other, twin) == sorted(
            [(HE, "user 1", "reject"), (HE, "Bo 👩", "reject"), (HE, "user 7", "reject")]
        )
        assert "op 0" not in {row["op_id"] for row in rows_of(other, twin)}


def doccano_lines(store: Store, project: Project, folder: Path) -> dict[str, list[dict[str, Any]]]:
    out = export_file(store, project, folder / "d", format="doccano", names=True).out
    with zipfile.ZipFile(out) as archive:
        return {
            name: [json.loads(line) for line in archive.read(name).decode().splitlines()] for name in archive.namelist()
        }


def test_every_doccano_line_has_equal_keys_and_no_empty_cell(
    fresh_store: Store, labelled: Project, tmp_path: Path
) -> None:
    # doccano makes a table of the lines: a missing key becomes NaN, which its database refuses for the whole file.
    lines = [line for rows in doccano_lines(fresh_store, labelled, tmp_path).values() for line in rows]
    assert len(lines) == 3 and len({tuple(line) for line in lines}) == 1
    assert all(value is not None for line in lines for value in line.values())


def test_annotators_survive_a_round_trip_through_doccano(fresh_store: Store, labelled: Project, tmp_path: Path) -> None:
    files = doccano_lines(fresh_store, labelled, tmp_path)
    back = [
        # All files were imported by one person; `meta` is flat again, labels are sorted, comments are doccano's own.
        line | {"id": number, "label": sorted(line["label"]), "Comments": []}
        for number, line in enumerate((line for lines in files.values() for line in lines), 1)
    ]
    with Store.open(tmp_path / "b.db") as other:
        twin = create_project(other, "there", per_item=2)
        report = bring(other, twin, written(tmp_path / "admin.jsonl", back, lines=True))
        assert report.labels.errors == [] and rows_of(other, twin) == rows_of(fresh_store, labelled)
        assert {item.extra.get("n") for item in items(other, twin)} == {1, None}
    back[0]["label"], back[2]["label"] = ["reject"], ["accept"]  # one changed, one without a label here
    changed = [line for line in back if line["label"] and line is not back[1]]
    with Store.open(tmp_path / "c.db") as other:
        twin = create_project(other, "there", per_item=2)
        bring(other, twin, written(tmp_path / "lin.jsonl", changed, lines=True))
        assert {who for _text, who, _choice in said(other, twin)} == {"lin"}
        assert annotators(other, twin)[0].name == "lin"


def test_a_comment_without_a_label_is_counted(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    lines = [{"id": 1, "text": HE, "label": [], "Comments": ["look again"]}, {"id": 2, "text": SHE, "label": []}]
    report = bring(fresh_store, project, written(tmp_path / "lin.jsonl", lines, lines=True))
    assert (report.items.imported, report.labels.rows, report.left["empty"]) == (2, 0, 1)


def test_a_word_marked_in_one_file_places_the_labels_of_the_others(
    fresh_store: Store, project: Project, tmp_path: Path
) -> None:
    line: dict[str, Any] = {"id": 1, "text": "他告诉她门没锁。", "Comments": []}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("An.jsonl", json.dumps(line | {"cats": ["reject"], "entities": []}))
        archive.writestr("Bo.jsonl", json.dumps(line | {"cats": ["accept"], "entities": [[3, 4, "W"]]}))
    report = bring(fresh_store, project, tmp_path / "all.zip")
    assert said(fresh_store, project) == [(line["text"], "An", "reject"), (line["text"], "Bo", "accept")]
    assert (report.left["without_item"], next(iter(items(fresh_store, project))).keyword) == (0, "她")
