"""Import of sentences and labels from rows in memory."""

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.other_tools.import_tasks import import_rows
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile

TEXTS = [("a", "他在学校。"), ("b", "她是医生。"), ("c", "今天下雨。"), ("d", None)]


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return create_project(fresh_store, "rows", per_item=2)


def label(item: str, annotator: str, choice: str, **more: object) -> dict[str, object]:
    return {"item": item, "annotator": annotator, "choice": choice} | more


def labelled_texts(store: Store) -> list[str]:
    return [text for (text,) in store.db.execute("SELECT text FROM label JOIN item ON item.id = label.item")]


def test_rows_become_items_and_labels(fresh_store: Store, project: Project) -> None:
    given = [label(item, who, word) for item, word in (("a", "keep"), ("b", "拒绝")) for who in ("Ada", "7")]
    result = import_rows(fresh_store, project, TEXTS, [*given, label("c", "Ada", "accept")])
    assert [(bad.line, bad.reason) for bad in result.left_out] == [(3, "no_keyword"), (4, "no_text")]
    assert (result.labels.imported, result.labels.rejected) == (4, 0)
    assert [(item.text, item.status) for item in items(fresh_store, project)] == [
        (TEXTS[0][1], "accepted"), (TEXTS[1][1], "rejected"),
    ]  # fmt: skip
    names = {name for (name,) in fresh_store.db.execute("SELECT name FROM annotator")}
    assert names >= {"Ada", "user 7"}
    # No other program labelled them.
    assert fresh_store.db.execute("SELECT DISTINCT program, file FROM label_file").fetchall() == [("", "rows")]


def test_an_unmapped_choice_is_listed_with_its_row(fresh_store: Store, project: Project) -> None:
    result = import_rows(fresh_store, project, TEXTS, [label("a", "Ada", "accept"), label("b", "Ada", "maybe")])
    assert [(bad.line, bad.reason) for bad in result.labels.errors] == [(2, "unknown_choice")]
    assert result.labels.imported == 1


def test_a_label_of_an_unknown_sentence_refuses_the_import(fresh_store: Store, project: Project) -> None:
    with pytest.raises(BadFile, match="not among the sentences: x"):
        import_rows(fresh_store, project, TEXTS, [label("x", "Ada", "accept")])
    assert not list(items(fresh_store, project))


def test_labels_of_a_duplicate_key_go_to_the_first_sentence(fresh_store: Store, project: Project) -> None:
    import_rows(fresh_store, project, [("a", TEXTS[0][1]), ("a", TEXTS[1][1])], [label("a", "Ada", "accept")])
    assert [item.status for item in items(fresh_store, project)] == ["pending", "pending"]
    assert labelled_texts(fresh_store) == [TEXTS[0][1]]


def test_a_repeated_sentence_is_one_item(fresh_store: Store, project: Project) -> None:
    twice = [("a", TEXTS[0][1]), ("b", TEXTS[0][1])]
    import_rows(fresh_store, project, twice, [label("a", "Ada", "accept"), label("b", "Bo", "accept", note="same")])
    (item,) = items(fresh_store, project)
    assert labelled_texts(fresh_store) == [item.text, item.text]
    assert fresh_store.db.execute("SELECT note FROM label ORDER BY id").fetchall() == [("",), ("same",)]
