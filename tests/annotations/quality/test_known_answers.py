"""Hidden gold: known answers and the score on them, which no desk ever learns of."""

import csv
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_labels import import_known_answers
from evenhand.annotations.files.undo_import import undo
from evenhand.annotations.items.batch import items as items_of
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import add_annotators, change_project, remove_annotator
from evenhand.annotations.quality.known_answers import (
    answer_choices,
    draw_candidates,
    known_items,
    scores,
    set_known,
    wrong_answers,
)
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import BadFile, NotFound, Refused
from tests.support.desk_by_http import RouteDesk as Desk
from tests.support.generations import generations_project
from tests.support.projects import broken_rules, decide, filled_project, new_store

TwentyItems = tuple[Store, Project, list[Annotator]]
WHY = "Die Wahrheit steht fest"  # in no other text of a test


@pytest.fixture
def twenty_items(fresh_store: Store) -> TwentyItems:
    project, people = filled_project(fresh_store, 20, people=("Ada", "Bo", "Chen"), per_item=2)
    return fresh_store, project, people


def first(twenty_items: TwentyItems, number: int = 20) -> list[Item]:
    store, project, people = twenty_items
    return claim(store, project, people[0], want=number)


def label(twenty_items: TwentyItems, person: int, choices: dict[str, str]) -> None:
    store, project, people = twenty_items
    answers = store_operations(store, project, people[person], [decide(uid, choice) for uid, choice in choices.items()])
    assert all(answer.stored for answer in answers)


def test_a_score_is_the_share_of_labels_equal_to_the_answer(twenty_items: TwentyItems) -> None:
    store, project, _ = twenty_items
    items = first(twenty_items)
    for n, item in enumerate(items[:10]):
        set_known(store, project, item.uid, "reject" if n < 4 else "accept", why=WHY, author="Lead")
    label(twenty_items, 0, {item.uid: "accept" for item in items[:9]} | {items[12].uid: "reject"})
    label(twenty_items, 1, {item.uid: "reject" for item in items[:2]})
    ada, bo, chen = scores(store, project)
    # Wilson's interval of 5/9: 0.2667 to 0.8112 (statsmodels, method="wilson")
    assert (ada.right, ada.wrong, ada.unlabelled, ada.table) == (5, 4, 1, ((5, 0), (4, 0)))
    assert (ada.share.value, ada.share.low, ada.share.high) == pytest.approx((5 / 9, 0.2667, 0.8112), abs=1e-4)
    assert (bo.right, bo.wrong, bo.unlabelled, bo.share.value) == (2, 0, 8, 1.0)
    assert chen.share.value is None and chen.share.reason is not None and chen.unlabelled == 10
    missed = wrong_answers(store, project, "Ada")
    assert [answer.item.uid for answer in missed] == sorted(
        (item.uid for item in items[:4]), key=[known.item.uid for known in known_items(store, project)].index
    )
    assert {(answer.answer, answer.choice, answer.why) for answer in missed} == {("reject", "accept", WHY)}
    assert wrong_answers(store, project, "Bo") == [] and len(wrong_answers(store, project)) == 4
    assert broken_rules(store) == []


def test_the_current_answer_counts_and_every_change_is_recorded(twenty_items: TwentyItems) -> None:
    store, project, _ = twenty_items
    item = first(twenty_items)[0]
    for choice in ("accept", "accept", "reject", None, None, "accept"):
        set_known(store, project, item.uid, choice, author="Lead")
    rows = [row[0] for row in store.db.execute("SELECT choice FROM known ORDER BY id")]
    assert rows == ["accept", "reject", None, "accept"]
    results = [
        (event.data["choice"], event.item, event.author) for event in events(store, project, action="hidden_gold")
    ]
    assert results == [(choice, item.uid, "Lead") for choice in rows]
    (known,) = known_items(store, project)
    assert (known.choice, known.item.uid, known.from_labels, known.author) == ("accept", item.uid, False, "Lead")
    with pytest.raises(Exception, match="appended"):
        store.db.execute("UPDATE known SET choice = 'reject'")
    set_known(store, project, item.uid, None)
    assert known_items(store, project) == [] and scores(store, project)[0].unlabelled == 0


@pytest.mark.parametrize(
    ("uid", "choice", "why", "error"),
    [("nowhere", "accept", "", NotFound), ("", "correct", "", Refused), ("", "accept", "x" * 5000, Refused)],
)
def test_invalid_known_answers_are_refused(
    twenty_items: TwentyItems, uid: str, choice: str, why: str, error: type[Exception]
) -> None:
    store, project, _ = twenty_items
    item = first(twenty_items)[0]
    with pytest.raises(error):
        set_known(store, project, uid or item.uid, choice, why=why)
    assert known_items(store, project) == [] and events(store, project, action="hidden_gold") == []


def test_an_item_undone_at_that_time_is_not_found(twenty_items: TwentyItems, monkeypatch: pytest.MonkeyPatch) -> None:
    store, project, _ = twenty_items
    (uid,) = store.db.execute("SELECT uid FROM item LIMIT 1").fetchone()

    def then_taken_back(why: str) -> str:
        undo(store, project, "items-1")
        return why

    monkeypatch.setattr("evenhand.annotations.quality.known_answers.checked_text", then_taken_back)
    with pytest.raises(NotFound):
        set_known(store, project, uid, "accept")


def test_authors_are_not_scored_on_their_own_answers(twenty_items: TwentyItems) -> None:
    store, project, people = twenty_items
    items = first(twenty_items)
    for person in (0, 1):
        label(twenty_items, person, {item.uid: "accept" for item in items[:6]})
    drawn = draw_candidates(store, project, 50, "agreed", seed=1)
    assert sorted(item.uid for item in drawn) == sorted(item.uid for item in items[:6])
    for item in drawn:
        set_known(store, project, item.uid, item.gold, from_labels=True)
    label(twenty_items, 0, {items[0].uid: "reject"})  # changed by one who made the answer
    label(twenty_items, 2, {items[0].uid: "reject", items[1].uid: "accept"})
    assert [(score.right, score.wrong, score.unlabelled) for score in scores(store, project)] == [
        (0, 0, 6), (0, 0, 6), (1, 1, 4),
    ]  # fmt: skip
    # the lead's own answer counts for all
    set_known(store, project, items[1].uid, "accept", why="read again")
    assert [score.right for score in scores(store, project)] == [1, 1, 1]
    remove_annotator(store, project, people[1])
    add_annotators(store, project, ["Dan"])
    assert [(score.annotator, score.active) for score in scores(store, project)] == [
        ("Ada", True), ("Bo", False), ("Chen", True), ("Dan", True),
    ]  # fmt: skip


def test_a_label_after_an_opinion_does_not_count(twenty_items: TwentyItems) -> None:
    from evenhand.annotations.labels.operations import reveal

    store, project, people = twenty_items
    item = first(twenty_items)[0]
    label(twenty_items, 0, {item.uid: "reject"})
    set_known(store, project, item.uid, "accept")
    reveal(store, project, people[0], item.uid)
    label(twenty_items, 0, {item.uid: "accept"})
    assert (scores(store, project)[0].right, scores(store, project)[0].wrong) == (0, 1)


def test_candidates_for_known_answers_are_drawn(twenty_items: TwentyItems) -> None:
    store, project, _ = twenty_items
    items = first(twenty_items)
    label(twenty_items, 0, {item.uid: "accept" for item in items[:8]})
    label(twenty_items, 1, {item.uid: "accept" if n else "reject" for n, item in enumerate(items[:5])})
    agreed = {item.uid for item in draw_candidates(store, project, 50, "agreed")}
    assert agreed == {item.uid for item in items[1:5]}  # not the split one, not those with one label
    free = draw_candidates(store, project, 50, "unlabelled")
    assert {item.uid for item in free} == {item.uid for item in items[8:]}
    set_known(store, project, items[1].uid, "accept")
    set_known(store, project, items[9].uid, "accept")
    assert items[1].uid not in {item.uid for item in draw_candidates(store, project, 50, "agreed")}
    assert items[9].uid not in {item.uid for item in draw_candidates(store, project, 50, "unlabelled")}
    five = [item.uid for item in draw_candidates(store, project, 5, "unlabelled", seed=3)]
    assert len(set(five)) == 5 and five == [
        item.uid for item in draw_candidates(store, project, 5, "unlabelled", seed=3)
    ]
    with pytest.raises(Refused):
        draw_candidates(store, project, 0, "agreed")


def test_under_stop_hidden_gold_is_labelled_by_all(twenty_items: TwentyItems) -> None:
    store, project, _ = twenty_items
    project = change_project(store, project, per_item=3, plan="stop", share=0.0)
    items = first((store, project, twenty_items[2]))
    assert store.db.execute("SELECT DISTINCT wanted FROM item").fetchall() == [(1,)]
    set_known(store, project, items[0].uid, "reject")
    label(twenty_items, 0, {item.uid: "reject" for item in items[:2]})
    wanted = "SELECT wanted, status FROM item WHERE uid = ?"
    assert store.db.execute(wanted, (items[0].uid,)).fetchone() == (3, "pending")
    assert store.db.execute(wanted, (items[1].uid,)).fetchone() == (1, "rejected")
    # an item that had been closed by its reject is open again, also for who has walked past it
    walked = claim(store, project, twenty_items[2][1], want=60)
    assert items[1].uid not in {item.uid for item in walked}
    set_known(store, project, items[1].uid, "accept")
    assert store.db.execute(wanted, (items[1].uid,)).fetchone() == (3, "pending")
    have = [item.uid for item in walked]
    assert items[1].uid in {item.uid for item in claim(store, project, twenty_items[2][1], have=have, want=60)}
    set_known(store, project, items[1].uid, None)
    assert store.db.execute(wanted, (items[1].uid,)).fetchone() == (1, "rejected")
    assert broken_rules(store) == []


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=routes())) as opened:
        yield opened


def _sentences(store: Store) -> Project:
    return filled_project(store, 24, people=("Ada", "Bo"), per_item=2)[0]


def _generations(store: Store) -> Project:
    return generations_project(store, "made", 24)


@pytest.mark.parametrize("make", [_sentences, _generations])
def test_hidden_gold_does_not_change_the_bytes_sent_to_a_desk(
    make: Callable[[Store], Project],
    client: TestClient,
    fresh_store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The visit is repeated at two copies of one database, in one of which items are hidden gold."""
    project = change_project(fresh_store, make(fresh_store), retest=1.0, retest_hours=0)
    fresh_store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = tmp_path / "without.db"
    shutil.copy(fresh_store.path, copy)
    uids = [row[0] for row in fresh_store.db.execute("SELECT uid FROM item ORDER BY id")]
    choice = "accept" if project.kind == "sentences" else "correct"
    for uid in uids[::2]:
        set_known(fresh_store, project, uid, choice, why=WHY)
    with_gold = _visit(client, fresh_store, project, choice)
    monkeypatch.setenv("EVENHAND_DB", str(copy))
    with Store.open(copy) as store:
        assert known_items(store, project) == []
        without = _visit(client, store, project, choice)
    assert with_gold == without
    assert WHY not in json.dumps(with_gold) and "known" not in json.dumps(with_gold)


def _visit(client: TestClient, store: Store, project: Project, choice: str) -> list[Any]:
    from evenhand.annotations.database.pool import stores

    stores.close()
    ada = Desk(client, store, project, "Ada")
    results: list[Any] = []
    for _ in range(4):
        reply = ada.sync(want=8, hello=20)
        results.append(reply)
        ids = [item["id"] for item in reply["items"]]
        results.append(ada.sync(*(ada.op(uid, choice) for uid in ids)))
        results += [ada.post("item", {"item": uid}).json() for uid in ids[:2]]
        results.append(ada.post("history", {"limit": 9, "search": ""}).json())
        results.append(ada.post("heartbeat").json())
    return [_without_time(reply) for reply in results]


def _without_time(told: Any) -> Any:
    if isinstance(told, dict):
        return {k: _without_time(v) for k, v in told.items() if k not in ("token", "created", "pace")}
    return [_without_time(value) for value in told] if isinstance(told, list) else told


@pytest.mark.parametrize(
    "format", ["slguset", "jsonl", "labels", "labels-wide", "labels-jsonl", "label-studio", "doccano"]
)
def test_hidden_gold_does_not_change_exported_files(twenty_items: TwentyItems, tmp_path: Path, format: str) -> None:
    store, project, _ = twenty_items
    items = first(twenty_items)
    label(twenty_items, 0, {item.uid: "accept" for item in items})
    before = _exported(store, project, tmp_path / "before", format)
    set_known(store, project, items[0].uid, "reject", why=WHY)
    assert _exported(store, project, tmp_path / "after", format) == before


def _exported(store: Store, project: Project, folder: Path, format: str) -> dict[str, bytes]:
    folder.mkdir()
    path = export_file(store, project, folder / "out", format=format, history=format == "labels").out
    if not zipfile.is_zipfile(path):
        return {"": path.read_bytes()}
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["accept", "reject", None])), max_size=12))
def test_scores_equal_a_count_by_hand(tmp_path_factory: pytest.TempPathFactory, marks: list[Any]) -> None:
    with new_store(tmp_path_factory.mktemp("gold") / "gold.db") as store:
        project, people = filled_project(store, 6, people=("Ada", "Bo"), per_item=2)
        items = claim(store, project, people[0], want=6)
        choices = {item.uid: ("accept", "reject")[n % 2] for n, item in enumerate(items)}
        store_operations(store, project, people[0], [decide(uid, choice) for uid, choice in choices.items()])
        for n, choice in marks:
            set_known(store, project, items[n].uid, choice)
        answers = {items[n].uid: choice for n, choice in marks}
        known = {uid: choice for uid, choice in answers.items() if choice is not None}
        ada, bo = scores(store, project)
        right = sum(choices[uid] == choice for uid, choice in known.items())
        assert (ada.right, ada.wrong, ada.unlabelled) == (right, len(known) - right, 0)
        assert (bo.right, bo.wrong, bo.unlabelled) == (0, 0, len(known))
        assert {answer.item.uid: answer.choice for answer in known_items(store, project)} == known
        assert broken_rules(store) == []


def test_a_file_of_answers_is_checked_row_by_row(twenty_items: TwentyItems, tmp_path: Path) -> None:
    store, project, _ = twenty_items
    items = first(twenty_items)
    path = tmp_path / "answers.csv"
    rows = [
        f"{items[0].uid},,accept,{WHY}",
        f",{items[1].text},reject,",
        ",no such sentence,reject,",
        f"{items[2].uid},,maybe,",
        f"{items[3].uid},,,",
        ",,accept,",
        f"{items[0].uid},,accept,{WHY}",
    ]
    path.write_text("\n".join(["item,text,choice,why", *rows]), encoding="utf-8")
    report = import_known_answers(store, project, path, author="Lead")
    assert report.marked == 3 and [problem.line for problem in report.problems] == [4, 5, 6, 7]
    assert all(str(problem) for problem in report.problems)
    assert [(known.item.uid, known.choice, known.author) for known in known_items(store, project)] == sorted(
        [(items[0].uid, "accept", "Lead"), (items[1].uid, "reject", "Lead")],
        key=lambda row: next(item.id for item in items if item.uid == row[0]),
    )
    assert store.db.execute("SELECT count(*) FROM known").fetchone() == (2,)  # the same answer twice is one


def test_a_file_without_the_columns_is_refused(twenty_items: TwentyItems, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("item,label\na,b\n", encoding="utf-8")
    with pytest.raises(BadFile, match="needs the columns item / text and choice"):
        import_known_answers(twenty_items[0], twenty_items[1], path)


def test_a_generation_is_found_by_its_text(fresh_store: Store, tmp_path: Path) -> None:
    project = generations_project(fresh_store, "made", [" One, he said.", " Same.", " Same."])
    first_, two, three = items_of(fresh_store, project)
    path = tmp_path / "answers.csv"
    rows = [
        ("One, he said.", "", "correct"), (" Same.", two.context, "misgendering"),
        (f"{three.context}{three.text}", "", "no_pronoun"), ("Same.", "", "correct"), ("Other.", "", "correct"),
        ("One, he said.", "elsewhere", "correct"), ("", "", "correct"),
    ]  # fmt: skip
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "context", "choice"), *rows])
    report = import_known_answers(fresh_store, project, path)
    assert report.marked == 3 and [problem.line for problem in report.problems] == [5, 6, 7, 8]
    assert "2 items have this text" in str(report.problems[0]) and "no item with this text" in str(report.problems[1])
    known = {answer.item.uid: answer.choice for answer in known_items(fresh_store, project)}
    assert known == {first_.uid: "correct", two.uid: "misgendering", three.uid: "no_pronoun"}


def test_the_known_choice_of_a_generation_is_in_its_guideline(fresh_store: Store, tmp_path: Path) -> None:
    project = generations_project(fresh_store, "made", 3)
    path = tmp_path / "answers.csv"
    uid = fresh_store.db.execute("SELECT uid FROM item").fetchone()[0]
    path.write_text(json.dumps({"item": uid, "choice": "misgendering"}), encoding="utf-8")
    assert import_known_answers(fresh_store, project, path.rename(tmp_path / "a.jsonl")).marked == 1
    assert known_items(fresh_store, project)[0].choice == "misgendering"
    assert [choice.code for choice in answer_choices(fresh_store, project)][:2] == ["correct", "misgendering"]
