"""A covered word stays covered in everything that its annotator is sent or shown, until its label cannot be undone."""

import json
import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.own import UNDOABLE, covered_labels
from evenhand.annotations.projects.projects import annotator, change_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.record.entries import Entry, RecordQuery, entries, every_entry
from evenhand.annotations.record.files import record_csv, record_json
from evenhand.annotations.types import Project
from tests.support.desk_by_http import RouteDesk
from tests.support.projects import filled_project

WORDS = ("女儿", "儿子")


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return filled_project(fresh_store, UNDOABLE + 20, words=WORDS)[0]


@pytest.fixture
def desk(client: TestClient, fresh_store: Store, project: Project) -> RouteDesk:
    return RouteDesk(client, fresh_store, project, "Ada")


def label(desk: RouteDesk, number: int) -> list[dict[str, Any]]:
    """Keep the next items; returns their operations."""
    made = [desk.op(item["id"], "accept", base=item["base"]) for item in desk.sync(want=number)["items"]]
    assert [answer["result"] for answer in desk.sync(*made)["answers"]] == ["acked"] * number
    return made


def says(value: Any, *words: str) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return any(word in text for word in words)


def test_an_item_is_sent_without_its_word_and_side(desk: RouteDesk) -> None:
    reply = desk.sync(want=40)
    for item in reply["items"]:
        words = item.pop("words")
        assert (words, item.pop("pair"), item["side"], item["counterpart"]) == (["儿子", "女儿"], "儿子/女儿", "", None)
        assert item["covered"] and not says(item, *WORDS, "male")
    uncovered = change_project(desk.store, desk.project, presentation="original")
    (plain, *_) = RouteDesk(desk.client, desk.store, uncovered, "Ada").sync(want=1)["items"]
    assert says(plain["text"], *WORDS) and plain["side"] and "covered" not in plain


def test_the_bars_by_pair_move_when_a_label_can_no_longer_be_undone(desk: RouteDesk) -> None:
    label(desk, 3)
    progress = desk.sync()["progress"]
    assert progress["labelled"] == 3
    assert [(cell["labelled"], cell["accepted"]) for cell in progress["cells"]] == [(0, 0)] * 2
    label(desk, UNDOABLE)
    cells = desk.sync()["progress"]["cells"]
    assert [sum(cell[key] for cell in cells) for key in ("labelled", "accepted")] == [3, 3]


def test_a_search_does_not_find_a_covered_word(desk: RouteDesk) -> None:
    made = label(desk, UNDOABLE + 2)
    results = {word: desk.post("history", {"search": word, "limit": 100}).json()["history"] for word in WORDS}
    assert {hit["item"]["id"] for hits in results.values() for hit in hits} == {row["item"] for row in made[:2]}
    for word, hits in results.items():
        assert all(word in hit["item"]["text"] and "covered" not in hit["item"] for hit in hits)
    past = {event["item"]["id"]: event for event in desk.sync(hello=100)["history"]}
    covered = [past[row["item"]] for row in made[2:]]
    assert [row["ago"] for row in covered] == list(range(UNDOABLE - 1, -1, -1))
    assert not any(says(row["item"]["text"], *WORDS) or row["item"]["side"] for row in covered)
    part = covered[0]["item"]["text"].partition("▢")[0]
    assert len(desk.post("history", {"search": part, "limit": 9}).json()["history"]) == 1  # the rest is searched
    newest, oldest = (desk.post("item", {"item": made[n]["item"]}).json()["decision"]["item"] for n in (-1, 0))
    assert (newest["covered"], newest["side"]) == (True, "")
    assert says(oldest["text"], *WORDS)


def test_a_word_past_the_undo_history_stays_uncovered(desk: RouteDesk) -> None:
    who = annotator(desk.store, desk.project, "Ada")

    def first_covered() -> int:
        covered = covered_labels(desk.store, desk.project, who)
        assert covered is not None
        return covered.first

    made = label(desk, UNDOABLE + 1)
    before = first_covered()
    assert before > 0
    desk.sync(*(desk.op(row["item"], None, base=row["op"]) for row in made[:-4:-1]))
    assert first_covered() == before
    label(desk, 5)
    assert first_covered() > before


def entry_of(desk: RouteDesk, item: str) -> Entry:
    who = annotator(desk.store, desk.project, "Ada")
    return next(entry for entry in every_entry(desk.store, desk.project, who) if entry.uid == item)


def test_the_own_record_covers_labels_that_can_be_undone(desk: RouteDesk) -> None:
    store, project, who = desk.store, desk.project, annotator(desk.store, desk.project, "Ada")
    made = label(desk, UNDOABLE + 1)
    skipped, undone = (item["id"] for item in desk.sync(want=2)["items"])
    once = desk.op(undone, "accept")
    desk.sync(desk.op(skipped, "skip"), once, desk.op(undone, None, base=once["op"]))
    old = [row["item"] for row in made[:2]]  # the undone label was one more
    for uid in (made[2]["item"], made[-1]["item"], skipped, undone):
        entry = entry_of(desk, uid)
        assert entry.covered and entry.item is not None
        assert (entry.item.side, entry.item.keyword, says(entry.item.text, *WORDS)) == ("", None, False)
    assert all(not entry_of(desk, uid).covered and says(entry_of(desk, uid).item.text, *WORDS) for uid in old)  # type: ignore[union-attr]
    results = [entries(store, project, who, RecordQuery(search=word)).entries for word in WORDS]
    assert {hit.uid for hits in results for hit in hits} == set(old)
    texts = {item.uid: item.text for item in items(store, project)}
    for file in ("".join(record_csv(store, project, who)), "".join(record_json(store, project, who))):
        assert {uid for uid, text in texts.items() if text in file} == set(old)
    uncovered = change_project(store, project, presentation="original")
    assert not any(entry.covered for entry in every_entry(store, uncovered, who))


def test_a_label_that_was_changed_is_covered_again(desk: RouteDesk) -> None:
    made = label(desk, UNDOABLE + 1)
    desk.sync(desk.op(made[0]["item"], "reject", reasons=["name"], base=made[0]["op"]))
    assert entry_of(desk, made[0]["item"]).covered
    assert not entry_of(desk, made[1]["item"]).covered


def test_a_retest_is_covered_like_any_other_label(desk: RouteDesk) -> None:
    store, who = desk.store, annotator(desk.store, desk.project, "Ada")
    project = change_project(store, desk.project, retest=1.0, retest_hours=24)
    label(desk, 4)
    handed = claim(store, project, who, want=60, now=time.time() + 48 * 3600)
    known = {item.uid for item in items(store, project)}
    again = [item for item in handed if item.uid not in known]
    assert len(again) == 4
    desk.sync(desk.op(again[0].uid, "accept"))
    decision = desk.post("item", {"item": again[0].uid}).json()["decision"]["item"]
    assert decision["covered"] and not says(decision["text"], *WORDS)
    assert entry_of(desk, again[0].uid).covered
    label(desk, UNDOABLE)
    decision = desk.post("item", {"item": again[0].uid}).json()["decision"]["item"]
    assert "covered" not in decision and says(decision["text"], *WORDS)
    assert not entry_of(desk, again[0].uid).covered
