"""Free tags: what is one, whose are offered, how they are counted; over the wire, in files, in a desk's history."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_lines
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.files.label_files import label_rows_in, open_labels
from evenhand.annotations.guideline.drafts import (
    MOST_TAGS,
    bare_tag,
    clean_tags,
    items_with_tags,
    own_tags,
    similar_tags,
    tags,
)
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_conflicts, own_decisions
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import Refused
from tests.support.desk_by_http import RouteDesk as Desk
from tests.support.projects import decide, filled_project

NOW = 1_000_000.0


def tagged(store: Store, project: Project, person: Annotator, *said: tuple[str, ...]) -> None:
    """Let the person reject the next items of the pilot with tags and nothing else."""
    items = claim(store, project, person, want=len(said), now=NOW)
    operations = [decide(item, "reject", reasons=(), tags=tags) for item, tags in zip(items, said, strict=True)]
    assert all(answer.stored for answer in store_operations(store, project, person, operations, now=NOW))


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["  a  tag ", "a tag", ""], ("a tag",)),
        (["Ａ"], ("Ａ",)),
        (["e\u0301"], ("é",)),
        (["一", "二"], ("一", "二")),
    ],
)
def test_tags_are_cleaned(typed: list[str], kept: tuple[str, ...]) -> None:
    assert clean_tags(typed) == kept


@pytest.mark.parametrize(
    "typed", [["a;b"], ["x" * 61], ["a\x07b"], [f"t{n}" for n in range(MOST_TAGS + 1)], ["\ud800"]]
)
def test_invalid_tags_are_refused(typed: list[str]) -> None:
    with pytest.raises(Refused):
        clean_tags(typed)


@given(
    st.lists(
        st.text(st.characters(exclude_characters=";", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=20),
        max_size=8,
    )
)
def test_cleaning_is_idempotent(typed: list[str]) -> None:
    try:
        once = clean_tags(typed)
    except Refused:
        return
    assert clean_tags(once) == once


@pytest.mark.parametrize(
    ("tag", "is_bare"),
    [
        ("Too vague!", "toovague"),
        ("Ｔｏｏ　ｖａｇｕｅ", "toovague"),
        ("“称呼”。", "称呼"),
        ("!!!", "!!!"),
        ("C++", "c++"),
    ],
)
def test_tags_are_compared_without_case_width_and_punctuation(tag: str, is_bare: str) -> None:
    assert bare_tag(tag) == is_bare


def test_similar_tags_are_grouped() -> None:
    texts = ["too vague", "生理性别", "Too vague.", "too vagua", "亲属", "亲戚", "生理 性别", "name", "names in it"]
    assert similar_tags(texts) == [("too vague", "Too vague.", "too vagua"), ("生理性别", "生理 性别")]


def test_only_tags_of_current_labels_are_counted(fresh_store: Store) -> None:
    project, (ada, bo, _) = filled_project(fresh_store, 12)
    start_pilot(fresh_store, project, 4)
    tagged(fresh_store, project, ada, ("old", "kin"), ("old",), ("kin",))
    tagged(fresh_store, project, bo, ("Old!",), ("old",))
    results = {tag.text: (tag.labels, tag.items, tag.annotators) for tag in tags(fresh_store, project)}
    assert results["kin"] == (2, 2, 1) and results["Old!"] == (1, 1, 1)
    assert results["old"][0] == 3 and results["old"][2] == 2
    together = tags(fresh_store, project, together=True)
    assert (together[0].text, together[0].labels, set(together[0].spellings)) == ("old", 4, {"old", "Old!"})
    assert sum(len(tagged_items) for _, tagged_items in items_with_tags(fresh_store, project, ["old", "Old!"])) == 4
    newest = own_decisions(fresh_store, project, ada)[0]
    store_operations(
        fresh_store, project, ada, [decide(newest.item, None, base=newest.op_id)], now=NOW
    )  # the label with kin is undone
    assert {tag.text: tag.labels for tag in tags(fresh_store, project)}["kin"] == 1


def test_only_own_tags_are_offered(fresh_store: Store) -> None:
    project, (ada, bo, _) = filled_project(fresh_store, 12)
    start_pilot(fresh_store, project, 4)
    tagged(fresh_store, project, ada, ("b",), ("a", "b"))
    tagged(fresh_store, project, bo, ("secret",))
    assert own_tags(fresh_store, project, ada) == ["b", "a"] and own_tags(fresh_store, project, bo) == ["secret"]


def test_a_tag_suffices_as_a_reason_and_is_sent_again(fresh_store: Store) -> None:
    project, (ada, *_) = filled_project(fresh_store, 6)
    start_pilot(fresh_store, project, 3)
    first, second, third = claim(fresh_store, project, ada, now=NOW)
    answers = store_operations(
        fresh_store, project, ada,
        [decide(first, "reject", reasons=()), decide(second, "reject", reasons=(), tags=("  ",)),
         decide(third, "reject", reasons=(), tags=("要看上下文", "要看上下文"))],
        now=NOW,
    )  # fmt: skip
    assert [answer.stored for answer in answers] == [False, False, True]
    (decision,) = own_decisions(fresh_store, project, ada, search="上下文")
    assert decision.tags == ("要看上下文",)
    other = decide(third, "accept", desk="other", base="unknown", tags=("late",))
    assert store_operations(fresh_store, project, ada, [other], now=NOW)[0].conflict
    assert own_conflicts(fresh_store, project, ada)[0].tags == ("late",)


def test_tags_survive_export_and_import(fresh_store: Store, tmp_path: Any) -> None:
    project, (ada, *_) = filled_project(fresh_store, 6)
    start_pilot(fresh_store, project, 2)
    tagged(fresh_store, project, ada, ("=1+1", "亲属 关系"))
    for form, name in (("labels", "labels.csv"), ("labels-jsonl", "labels.jsonl")):
        written = "".join(export_lines(fresh_store, project, export_options(form, names=True)))
        (tmp_path / name).write_text(written, encoding="utf-8")
        (row,) = label_rows_in(open_labels(tmp_path / name))
        assert row.tags == ("=1+1", "亲属 关系")  # type: ignore[union-attr]
    assert label_rows(fresh_store, project)[0]["tags"] == ["=1+1", "亲属 关系"]


def test_the_desk_stores_tags_and_gets_its_own(client: TestClient, fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 12)
    before = Desk(client, fresh_store, project, "Ada").sync(want=3, hello=5)
    assert before["pilot"] is None and before["tags"] == []
    start_pilot(fresh_store, project, 4)
    ada, bo = (Desk(client, fresh_store, project, name) for name in ("Ada", "Bo"))
    item = ada.sync(want=5)["items"][0]["id"]
    reply = ada.sync(ada.op(item, "reject", tags=["old", " old "]), hello=5)
    assert reply["pilot"] == {"number": 1, "labelled": 1, "items": 4}
    assert reply["tags"] == ["old"] and reply["history"][0]["tags"] == ["old"]
    result = bo.sync(want=5, hello=5)
    assert result["tags"] == [] and "old" not in json.dumps(result)
    for wrong in ("old", [1], {"a": 1}):
        assert ada.sync(ada.op(item, "accept", tags=wrong))["answers"][0]["result"] == "refused"
