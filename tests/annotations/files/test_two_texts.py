"""Comparisons in files: exports survive a round trip in every format with two texts; protected texts stay inside."""

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file, export_lines
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.files.import_items import import_file, tables_in
from evenhand.annotations.files.other_tools.write import labelling_config
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.guideline.import_schemes import scheme_from_bytes
from evenhand.annotations.guideline.versions import PREFERENCE, guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.judges import Spec, add_judge, store_labels
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.release.dataset_card import data_row
from evenhand.annotations.types import Project
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.comparisons import MODELS, compared_project
from tests.support.projects import decide, new_store
from tests.support.task_files import bring

SAID = ("item", "annotator", "choice", "left", "reasons", "note", "seconds", "op_id", "created")
LABELS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1), st.sampled_from(["first", "second", "tie", None]),
              st.sampled_from(["first", "second", None]), st.sampled_from(["", "=1+1", "好\n"])),
    max_size=12,
)  # fmt: skip


def labelled(store: Store, folder: Path, said: list[tuple[Any, ...]], name: str = "pairs") -> Project:
    """Make four comparisons with these labels: number of item and annotator, choice, left text, note."""
    made, people = compared_project(store, folder, 4, name=name)
    results = list(items(store, made))
    for item, who, choice, left, note in said:
        kept = {} if choice is None else {"left": left, "note": note}
        store_operations(store, made, people[who], [decide(results[item], choice, desk=people[who].name, **kept)])
    return change_project(store, made, open_text=True)


ONE_OF_EACH = [(0, 0, "first", "first", ""), (0, 1, "first", "second", "why"), (1, 0, "tie", "first", ""),
               (2, 0, "second", "second", "")]  # fmt: skip


@pytest.fixture
def project(fresh_store: Store, tmp_path: Path) -> Project:
    return labelled(fresh_store, tmp_path, ONE_OF_EACH)


def rows_of(store: Store, project: Project) -> list[dict[str, Any]]:
    rows = [{key: row[key] for key in SAID} for row in label_rows(store, project, which="all")]
    return sorted(rows, key=lambda row: row["op_id"])


def texts_of(store: Store, project: Project) -> list[tuple[Any, ...]]:
    return [
        (item.uid, item.context, item.text, item.second, item.extra, item.pair, item.gold)
        for item in items(store, project)
    ]


@settings(max_examples=4)
@given(LABELS)
def test_a_package_restores_every_text_and_label(said: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with new_store(folder / "one.db") as store, new_store(folder / "two.db") as other:
            made = labelled(store, folder, said)
            file = export_file(store, made, folder / "p.zip", format="package", names=True).out
            with tables_in(file) as members:
                back = import_package(other, "back", members, file.name).project
            assert texts_of(other, back) == texts_of(store, made)
            assert rows_of(other, back) == rows_of(store, made)
            assert guideline(other, back).scheme == PREFERENCE.more
            verify(other)


def test_a_package_keeps_the_order_shown_to_a_judge(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    judge = add_judge(fresh_store, project, "mine", Spec("file", 1, "signed", "m"))
    store_labels(
        fresh_store, judge, [JudgeLabel(item.id, "tie", first="second") for item in items(fresh_store, project)]
    )
    file = export_file(fresh_store, project, tmp_path / "p.zip", format="package", names=True).out
    query = "SELECT place FROM judge_order ORDER BY label"
    with new_store(tmp_path / "two.db") as other, tables_in(file) as members:
        import_package(other, "back", members, file.name)
        assert other.db.execute(query).fetchall() == fresh_store.db.execute(query).fetchall() == [("second",)] * 4


def test_json_lines_are_imported_as_equal_comparisons(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    export_file(fresh_store, project, tmp_path / "x.jsonl", format="jsonl")
    with new_store(tmp_path / "two.db") as other:
        back, _ = compared_project(other, tmp_path, 0)
        assert import_file(other, back, tmp_path / "x.jsonl").imported == 4
        assert [text[:6] for text in texts_of(other, back)] == [text[:6] for text in texts_of(fresh_store, project)]
    report = import_file(fresh_store, project, tmp_path / "x.jsonl")
    assert (report.duplicates, report.turned) == (4, 0)


def table(store: Store, project: Project, format: str, **how: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(export_lines(store, project, export_options(format, **how))))))


def test_tables_contain_the_left_text_and_both_models(fresh_store: Store, project: Project) -> None:
    rows = table(fresh_store, project, "labels", names=True)
    assert [(row["annotator"], row["choice"], row["left"]) for row in rows] == [
        ("Ada", "first", "first"), ("Bo", "first", "second"), ("Ada", "tie", "first"), ("Ada", "second", "second"),
    ]  # fmt: skip
    assert {(row["model"], row["second_model"]) for row in rows} == {MODELS, MODELS[::-1]}
    assert [row["second"] for row in rows] == ["Answer 1 two.", "Answer 1 two.", "Answer 2 two.", "Answer 3 two."]
    wide = table(fresh_store, project, "labels-wide", names=True)
    assert [(row["text"], row["second"], row["left_Ada"], row["left_Bo"]) for row in wide[:2]] == [
        ("Answer 1 one.", "Answer 1 two.", "first", "second"), ("Answer 2 one.", "Answer 2 two.", "first", ""),
    ]  # fmt: skip
    lines = [json.loads(line) for line in export_lines(fresh_store, project, export_options("labels-jsonl"))]
    assert [line["left"] for line in lines if "left" in line] == ["first", "second", "first", "second"]


def test_texts_that_may_not_be_exported_are_both_withheld(fresh_store: Store, project: Project) -> None:
    locked = change_project(fresh_store, project, open_text=False)
    for format in ("labels", "labels-wide", "labels-jsonl"):
        text = "".join(export_lines(fresh_store, locked, export_options(format)))
        assert "Answer" not in text and "first" in text


def test_a_released_comparison_has_both_texts(fresh_store: Store, project: Project) -> None:
    # The other labels wait for a second annotator.
    (kept,) = [data_row(project, item) for item in items(fresh_store, project) if item.status == "accepted"]
    assert (kept["completion"], kept["second"], kept["label"]) == ("Answer 1 one.", "Answer 1 two.", "first")
    assert (kept["model"], kept["second_model"]) == (MODELS[1], MODELS[0])


@pytest.mark.parametrize("format", ["label-studio", "doccano"])
def test_comparisons_survive_a_round_trip_through_other_programs(
    fresh_store: Store, project: Project, tmp_path: Path, format: str
) -> None:
    file = export_file(fresh_store, project, tmp_path / "x.json", format=format, names=True).out
    with new_store(tmp_path / "two.db") as other:
        back, _ = compared_project(other, tmp_path, 0)
        report = bring(other, back, file, format=format)
        assert (report.items.imported, report.labels.imported) == (4, 4)
        assert [text[:4] for text in sorted(texts_of(other, back))] == [
            text[:4] for text in sorted(texts_of(fresh_store, project))
        ]
        assert rows_of(other, back) == rows_of(fresh_store, project)


def test_the_label_studio_configuration_is_read_as_an_equal_scheme(fresh_store: Store, project: Project) -> None:
    config = labelling_config(project, guideline(fresh_store, project)).encode()
    result = scheme_from_bytes(config, "x.xml").scheme
    assert result.more.compares and [choice.code for choice in result.choices] == ["first", "second", "tie"]


def test_preferences_of_label_studio_are_imported(fresh_store: Store, tmp_path: Path) -> None:
    made, _ = compared_project(fresh_store, tmp_path, 0)
    result = [{"from_name": "pw", "to_name": "text1,text2", "type": "pairwise", "value": {"selected": "right"}}]
    task = {
        "id": 1, "data": {"text1": "A", "text2": "B"}, "predictions": [],
        "annotations": [{"id": 1, "result": result, "completed_by": 3, "was_cancelled": False}],
    }  # fmt: skip
    (tmp_path / "ls.json").write_text(json.dumps([task]), "utf-8")
    report = bring(fresh_store, made, tmp_path / "ls.json")
    assert (report.items.imported, report.labels.imported) == (1, 1)
    (row,) = label_rows(fresh_store, made)
    assert (row["text"], row["second"], row["choice"], row["left"]) == ("A", "B", "second", None)


def test_a_project_of_single_texts_has_no_comparison_columns(fresh_store: Store, tmp_path: Path) -> None:
    single = create_project(fresh_store, "single", kind="generations", language="en")
    header = next(iter(export_lines(fresh_store, single, export_options("labels"))))
    assert not {"second", "left", "second_model"} & set(header.strip().split(","))
