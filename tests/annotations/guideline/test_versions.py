"""The built-in guidelines against SPEC 1.4: criteria, codes, keys, both languages."""

import re

import pytest

from core.guidelines import VERSIONS, builtin, in_language, recognise

LANGUAGES = ("zh", "en")
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
def test_text_numbers_five_criteria(version, language):
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
def test_criterion_says_what_the_papers_say(version, number, words):
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


def test_a_code_means_the_same_in_both_versions():
    shared = {r.code: (r.zh, r.en) for r in builtin("journal", "zh").reasons}
    for reason in builtin("conference", "zh").reasons:
        assert shared[reason.code] == (reason.zh, reason.en)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_builtin_text_is_recognised_and_translated(version, language):
    text = builtin(version, language).text
    assert recognise(text + "\n") == version
    for reader in LANGUAGES:
        assert in_language(text, reader) == builtin(version, reader).text


def test_a_changed_text_stays_as_it_is():
    text = builtin("journal", "zh").text.replace("保留", "留下", 1)
    assert recognise(text) is None
    assert in_language(text, "en") == text


def test_other_languages_read_english():
    assert builtin("journal", "eu").language == "en"
