"""The demo project: own sentences, plausible made-up labels by the real path, work left for the desk."""

import re
from collections import Counter, defaultdict

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo import ANNOTATORS, generation_texts, sentences
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.papers.datasheet import evidence
from evenhand.annotations.projects.projects import annotators, counts, project, projects
from evenhand.annotations.queue.leases import claim
from evenhand.core.errors import NotAllowed
from evenhand.core.guidelines import builtin
from evenhand.core.resources import keyword_pairs, table
from evenhand.core.text.keywords import find, occurrences
from evenhand.core.text.sentences import text_hash

ROWS = table("demo_sentences")
COLUMNS = ("first", "second", "third")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    assert sentences.ensure_demo(path)
    with Store.open(path) as store:
        yield store, project(store, sentences.NAME)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"][:8])
def test_every_demo_sentence_can_be_imported(row):
    assert len(occurrences(row["text"])) == 1  # 男儿 and 女儿红, too, which annotators are to reject
    assert 9 <= len(row["text"]) <= 119  # the lengths of the released file (docs/methods.md#released-file)
    assert row["text"].endswith("。")


def test_every_pair_and_side_occurs():
    results = {(c.pair.name, c.side) for row in ROWS for c in find(row["text"])}
    assert results == {(pair.name, side) for pair in keyword_pairs() for side in ("male", "female")}
    assert len({text_hash(row["text"]) for row in ROWS}) == len(ROWS)


def test_reasons_are_exactly_those_of_the_guideline():
    used = {code for row in ROWS for name in COLUMNS if row[name] != "+" for code in row[name].split(";")}
    assert used == {reason.code for reason in builtin("journal").reasons}


def test_demo_sentences_are_not_in_the_released_file(shared_data):
    released = (shared_data / "slguset" / "SlguSet_dev.csv").read_text(encoding="utf-8")
    assert not [row["text"] for row in ROWS if row["text"][:10] in released]


def test_agreement_is_neither_perfect_nor_random(demo):
    store, project = demo
    choices = defaultdict(list)
    for row in label_rows(store, project):
        choices[row["item"]].append(row["choice"])
    full = [tuple(Counter(choice).values()) for choice in choices.values() if len(choice) == 3]
    unanimous = sum(choices_ == (3,) for choices_ in full) / len(full)
    assert 0.6 < unanimous < 0.9


def test_labels_equal_the_table(demo):
    store, project = demo
    row_of = {row["text"]: row for row in ROWS}
    names = dict(zip(ANNOTATORS, COLUMNS, strict=True))
    for row in label_rows(store, project):
        cell = row_of[row["text"]][names[row["annotator"]]]
        assert (row["choice"], row["reasons"]) == (("accept", []) if cell == "+" else ("reject", cell.split(";")))
        assert row["form_shown"] == project.presentation and row["seconds"] > 0 and not row["after_reveal"]
    assert sum(bool(row["note"]) for row in label_rows(store, project)) > 5


def test_a_third_of_the_items_still_needs_labels(demo):
    store, project = demo
    counted = counts(store, project)
    assert counted.items == len(ROWS)
    assert 0.25 < counted.pending / counted.items < 0.45
    assert counted.accepted > 30 and counted.rejected > 15
    for person, labelled in zip(annotators(store, project), sentences.LABELLED, strict=True):
        assert len(claim(store, project, person, want=200)) == len(ROWS) - labelled


def test_one_label_was_undone_without_a_conflict(demo):
    store, project = demo
    rows = label_rows(store, project, which="all")
    assert len(rows) == sum(sentences.LABELLED) + 2
    assert [row["choice"] for row in rows].count(None) == 1
    assert not any(row["superseded"] for row in rows)


def test_labels_have_plausible_times(demo):
    store, project = demo
    for name in ANNOTATORS:
        times = [row["created"] for row in label_rows(store, project) if row["annotator"] == name]
        assert len(set(times)) > len(times) * 0.9  # not all in the second in which the demo was made


def test_annotators_are_marked_as_made_up_in_both_languages():
    assert all(re.search("虚构.*made up", name) for name in ANNOTATORS)


def test_the_demo_is_made_only_in_a_new_database(tmp_path):
    path = tmp_path / "labels.db"
    Store.open(path).close()
    assert not sentences.ensure_demo(path)  # an existing database, even an empty one, is left alone
    with Store.open(path) as store:
        assert projects(store) == []


def test_a_second_demo_is_refused(demo):
    store, _found = demo
    with pytest.raises(NotAllowed):
        sentences.make_demo(store)


def test_an_interrupted_start_leaves_no_file(tmp_path, monkeypatch):
    def broken(*_args, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(sentences, "store_operations", broken)
    with pytest.raises(KeyboardInterrupt):
        sentences.ensure_demo(tmp_path / "labels.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [sentences.NAME, generation_texts.NAME])
def test_labels_are_younger_than_the_project_and_its_guideline(demo, name):
    store, _project = demo
    made = project(store, name)
    labels = evidence(store, made)
    assert labels["labels"] > 100 and labels["older"] == 0
    assert all(plan["labels"] for plan in labels["plans"])
