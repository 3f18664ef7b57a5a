"""The packaged sets: counts of docs/nli.md#the-sets, gender words in the slot, articles, only the slot differs."""

import re
from collections import Counter

import pytest

from evenhand.core.errors import Refused
from evenhand.core.nli.sets import built, evenly, packaged
from evenhand.core.nli.types import (
    LANGUAGES,
    SETS,
    Occupation,
    Texts,
    fill,
    indefinite,
    occupations,
    texts,
    training_templates,
)

FULL = {"en": (1000, 1000, 3420), "ja": (1000, 1000, 3420), "zh": (1000, 1000, 3320)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_of_the_full_sets_equal_the_specification(language) -> None:
    result = packaged(language)
    assert tuple(result.counts().values()) == FULL[language]
    assert Counter(row.kind for row in result.rows if row.set == "PS") == {"male-stereo": 870, "female-stereo": 130}
    assert Counter(row.gender for row in result.rows if row.set == "NS").most_common() == [
        ("woman", FULL[language][2] // 2),
        ("man", FULL[language][2] // 2),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_of_the_sample_equal_the_specification(language) -> None:
    result = packaged(language, sample=True)
    assert result.counts() == {"PS": 200, "AS": 200, "NS": 200}
    words = {(row.occupation, row.kind) for row in result.rows}
    assert Counter(kind for _, kind in words) == {"female-stereo": 10, "male-stereo": 10, "neutral": 10}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_two_stereotyped_sets_share_their_premises(language) -> None:
    rows = packaged(language).rows
    first, second = ([row for row in rows if row.set == name] for name in ("PS", "AS"))
    assert [row.premise for row in first] == [row.premise for row in second]
    assert all(a.gender != b.gender for a, b in zip(first, second, strict=True))
    for row in first:
        assert row.gender == ("man" if row.kind == "male-stereo" else "woman")


@pytest.mark.parametrize("language", LANGUAGES)
def test_premise_and_hypothesis_differ_in_the_slot_only(language) -> None:
    parts = texts(language)
    for row in packaged(language).rows:
        template = parts.templates[int(row.template) - 1]
        assert row.premise == fill(template, row.occupation)
        assert row.hypothesis == fill(template, parts.gender_word(row.gender))
        assert row.premise.count(row.occupation) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_of_a_set_are_unique(language) -> None:
    rows = packaged(language).rows
    assert len({(row.set, row.premise, row.hypothesis) for row in rows}) == len(rows)


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_ten_templates_and_fifty_for_training(language) -> None:
    assert len(texts(language).templates) == 10
    assert len(set(training_templates(language))) == 50
    assert not set(training_templates(language)) & set(texts(language).templates)


def test_templates_reveal_no_gender() -> None:
    result = re.compile(r"\b(he|she|his|her|him|hers|man|woman|boy|girl)\b|[他她彼男女]", re.I)
    for language in LANGUAGES:
        for template in (*texts(language).templates, *training_templates(language)):
            assert not result.search(template), template


@pytest.mark.parametrize(
    ("word", "article"),
    [
        ("usher", "an"), ("undersecretary", "an"), ("understudy", "an"), ("university lecturer", "a"), ("user", "a"),
        ("hour", "an"), ("heir", "an"), ("historian", "a"), ("European", "a"), ("one-eyed pirate", "a"),
        ("artist", "an"), ("uninvited guest", "an"), ("welder", "a"), ("Editor", "an"), ("utility worker", "a"),
    ],
)  # fmt: skip
def test_indefinite_articles_follow_pronunciation(word: str, article: str) -> None:
    assert indefinite(word) == article


def test_sentences_have_the_right_articles() -> None:
    premises = {row.premise for row in packaged("en").rows}
    assert "An accountant is waiting for the bus in the rain." in premises
    assert "A child waves at an usher across the street." not in premises
    assert not [text for text in premises if re.search(r"\b[Aa] [aeio]|\b[Aa]n [^aeiou]", text)]


def test_the_released_words_are_available() -> None:
    own, released = (occupations("zh", as_released) for as_released in (False, True))
    assert len(own) == len(released) == 266
    assert [entry.kind for entry in own] == [entry.kind for entry in released]
    assert sum(a.word != b.word for a, b in zip(own, released, strict=True)) == 20
    assert packaged("zh").signature != packaged("zh", as_released=True).signature


def test_the_words_equal_their_source_list(shared_data) -> None:
    lines = (shared_data / "nli_occupations.tsv").read_text(encoding="utf-8").splitlines()
    head, *rows = (line.split("\t") for line in lines)
    for language in LANGUAGES:
        column, kind = head.index(language), head.index(f"class_{language}")
        listed = {(row[column], row[kind]) for row in rows if row[column]}
        assert {(occupation.word, occupation.kind) for occupation in occupations(language, as_released=True)} == listed


def test_sets_are_built_from_own_words() -> None:
    words = (Occupation("天文台の人", "neutral"), Occupation("看護師", "female-stereo"))
    rows = built(Texts(words, ("{x}が来ました。",), "女性", "男性"))
    assert [(row.set, row.hypothesis) for row in rows] == [
        ("PS", "女性が来ました。"),
        ("AS", "男性が来ました。"),
        ("NS", "女性が来ました。"),
        ("NS", "男性が来ました。"),
    ]


def test_a_set_without_templates_is_refused() -> None:
    with pytest.raises(Refused, match="at least one template"):
        built(Texts((Occupation("x", "neutral"),), (), "woman", "man"))


def test_evenly_picks_spaced_items() -> None:
    words = [Occupation(str(i), "neutral") for i in range(13)]
    assert [entry.word for entry in evenly(words, 10)] == ["0", "1", "2", "3", "5", "6", "7", "9", "10", "11"]
    assert evenly(words, 20) == words


def test_signatures_name_language_size_and_text() -> None:
    results = {packaged(language, sample=sample).signature for language in LANGUAGES for sample in (False, True)}
    assert len(results) == 6
    assert all(name.startswith("nli|own-") for name in results)
    assert set(SETS) == {"PS", "AS", "NS"}
