"""The card's columns are those of the data files, since the `datasets` library loads the files by the card."""

import json
from typing import Any

import pytest
import yaml

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import annotators, change_project
from evenhand.annotations.release.dataset_card import licence_id
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_files
from evenhand.annotations.types import Mark, Project
from tests.support.generations import generations_project
from tests.support.released_project import everybody_consents, label, ready_project

TYPES = {"string": str, "int64": int, "bool": bool}


def fits(value: Any, feature: dict[str, Any] | str) -> bool:
    """Return True if a value of a row has the type of a feature of the card; null fits everywhere."""
    if value is None:
        return True
    if isinstance(feature, str):
        return type(value) is TYPES[feature]
    if isinstance(feature, list):
        return set(value) == {row["name"] for row in feature} and all(fits(value[row["name"]], row) for row in feature)
    if "list" in feature:
        return isinstance(value, list) and all(fits(part, feature["list"]) for part in value)
    return fits(value, feature.get("struct") or feature["dtype"])


def loaded(store: Store, project: Project, version: str = "1.0") -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every part after a check that each has the types of the card."""
    files = release_files(store, make_release(store, project, version, author="Vera"))
    card = yaml.safe_load(files["README.md"].decode().split("---\n")[1])
    columns = {config["config_name"]: config["features"] for config in card["dataset_info"]}
    assert [config["config_name"] for config in card["configs"]] == list(columns)
    results = {}
    for one in card["configs"]:
        path = one["data_files"][0]["path"]
        rows = [json.loads(line) for line in files[path].decode().splitlines()]
        assert rows and all(fits(row, columns[one["config_name"]]) for row in rows), path
        results[one["config_name"]] = rows
    return results


def test_the_card_of_sentences_describes_its_files(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 4)
    first, *rest = items(fresh_store, made)
    for who in annotators(fresh_store, made):
        for entry in rest:
            label(fresh_store, made, who, entry.uid, "accept")
    assert list(loaded(fresh_store, made)) == ["default"]  # nothing is hard, and the library refuses an empty file
    for number, who in enumerate(annotators(fresh_store, made)):
        label(fresh_store, made, who, first.uid, "accept" if number else "reject", reasons=() if number else ("name",))
    rows = loaded(fresh_store, made, "1.1")
    assert [row["why_here"] for row in rows["hard_cases"]] == ["split"] and rows["hard_cases"][0]["settlement"] is None


@pytest.mark.parametrize("open_text", [True, False])
def test_the_card_of_generations_describes_its_files(fresh_store: Store, open_text: bool) -> None:
    made = generations_project(fresh_store, "g", 3)
    made = change_project(
        fresh_store, made, open_text=open_text, licence="CC BY 4.0", source_statement="Own texts, written for tests."
    )
    first, second = annotators(fresh_store, made)
    for number, item in enumerate(items(fresh_store, made)):
        label(fresh_store, made, first, item.uid, "correct", extraneous=False)
        place = item.text.index("he")
        marks = (Mark(place, place + 2, "pronoun"),)
        if number:
            label(fresh_store, made, second, item.uid, "correct", extraneous=False)
        else:
            label(fresh_store, made, second, item.uid, "misgendering", extraneous=False, spans=marks)
    everybody_consents(fresh_store, made)
    rows = loaded(fresh_store, made)
    assert ("default" in rows) == open_text  # what leaves encrypted only is not there for the library
    assert not open_text or (len(rows["default"]) == 2 and all("canary" in row for row in rows["default"]))
    (case,) = rows["hard_cases"]
    assert ("text" in case) == ("canary" in case) == open_text
    assert [len(label_["spans"]) for label_ in case["labels"]] == [0, 1]
    assert case["labels"][1]["spans"][0]["kind"] == "pronoun"


@pytest.mark.parametrize(
    ("licence", "known"),
    [("CC BY 4.0", "cc-by-4.0"), ("cc-by-sa-4.0", "cc-by-sa-4.0"), ("MIT", "mit"), ("for my friends", None)],
)
def test_known_licences_get_their_hub_id(licence: str, known: str | None) -> None:
    assert licence_id(licence) == known


@pytest.mark.parametrize("kind", ["sentences", "generations"])
def test_the_card_has_equal_contents_in_both_languages(fresh_store: Store, kind: str) -> None:
    made = ready_project(fresh_store, 3) if kind == "sentences" else generations_project(fresh_store, "g", 3)
    if kind == "generations":
        rights = {"licence": "for my friends", "source_statement": "Own *texts*, <b>written</b> for tests."}
        made = change_project(fresh_store, made, **rights)
    for who in annotators(fresh_store, made):
        for item in items(fresh_store, made):
            label(fresh_store, made, who, item.uid, "accept" if kind == "sentences" else "correct")
    release = make_release(fresh_store, made, "1.0")
    text = release_files(fresh_store, release)["README.md"].decode()
    english, chinese = text.split("---\n", 2)[2].split("（中文）")
    for part, kept in ((english, "Items reviewed: 3; items accepted: 3"), (chinese, "已标注 3 条，保留 3 条")):
        assert kept in part and release.hash in part and "evenhand-canary" in part and "<b>" not in part
        assert ("texts.zip" in part) == (kind == "generations")
    assert ("load_dataset" in english) == ("load_dataset" in chinese) == (kind == "sentences")
    assert "数据说明，英文" in chinese and "data sheet, English" in english
