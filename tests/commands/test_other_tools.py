"""`import` of other programs' tasks, `undo` and `conflicts`, as a person or a script calls them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, create_project, project, projects
from evenhand.core.errors import BadFile, NotFound, Refused
from tests.support.task_files import HE, SHE, chosen, task, written


def run(*arguments: str | Path, says: str = "") -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=says)


def json_of(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    data: dict[str, Any] = json.loads(result.stdout)
    return data


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    second = [task(HE, chosen("a=b", completed_by=4), chosen("keep")), task(SHE, chosen("keep", ground_truth=True))]
    return written(tmp_path / "project-1.json", second)


def test_tasks_make_a_project_and_are_imported_once(fresh_store: Store, tasks: Path) -> None:
    options = ("--map", "a=b=reject", "--annotator", "4=Lin", "--ground-truth")
    data = json_of("import", "new", tasks, *options)
    assert (data["imported"], data["format"], data["labels"]["imported"], data["ground_truth"]) == (
        2,
        "label-studio",
        3,
        1,
    )
    stored = project(fresh_store, "new")
    assert [annotator.name for annotator in annotators(fresh_store, stored)] == ["Lin", "user 3"]
    assert sorted((row["text"], row["choice"]) for row in label_rows(fresh_store, stored)) == sorted(
        [(HE, "reject"), (HE, "accept"), (SHE, "accept")]
    )
    again = json_of("import", "new", tasks, *options)
    assert (again["imported"], again["duplicates"], again["labels"]["duplicates"]) == (0, 2, 3)


def test_unmapped_choices_are_reported_and_other_labels_imported(fresh_store: Store, tasks: Path) -> None:
    result = run("import", "new", tasks)
    assert result.exit_code == 0
    assert "project-1.json:1: unknown_choice: The meaning of a=b in this project is unknown" in result.stderr
    assert "3 labels read: 2 imported, 0 here already, 1 rejected" in result.stdout


def test_a_file_without_a_usable_text_makes_no_project(fresh_store: Store, tmp_path: Path) -> None:
    result = run("import", "new", written(tmp_path / "p.json", [task("天黑了。", chosen("keep"))]))
    assert isinstance(result.exception, BadFile)
    assert projects(fresh_store) == []


@pytest.mark.parametrize("option", [("--map", "keep"), ("--set", "nothing=1")])
def test_options_that_are_not_pairs_are_refused(tasks: Path, option: tuple[str, str]) -> None:
    assert isinstance(run("import", "new", tasks, *option).exception, BadFile)


def test_doccano_labels_of_generations_are_imported_into_their_project(fresh_store: Store, tmp_path: Path) -> None:
    create_project(fresh_store, "g", kind="generations", language="en")
    line = {"text": "He sat down.", "context": "Rowan came in.", "label": ["correct"]}
    data = json_of("import", "g", written(tmp_path / "An.jsonl", [line], lines=True))
    assert (data["imported"], data["labels"]["imported"], data["format"]) == (1, 1, "doccano")
    (item,) = items(fresh_store, project(fresh_store, "g"))
    assert (item.context, item.text, item.gold) == ("Rowan came in.", "He sat down.", None)


def test_undo_lists_imports_and_undoes_one_after_confirmation(fresh_store: Store, tasks: Path) -> None:
    json_of("import", "new", tasks)
    assert [row["key"] for row in json_of("undo", "new")["imports"]] == ["items-1", "labels-1"]
    refused = run("undo", "new", "items-1", says="n\n")
    assert refused.exit_code == 1 and "0 items deleted, 2 hidden with 2 labels. Undo this import?" in refused.output
    assert isinstance(run("undo", "new", "items-1", "--json").exception, Refused)
    done = json_of("undo", "new", "labels-1", "--yes")
    assert (done["file"], done["labels"], done["kept"]) == ("project-1.json", 2, 0)
    assert json_of("undo", "new", "items-1", "--yes")["hidden"] == 2
    assert list(items(fresh_store, project(fresh_store, "new"))) == []
    listed = run("undo", "new").stdout
    assert listed.count("  undone ") == 2
    assert isinstance(run("undo", "new", "items-1", "--yes").exception, Refused)
    assert isinstance(run("undo", "new", "items-9", "--yes").exception, NotFound)
    assert "No file" in run("undo", create_project(fresh_store, "empty").name).stdout


def test_conflicts_are_listed_exported_and_decided(fresh_store: Store, tmp_path: Path, tasks: Path) -> None:
    json_of("import", "new", tasks, "--map", "a=b=reject")
    json_of("import", "new", tasks, "--map", "a=b=accept")
    (conflict,) = json_of("conflicts", "new")["conflicts"]
    assert (conflict["annotator"], conflict["first"], conflict["second"], conflict["text"]) == (
        "user 4",
        "reject",
        "accept",
        HE,
    )
    assert "user 4     reject (project-1.json (labels-1))  accept" in run("conflicts", "new").stdout
    out = tmp_path / "c.csv"
    assert run("conflicts", "new", "--csv", out).exit_code == 0
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["key"] for row in csv.DictReader(file)] == [conflict["key"]]
    assert json_of("conflicts", "new", "--take", conflict["key"], "--author", "Lin") == {"conflicts": []}
    rows = label_rows(fresh_store, project(fresh_store, "new"))
    assert {row["choice"] for row in rows} == {"accept"}
    assert isinstance(run("conflicts", "new", "--keep", conflict["key"]).exception, NotFound)
    assert isinstance(run("conflicts", "new", "--csv", tmp_path / "no" / "c.csv").exception, BadFile)


def test_json_arrays_of_sentences_are_imported(fresh_store: Store, tmp_path: Path) -> None:
    stored = create_project(fresh_store, "p")
    path = written(tmp_path / "a.json", [{"sentence": HE}, {"sentence": "无。"}, {"sentence": SHE, "from": 1}])
    report = import_file(fresh_store, stored, path)
    assert (report.imported, [error.line for error in report.errors]) == (2, [2])
