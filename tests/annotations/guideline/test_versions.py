"""The built-in guidelines against docs/methods.md#criteria: criteria, codes, keys, both languages."""

import hashlib
import re
from pathlib import Path

import pytest

import evenhand.core.guidelines
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.frontend import blocks, newer_guideline
from evenhand.annotations.guideline.versions import add_guideline, guideline, guidelines
from evenhand.annotations.projects.projects import create_project
from evenhand.core.guidelines import BUILT_IN, VERSIONS, builtin, in_language, recognise

LANGUAGES = ("zh", "en")
FOLDER = Path(evenhand.core.guidelines.__file__).parent
# SHA-256 of every text that shipped (first ten digits), by folder. Projects use these texts: a file named here never
# changes. Before a present text is changed, all six go into the next folder of `editions`, and their digits here.
SHIPPED = {
    "editions/1": {
        "conference.en": "350f2ea876",
        "conference.zh": "14aad43ce0",
        "generations.en": "bb9ba200f9",
        "generations.zh": "f3a86baf1f",
        "journal.en": "cdb2da1bcb",
        "journal.zh": "9dc1106ebc",
    },
    ".": {
        "conference.en": "9346d21f76",
        "conference.zh": "e2ff25ba53",
        "generations.en": "e6acb6caa5",
        "generations.zh": "4bbc892f09",
        "journal.en": "cdbba5f03d",
        "journal.zh": "c41208b72a",
        "preference.en": "492633b93e",
        "preference.zh": "086c74afc0",
    },
}
EDITIONS = [(folder, name) for folder in SHIPPED for name in BUILT_IN]
FURTHER = {"6": "generic", "7": "both_forms", "8": "not_person", "9": "distressing"}
CRITERIA = {
    "journal": {"1": "not_plausible", "2": "not_opposed", "3": "gender_term", "4": "biological", "5": "name"},
    "conference": {"1": "not_opposed", "2": "name", "3": "gender_term", "4": "biological"},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_reasons_have_the_number_of_their_criterion(version):
    assert {r.key: r.code for r in builtin(version, "zh").reasons} == CRITERIA[version] | FURTHER
    assert [r.key for r in builtin(version, "zh").reasons] == sorted(CRITERIA[version] | FURTHER)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_numbers_five_criteria(version, language):
    text = builtin(version, language).text
    assert re.findall(r"^(\d)\. ", text, re.M) == list("12345")
    assert len(re.findall(r"^- \*\*", text, re.M)) == len(FURTHER)


@pytest.mark.parametrize(
    ("version", "number", "words"),
    [
        ("journal", 1, ("填", "通顺")),
        ("journal", 3, ("兄弟俩",)),
        ("journal", 4, ("经期", "孕期")),
        ("journal", 5, ("人名",)),
        ("conference", 1, ("男儿",)),
        ("conference", 2, ("老马", "小明")),
        ("conference", 3, ("兄弟俩",)),
        ("conference", 4, ("经期", "孕期")),
        ("conference", 5, ("比喻", "保留")),
    ],
)
def test_each_criterion_has_the_words_of_the_papers(version, number, words):
    line = re.search(rf"^{number}\. .*$", builtin(version, "zh").text, re.M)
    assert line and all(word in line[0] for word in words)


def test_only_the_conference_version_speaks_of_metaphor():
    assert "metaphor" in builtin("conference", "en").text.lower()
    assert "metaphor" not in builtin("journal", "en").text.lower()


@pytest.mark.parametrize("version", VERSIONS)
def test_choices_and_reasons_are_labelled_in_both_languages(version):
    guideline = builtin(version, "zh")
    assert [(c.code, c.key) for c in guideline.choices] == [("accept", "j"), ("reject", "k")]
    for option in guideline.choices + guideline.reasons:
        assert re.search(r"[\u4e00-\u9fff]", option.zh)
        assert re.search(r"[A-Za-z]", option.en)


def test_a_code_has_one_meaning_in_both_versions():
    shared = {r.code: (r.zh, r.en) for r in builtin("journal", "zh").reasons}
    for reason in builtin("conference", "zh").reasons:
        assert shared[reason.code] == (reason.zh, reason.en)


def shipped(folder: str, name: str, language: str) -> str:
    return (FOLDER / folder / f"{name}.{language}.md").read_text(encoding="utf-8")


def test_no_text_that_shipped_is_lost_or_changed() -> None:
    results = {
        folder: {
            path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:10]
            for path in sorted((FOLDER / folder).glob("*.md"))
        }
        for folder in SHIPPED
    }
    assert results == SHIPPED
    assert {f"editions/{folder.name}" for folder in (FOLDER / "editions").iterdir()} == set(SHIPPED) - {"."}


@pytest.mark.parametrize(("folder", "name"), EDITIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_that_shipped_is_recognised_and_read_in_its_own_edition(folder, name, language):
    text = shipped(folder, name, language)
    for stored in (text, text + "\n", text.strip(), text.replace("\n", "\r\n"), text.replace("\n", "  \n")):
        assert recognise(stored) == name
        for reader in LANGUAGES:
            assert in_language(stored, reader) == shipped(folder, name, reader)


def test_a_project_keeps_its_original_guideline_text(fresh_store: Store) -> None:
    """A database from before the texts were reworded: its desk shows the old text, in the reader's language."""
    old = shipped("editions/1", "conference", "zh")
    project = create_project(fresh_store, "old", guideline_text=old)
    assert guideline(fresh_store, project).text == old != builtin("conference", "zh").text
    first = guideline(fresh_store, project)
    add_guideline(fresh_store, project, old + "\n", first.choices, first.reasons, changes="only an end of line")
    shown = newer_guideline(project, guidelines(fresh_store, project), 1, "en")
    assert shown is not None
    expected = blocks(shipped("editions/1", "conference", "en"))
    text = [{key: part for key, part in block.items() if key != "keys"} for block in shown["guideline"]["blocks"]]
    # The desk writes keys next to points that are reasons, and lists the other reasons below.
    assert text[: len(expected)] == expected and "keys" in shown["guideline"]["blocks"][-1]


def test_a_changed_text_is_not_translated():
    text = builtin("journal", "zh").text.replace("保留", "留下", 1)
    assert recognise(text) is None
    assert in_language(text, "en") == text


def test_other_languages_get_the_english_guideline():
    assert builtin("journal", "eu").language == "en"
