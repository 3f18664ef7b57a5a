"""`import` and `export` as a person or a script calls them: the JSON, the exit codes, what stays untouched."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import change_project, create_project, project, projects
from evenhand.core.errors import BadFile, NotFound
from tests.support.terminal import typed

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"rows", "imported", "duplicates", "rejected", "spans", "encoding", "errors"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def imported(*arguments: str | Path) -> dict[str, Any]:
    result = run("import", *arguments, "--json")
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = json.loads(result.stdout)
    return data


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    path = tmp_path / "sentences.txt"
    path.write_text("他在修自行车。\n没有。\n她在修自行车。\n", "utf-8")
    return path


def test_import_into_an_unknown_project_creates_it(sentences: Path) -> None:
    data = imported("new", sentences, "--format", "sentences")
    assert set(data) >= KEYS
    assert [data[key] for key in ("rows", "imported", "duplicates", "rejected", "encoding")] == [3, 2, 0, 1, "utf-8"]
    assert data["spans"] == {"ok": 0, "one_too_large": 0, "one_too_small": 0, "wrong": 0}
    (error,) = data["errors"]
    assert (error["file"], error["line"], error["reason"], error["sentence"]) == (
        sentences.name,
        2,
        "no_keyword",
        "没有。",
    )
    assert error["message"].endswith(".")
    assert imported("new", sentences)["duplicates"] == 2
    with Store.open() as store:
        assert len(list(items(store, project(store, "new")))) == 2


def test_problems_are_printed_to_stderr(sentences: Path) -> None:
    result = run("import", "new", sentences)
    assert result.exit_code == 0
    assert result.stdout.startswith("3 rows read (utf-8): 2 imported, 0 duplicates, 1 rejected (no_keyword 1)")
    assert result.stderr.startswith("sentences.txt:2: no_keyword: ")


def test_an_export_can_be_imported_again(sentences: Path, tmp_path: Path) -> None:
    imported("new", sentences)
    for layout, name in (("slguset", "x.csv"), ("jsonl", "x.jsonl")):
        result = run("export", "new", tmp_path / name, "--format", layout, "--json")
        assert (result.exit_code, json.loads(result.stdout)) == (0, {"rows": 2})
        assert imported(f"again {layout}", tmp_path / name)["spans"]["ok"] == 2
    result = run("export", "new", tmp_path / "labels.csv", "--format", "labels", "--names", "--history")
    assert result.stdout == f"0 rows written to {tmp_path / 'labels.csv'}\n"


def test_a_project_of_generations_requires_its_own_columns(tmp_path: Path) -> None:
    with Store.open() as store:
        create_project(store, "judged", kind="generations", language="en")
    path = tmp_path / "other.csv"
    path.write_text("Before,After\nKim said,that he left.\n", "utf-8")
    result = run("import", "judged", path)
    assert isinstance(result.exception, BadFile) and "context and completion" in str(result.exception)
    assert imported("judged", path, "--map", "context=Before", "--map", "completion=After")["imported"] == 1
    assert "holds the sentences" in str(run("import", "unknown", path).exception)


def test_a_bad_file_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "sentences.csv"
    path.write_bytes(b"PK\x03\x04")
    ended = typed("import", "new", path, "--json")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1 and "ZIP" in ended.stderr and "Traceback" not in ended.stderr
    assert not Path(os.environ["EVENHAND_DB"]).exists()  # not even a database was made


def test_no_usable_line_is_exit_code_2_with_the_report_and_no_project(tmp_path: Path) -> None:
    path = tmp_path / "sentences.txt"
    path.write_text("没有。\n也没有。\n", "utf-8")
    ended = typed("import", "new", path, "--json")
    assert ended.code == 2
    assert json.loads(ended.stdout)["rejected"] == 2
    assert ended.stderr.startswith(
        "None of the 2 lines of sentences.txt could be used; line 1: The sentence contains no word"
    )
    with Store.open() as store:
        assert projects(store) == []


def test_unknown_projects_and_formats_are_refused(tmp_path: Path, sentences: Path) -> None:
    Store.open().close()
    ended = typed("export", "none", tmp_path / "x.csv", "--format", "slguset")
    assert (ended.code, ended.stderr) == (2, "There is no project named none.\n")
    assert not (tmp_path / "x.csv").exists()
    assert run("export", "none", tmp_path / "x.csv", "--format", "xlsx").exit_code == 2
    assert run("import", "new", sentences, "--format", "xlsx").exit_code == 2


def test_a_job_finds_its_renamed_project_by_id(sentences: Path) -> None:
    with Store.open() as store:
        made = create_project(store, "old")
        change_project(store, made, name="new")
    assert imported("old", sentences, "--project-uid", made.uid)["imported"] == 2
    gone = run("import", "old", sentences, "--project-uid", "no such id")
    assert isinstance(gone.exception, NotFound)
    with Store.open() as store:
        assert [stored.name for stored in projects(store)] == ["new"]
        assert len(list(items(store, project(store, "new")))) == 2


@pytest.mark.parametrize(
    "command",
    [
        ("agreement", "p"),
        ("export", "p", "out.csv", "--format", "labels"),
        ("project", "list"),
        ("project", "show", "p"),
        ("project", "archive", "p"),
        ("project", "annotators", "p"),
        ("job", "list"),
        ("job", "log", "abc"),
        ("backup", "copy.db"),
    ],
)
def test_a_mistyped_database_is_refused_and_not_created(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "evenhnad.db"
    result = run(*command, "--db", path)
    assert isinstance(result.exception, NotFound) and "evenhnad.db" in str(result.exception)
    assert not list(tmp_path.iterdir())
