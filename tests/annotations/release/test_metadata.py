"""The machine-readable descriptions of a release, read by the validators and libraries of their makers."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.metadata import citation, cited
from evenhand.annotations.types import Mark
from evenhand.core.errors import Refused
from tests.support.generations import generations_project
from tests.support.released_project import everybody_consents, label, ready_project

PASSWORD = "correct horse battery"
HOSTILE = 'A "set": {x}, 男 & <b>\n- y'


@pytest.fixture
def sentences(fresh_store: Store, tmp_path: Path) -> Path:
    """Return the folder of a release of sentences."""
    project = ready_project(fresh_store, 4)
    for who in annotators(fresh_store, project):
        for item in items(fresh_store, project):
            label(fresh_store, project, who, item.uid, "accept")
    made = make_release(fresh_store, project, "1.0", creators=["Curie, Marie", " Lab of\tWords ", ""])
    return write_release(fresh_store, project, made, tmp_path / "set", package=False)


@pytest.fixture
def generations(fresh_store: Store, tmp_path: Path) -> Path:
    """Return the folder of a release of generations with a marked span, whose texts leave encrypted only."""
    project = generations_project(fresh_store, "g", 3)
    project = change_project(fresh_store, project, licence="CC BY 4.0", source_statement="Own texts.")
    for who in annotators(fresh_store, project):
        for number, item in enumerate(items(fresh_store, project)):
            place = item.text.index("he")
            spans = (Mark(place, place + 2, "pronoun"),) if not number else ()
            label(
                fresh_store,
                project,
                who,
                item.uid,
                "misgendering" if spans else "correct",
                extraneous=False,
                spans=spans,
            )
    everybody_consents(fresh_store, project)
    made = make_release(fresh_store, project, "1.0", reason="A test.")
    return write_release(fresh_store, project, made, tmp_path / "set", password=PASSWORD)


def read(folder: Path, name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return data


def test_mlcroissant_finds_no_error_and_reads_the_rows(sentences: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(sentences / "croissant.json"))
    assert dataset.metadata.ctx.issues.report() == ""
    rows = [json.loads(line) for line in (sentences / "data/train.jsonl").read_text(encoding="utf-8").splitlines()]
    found = [
        {
            key.removeprefix("default/"): value.decode() if isinstance(value, bytes) else value
            for key, value in row.items()
        }
        for row in dataset.records("default")
    ]
    assert found == rows and len(rows) == 4
    data = read(sentences, "croissant.json")
    assert data["rai:annotationsPerItem"] == "3" and data["license"].startswith("https://spdx.org/licenses/")
    assert [one["@type"] for one in data["creator"]] == ["sc:Person", "sc:Organization"]
    assert any(text.startswith("Full agreement of") for text in data["rai:dataAnnotationAnalysis"])


@pytest.mark.parametrize("folder", ["sentences", "generations"])
def test_frictionless_finds_sums_sizes_and_columns_right(folder: str, request: pytest.FixtureRequest) -> None:
    import frictionless

    path: Path = request.getfixturevalue(folder)
    report = frictionless.validate(str(path / "datapackage.json"))
    assert report.valid, report.flatten(["message"])
    names = {resource["path"] for resource in read(path, "datapackage.json")["resources"]}
    assert names >= {"labels.csv", "proof.html"} and ("data/train.jsonl" in names) == (folder == "sentences")
    (path / "labels.csv").write_text("changed", encoding="utf-8")
    assert not frictionless.validate(str(path / "datapackage.json")).valid


def test_encrypted_texts_are_not_described_but_are_in_the_archive(generations: Path) -> None:
    import mlcroissant

    dataset = mlcroissant.Dataset(jsonld=str(generations / "croissant.json"))
    assert dataset.metadata.ctx.issues.report() == "" and not read(generations, "croissant.json")["recordSet"]
    listed = {one["contentUrl"] for one in read(generations, "croissant.json")["distribution"]}
    assert all((generations / name).is_file() for name in listed)
    with zipfile.ZipFile(generations / "texts.zip") as archive:
        assert {"data/train.jsonl", "data/train.parquet"} <= set(archive.namelist())


def test_parquet_holds_the_rows_of_the_json_lines(sentences: Path) -> None:
    rows = [json.loads(line) for line in (sentences / "data/train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert pyarrow.parquet.read_table(sentences / "data/train.parquet").to_pylist() == rows


def test_spans_are_web_annotations_of_the_released_labels(generations: Path) -> None:
    page = read(generations, "spans.jsonld")
    assert page["@context"] == "http://www.w3.org/ns/anno.jsonld" and page["type"] == "AnnotationPage"
    lengths = [one["target"]["selector"]["end"] - one["target"]["selector"]["start"] for one in page["items"]]
    assert lengths == [2, 2] and {one["body"]["value"] for one in page["items"]} == {"pronoun"}
    assert len({one["id"] for one in page["items"]}) == 2  # one of each annotator
    assert {one["creator"]["nickname"] for one in page["items"]} == {"A1", "A2"}


def test_a_release_without_spans_has_no_file_of_them(sentences: Path) -> None:
    assert not (sentences / "spans.jsonld").exists()


def test_the_citation_names_the_creators(sentences: Path) -> None:
    cff = yaml.safe_load((sentences / "CITATION.cff").read_text(encoding="utf-8"))
    assert cff["authors"] == [{"family-names": "Curie", "given-names": "Marie"}, {"name": "Lab of Words"}]
    assert (cff["cff-version"], cff["type"], cff["version"]) == ("1.2.0", "dataset", "1.0")
    deposit = read(sentences, ".zenodo.json")
    assert deposit["upload_type"] == "dataset" and deposit["creators"] == [
        {"name": "Curie, Marie"},
        {"name": "Lab of Words"},
    ]


def facts_of(name: str, licence: str, creators: list[str]) -> dict[str, Any]:
    return {
        "project": {"name": name, "licence": licence, "source_statement": ""},
        "release": {"version": "1.0", "created": "2026-01-02T03:04:05Z", "creators": creators},
    }


def test_hostile_names_stay_text_in_the_citation() -> None:
    cff = yaml.safe_load(citation(facts_of(HOSTILE, "Ask us", [])))
    assert cff["title"] == 'A "set": {x}, 男 & <b> - y' and "license" not in cff
    assert cff["authors"] == [{"name": 'Contributors to A "set": {x}, 男 & <b> - y'}]
    assert cited(facts_of("Set", "MIT", ["Curie, Marie", "Lab"])).startswith(
        "@misc{set-1-0, title = {{Set}}, author = {Curie, Marie and {Lab}}"
    )


def test_creators_are_kept_for_the_next_release_and_checked(fresh_store: Store) -> None:
    project = ready_project(fresh_store, 2)
    for who in annotators(fresh_store, project):
        for item in items(fresh_store, project):
            label(fresh_store, project, who, item.uid, "accept")
    make_release(fresh_store, project, "1.0", creators=["Curie, Marie"])
    assert make_release(fresh_store, project, "1.1").facts["release"]["creators"] == ["Curie, Marie"]
    with pytest.raises(Refused, match="exceeds 200 characters"):
        make_release(fresh_store, project, "1.2", creators=["x" * 201])
