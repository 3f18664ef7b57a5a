"""Records of Argilla. argilla_2_8.json was written by argilla 2.8.0 itself (`to_list`, nested as its `to_json` has it,
flat as its `to_hub` has it); rows of version 1 are as its documents have them."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.other_tools.argilla_read import QUESTIONS, is_task, read
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.projects.projects import create_project
from tests.support.task_files import bring, said, written

REAL: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_name("argilla_2_8.json").read_text("utf-8"))
ADA, BO = "0e0f1c6a-0000-4000-8000-000000000001", "0e0f1c6a-0000-4000-8000-000000000002"
HE, SHE = "他把雨伞借给了同事。", "那位女孩在操场上跑步。"
VERSION_1 = [
    {"sentence": HE, "neutral": [{"user_id": ADA, "value": "accept", "status": "submitted"},
                                 {"user_id": BO, "value": "reject", "status": "submitted"}],
     "neutral-suggestion": "accept", "neutral-suggestion-metadata": {"agent": "m"},
     "why": [{"user_id": BO, "value": "a comment", "status": "submitted"}], "why-suggestion": None,
     "external_id": "r1", "metadata": '{"source": "a.txt"}'},
    {"sentence": SHE, "neutral": [{"user_id": ADA, "value": "accept", "status": "draft"},
                                  {"user_id": BO, "value": "accept", "status": "discarded"}],
     "neutral-suggestion": None, "why": [], "why-suggestion": None, "external_id": "r2", "metadata": "{}"},
]  # fmt: skip
COLUMNS_OF_VERSION_1 = [
    {**row, "neutral": {key: [response[key] for response in row["neutral"]] for key in ("user_id", "value", "status")}}  # type: ignore[union-attr,index]
    for row in VERSION_1
]
FIRST_VERSION = [
    {"text": HE, "inputs": {"text": HE}, "prediction": None, "annotation": "accept", "annotation_agent": "ada",
     "id": "r1", "metadata": {"source": "a.txt"}, "status": "Validated"},
    {"text": SHE, "inputs": {"text": SHE}, "prediction": None, "annotation": None, "annotation_agent": None,
     "id": "r2", "metadata": None, "status": "Default"},
]  # fmt: skip


@pytest.mark.parametrize("rows", [REAL["json"], REAL["flat"], VERSION_1, COLUMNS_OF_VERSION_1], ids=range(4))
def test_argilla_answers_become_labels(rows: list[dict[str, Any]]) -> None:
    assert all(map(is_task, rows))
    first, second = (read(row, "sentence") for row in rows)
    assert (first.values["sentence"], first.values["source"], first.predictions) == (HE, "a.txt", 1)
    results = {label.who: (tuple(label.names), label.note) for label in first.labels}
    assert results == {ADA: (("accept",), ""), BO: (("reject",), "a comment")}
    if rows is not REAL["json"]:  # its JSON does not contain which answers were sent
        assert (second.drafts, [label.skipped for label in second.labels]) == (1, [True])
    assert not {"status", "_server_id", "neutral", "responses"} & second.values.keys()


def test_spans_of_argilla_2_become_marks() -> None:
    for rows in REAL.values():
        (label,) = [answer for answer in read(rows[0], "sentence").labels if answer.who == ADA]
        assert label.marks == [(0, 1, "keyword")]


def test_records_of_the_first_version_have_one_annotation() -> None:
    assert all(map(is_task, FIRST_VERSION))
    first, second = (read(row, "text") for row in FIRST_VERSION)
    assert [(label.who, tuple(label.names)) for label in first.labels] == [("ada", ("accept",))] and not second.labels
    assert first.values == {"text": HE, "source": "a.txt", "task_id": "r1"}


@pytest.mark.parametrize(
    ("value", "kind", "names", "note", "other"),
    [
        ("accept", None, ("accept",), "", 0),
        (["a", "b"], "multi_label_selection", ("a", "b"), "", 0),
        (4, "rating", ("4",), "", 0),
        ("short", "text", (), "short", 0),
        ("x" * 81, None, (), "x" * 81, 0),
        ([{"value": "a", "rank": 1}], "ranking", (), "", 1),
    ],
)
def test_an_answer_is_read_by_the_kind_of_its_question(
    value: Any, kind: str | None, names: tuple[str, ...], note: str, other: int
) -> None:
    row = {"sentence": HE, "q.responses": [value], "q.responses.users": [ADA], "q.responses.status": ["submitted"]}
    (label,) = read(row | ({QUESTIONS: {"q": kind}} if kind else {}), "sentence").labels
    assert (tuple(label.names), label.note, label.other) == (names, note, other)


@pytest.mark.parametrize(
    "rows",
    [[{"text": HE}], [{"text": HE, "label": ["a"]}], [{"data": {"text": HE}, "annotations": []}], [{"fields": 1}]],
)
def test_other_files_are_not_recognised_as_argilla(rows: list[dict[str, Any]]) -> None:
    assert not all(map(is_task, rows))


@pytest.mark.parametrize("layout", ["json", "flat"])
def test_an_argilla_file_is_imported_once(fresh_store: Store, tmp_path: Path, layout: str) -> None:
    made = create_project(fresh_store, "moved", annotators=("Ada", "Bo"))
    names = Names(people={ADA: "Ada", BO: "Bo"})
    path = written(tmp_path / "records.json", REAL[layout])
    report = bring(fresh_store, made, path, names)
    assert (report.items.imported, report.items.rejected) == (2, 0)
    labels = [(HE, "Ada", "accept"), (HE, "Bo", "reject")]
    sent = [(SHE, "Ada", "accept"), (SHE, "Bo", "accept")] if layout == "json" else []
    assert said(fresh_store, made) == sorted(labels + sent)
    assert bring(fresh_store, made, path, names).labels.duplicates == len(labels + sent)
