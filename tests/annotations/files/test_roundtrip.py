"""import(export(x)) = x: any sentence, any column that came along, the same ids; and what a changed export gives.

Only an absolute path is not exported: if it names a file, its last parts are kept (`core.files.display_paths`).
"""

import csv
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import GENERATION, SLGUSET
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.export_formats import ENDING
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import Refused
from evenhand.core.files.display_paths import short_path, without_folders
from evenhand.core.text.keywords import find
from evenhand.core.text.sentences import control_character
from tests.support.any_items import CORPORA, ROOTED, sentences


def project_of(store: Store, rows: list[NewItem], name: str = "x") -> Project:
    project = create_project(store, name)
    with Batch.begin(store, project, "made.txt") as batch:
        batch.add(rows)
        batch.publish()
    return project


def released(item: Item) -> tuple[Any, ...]:
    return item.pair, item.side, item.text, item.word, item.stem, item.keyword, item.counterpart


def everything(item: Item) -> tuple[Any, ...]:
    return *released(item), item.uid, short_path(item.file), item.line, without_folders(item.extra)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty database to copy, since making the tables takes longer than the rest of an example."""
    path = tmp_path_factory.mktemp("empty") / "empty.db"
    Store.open(path).close()
    return path


@settings(max_examples=25)
@example([ROOTED], "jsonl")
@example([ROOTED], "slguset")
@given(CORPORA, st.sampled_from(["slguset", "jsonl"]))
def test_an_exported_project_is_imported_unchanged(empty: Path, rows: list[NewItem], format: str) -> None:
    compared = everything if format == "jsonl" else released
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(shutil.copy(empty, Path(folder) / "one.db")) as store,
        Store.open(shutil.copy(empty, Path(folder) / "two.db")) as other,
    ):
        project = project_of(store, rows)
        path = Path(folder) / f"x{ENDING[format]}"
        assert export_file(store, project, path, format=format).rows == len(rows)
        again = create_project(other, "again")
        report = import_file(other, again, path)
        assert (report.imported, report.errors) == (len(rows), [])
        assert report.spans["ok"] == len(rows)
        assert list(map(compared, items(other, again))) == list(map(compared, items(store, project)))
        if format == "jsonl" and rows == [ROOTED]:
            assert [(item.file, item.extra) for item in items(other, again)] == [
                ("0", {"source": "a/b", "remark": "/srv/a/b"})
            ]
        if format == "slguset":
            with path.open(encoding="utf-8", newline="") as file:
                assert [row["句子"] for row in csv.DictReader(file)] == [new.text for new in rows]
            copy = Path(folder) / "copy.csv"
            export_file(store, project, copy, format=format, spreadsheet=True)
            with copy.open(encoding="utf-8-sig", newline="") as file:
                assert not any(cell[:1] in tuple("=+-@＝＋－＠\t\r\n") for row in csv.reader(file) for cell in row)
            third = create_project(other, "third")
            assert import_file(other, third, copy).spans["ok"] == len(rows)
            assert list(map(compared, items(other, third))) == list(map(compared, items(store, project)))


def test_the_strategy_makes_valid_sentences() -> None:
    @settings(deadline=None, max_examples=100)
    @given(sentences())
    def check(new: NewItem) -> None:
        assert len(find(new.text)) == 1 and control_character(new.text) is None and len(new.text) <= 512

    check()


def test_generations_survive_a_round_trip(tmp_path: Path, fresh_store: Store) -> None:
    source = tmp_path / "g.csv"
    source.write_text('context,completion,model,index,item\nSam said,"he\nleft",m,1,x\nSam said,=1,m,2,y\n', "utf-8")
    project = change_project(fresh_store, create_project(fresh_store, "g", kind="generations"), open_text=True)
    assert import_file(fresh_store, project, source).imported == 2
    export_file(fresh_store, project, tmp_path / "g.jsonl", format="jsonl")
    with Store.open(tmp_path / "other.db") as other:
        again = create_project(other, "g", kind="generations")
        assert import_file(other, again, tmp_path / "g.jsonl").imported == 2
        mine = [(item.uid, item.context, item.text, item.pair, item.extra) for item in items(fresh_store, project)]
        assert [(item.uid, item.context, item.text, item.pair, item.extra) for item in items(other, again)] == mine
    assert import_file(fresh_store, project, tmp_path / "g.jsonl").duplicates == 2
    with pytest.raises(Refused, match="holds generations"):
        export_file(fresh_store, project, tmp_path / "g.csv", format="slguset")


def test_extra_columns_come_out_under_their_names(fresh_store: Store, tmp_path: Path) -> None:
    project = project_of(fresh_store, [NewItem("他来了", find("他来了")[0], "a", 1, {"source": "s", "status": "old"})])
    export_file(fresh_store, project, tmp_path / "x.jsonl", format="jsonl")
    line = json.loads((tmp_path / "x.jsonl").read_text("utf-8"))
    assert (line["source"], line["status"], line["extra"]) == ("s", "pending", {"status": "old"})
    assert (line["keyword"], line["counterpart"], line["pair"], line["start"], line["end"]) == (
        "他",
        "她",
        "他/她",
        0,
        1,
    )


def test_extra_columns_do_not_change_the_detected_format(fresh_store: Store, tmp_path: Path) -> None:
    extra = dict.fromkeys((*SLGUSET, *GENERATION, "text"), "她也来了")
    project = project_of(fresh_store, [NewItem("他来了", find("他来了")[0], "a", 1, extra)])
    export_file(fresh_store, project, tmp_path / "x.jsonl", format="jsonl")
    second = create_project(fresh_store, "second")
    assert import_file(fresh_store, second, tmp_path / "x.jsonl").format == "sentences"
    assert [(item.text, item.extra) for item in items(fresh_store, second)] == [("他来了", extra)]


def test_an_export_can_be_imported_next_to_its_origin(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    export_file(fresh_store, sample_project, tmp_path / "x.jsonl", format="jsonl")
    second = create_project(fresh_store, "second")
    assert import_file(fresh_store, second, tmp_path / "x.jsonl").imported == 8
    mine, theirs = list(items(fresh_store, sample_project)), list(items(fresh_store, second))
    assert [entry.text for entry in mine] == [entry.text for entry in theirs]
    assert not {entry.uid for entry in mine} & {entry.uid for entry in theirs}  # public ids are unique in a database


@pytest.mark.parametrize("change", [{"start": 3}, {"end": 2}, {"keyword": "她"}])
def test_a_changed_export_is_detected(
    fresh_store: Store, sample_project: Project, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "x.jsonl"
    export_file(fresh_store, sample_project, path, format="jsonl")
    first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | change), *rest]), "utf-8")
    report = import_file(fresh_store, create_project(fresh_store, "second"), path)
    assert report.imported == 7 and [(error.line, error.reason) for error in report.errors] == [(1, "bad_span")]


@pytest.mark.long
def test_the_development_file_survives_a_round_trip(fresh_store: Store, shared_data: Path, tmp_path: Path) -> None:
    project = create_project(fresh_store, "dev")
    import_file(fresh_store, project, shared_data / "slguset" / "SlguSet_dev.csv")
    for format, kept in (("slguset", released), ("jsonl", everything)):
        path, second = tmp_path / f"x{ENDING[format]}", tmp_path / f"y{ENDING[format]}"
        assert export_file(fresh_store, project, path, format=format).rows == 9899
        with Store.open(tmp_path / f"{format}.db") as other:
            again = create_project(other, "again")
            report = import_file(other, again, path)
            assert (report.rows, report.imported, report.spans["ok"]) == (9899, 9899, 9899)
            assert list(map(kept, items(other, again))) == list(map(kept, items(fresh_store, project)))
            export_file(other, again, second, format=format)
        assert path.read_bytes() == second.read_bytes()
