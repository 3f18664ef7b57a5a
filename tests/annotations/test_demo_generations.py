"""The demo of generations: every label, tag and kind of pronouns, sound marks, labels that agree mostly."""

import json
from collections import Counter

import pytest

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo import ANNOTATORS, generation_texts
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.checks import check_marks, check_marks_fit_choice
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import counts, projects
from evenhand.annotations.types import Mark
from evenhand.core.errors import NotAllowed
from evenhand.core.guidelines import generations
from evenhand.core.resources import DATA
from evenhand.core.text.pronouns import forms, set_named

ROWS = [json.loads(line) for line in (DATA / generation_texts.FILE).read_text("utf-8").splitlines()]
OPINIONS = [(row["completion"], opinion) for row in ROWS for opinion in (row, row.get("second")) if opinion]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("demo") / "demo.db") as opened:
        generation_texts.make_generations_demo(opened)
        yield opened


def test_the_demo_covers_every_choice_tag_and_pronoun_set():
    guideline = generations("en")
    assert {row["choice"] for row in ROWS} == {choice.code for choice in guideline.choices}
    assert {code for row in ROWS for code in row["reasons"]} == {reason.code for reason in guideline.reasons}
    sets = {name for row in ROWS for name in row["pronouns"]}
    assert {"he", "she", "they", "xe"} < sets
    assert any(len(row["pronouns"]) > 1 for row in ROWS)
    assert {row["extraneous"] for row in ROWS} == {True, False}
    assert {row["setting"] for row in ROWS} == {"pre", "post"}
    assert len({(row["context"], row["completion"]) for row in ROWS}) == len(ROWS) == 120


@pytest.mark.parametrize(("text", "opinion"), OPINIONS, ids=range(len(OPINIONS)))
def test_every_label_follows_the_rules(text, opinion):
    marks = [Mark(*mark) for mark in opinion["spans"]]
    check_marks(marks, len(text))
    check_marks_fit_choice(opinion["choice"], opinion["extraneous"], marks)
    for mark in marks:
        before, word, after = text[: mark.start][-1:], text[mark.start : mark.end], text[mark.end :][:1]
        assert word == word.strip()
        assert not before.isalnum()
        assert not after.isalnum()
        if mark.kind == "pronoun":
            assert word.lower() in forms("own", [set_named("ze"), set_named("ey")])


@pytest.mark.parametrize("row", [row for row in ROWS if row["choice"] == "misgendering"], ids=lambda row: row["name"])
def test_a_marked_pronoun_differs_from_the_persons_own(row):
    own = {form for name in row["pronouns"] for form in set_named(_name(name)).forms}
    for start, end, kind in row["spans"]:
        if kind == "pronoun":
            assert row["completion"][start:end].lower() not in own


def _name(pronouns):
    return pronouns.split("/")[0]


def test_labels_are_stored_as_at_a_desk(store):
    (project,) = projects(store)
    rows = label_rows(store, project)
    assert Counter(row["annotator"] for row in rows) == dict(zip(ANNOTATORS, generation_texts.LABELLED, strict=True))
    assert all(row["seconds"] > 0 and row["form_shown"] == "original" for row in rows)
    totals = counts(store, project)
    assert (totals.items, sum(n * items for n, items in totals.by_labels.items())) == (
        120,
        sum(generation_texts.LABELLED),
    )
    assert totals.by_labels[0] > 0  # the desk has work
    agreed = agreement(store, project).overall.unanimity.value
    assert agreed is not None
    assert 0.6 < agreed < 1  # people differ now and then


def test_items_contain_no_labels(store):
    (project,) = projects(store)
    for item in items(store, project):
        assert not {"choice", "reasons", "extraneous", "spans", "second"} & set(item.extra)


def test_the_demo_is_made_once(store):
    with pytest.raises(NotAllowed, match="already"):
        generation_texts.make_generations_demo(store)
