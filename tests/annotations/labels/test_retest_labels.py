"""Retests as sent to the desk: nothing distinguishes them from other items."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.routes import routes
from evenhand.annotations.labels.own import merge_newest_first
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.types import Decision, Project
from tests.support.desk_by_http import RouteDesk as Desk
from tests.support.generations import generations_project
from tests.support.projects import filled_project


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=routes())) as decision_at:
        yield decision_at


def _sentences(store: Store) -> Project:
    return filled_project(store, 30, people=("Ada", "Bo"), per_item=2)[0]


def _generations(store: Store) -> Project:
    return generations_project(store, "made", 30)


CHOICE = {"sentences": "accept", "generations": "correct"}


@pytest.fixture(params=[_sentences, _generations], ids=["sentences", "generations"])
def desk(request: pytest.FixtureRequest, client: TestClient, fresh_store: Store) -> Desk:
    """Return the desk of Ada, who has labelled ten items; these return at once, among twenty others."""
    project = request.param(fresh_store)
    change_project(fresh_store, project, retest=1.0, retest_hours=0)
    ada = Desk(client, fresh_store, project, "Ada")
    first = ada.sync(want=10)["items"]
    ada.sync(*(ada.op(item["id"], CHOICE[project.kind], seconds=2.0) for item in first))
    return ada


def again(desk: Desk) -> set[str]:
    return {row[0] for row in desk.store.db.execute("SELECT uid FROM retest")}


def shape(value: Any) -> Any:
    """Return keys and types, digits and letters of ids: all that could identify an item except its text."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items() if key not in ("text", "context", "pair", "side")}
    if isinstance(value, list | tuple):
        return [type(value).__name__, sorted({repr(shape(inner)) for inner in value})]
    if isinstance(value, str) and re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", value):
        return "id"
    return type(value).__name__


def both(desk: Desk, entries: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """Return the shapes of ordinary entries and of retests."""
    own, shapes = again(desk), ([], [])  # type: ignore[var-annotated]
    for entry in entries:
        item = entry.get("item", entry)
        shapes[item["id"] in own].append(shape(entry))
    assert shapes[0] and shapes[1]
    return shapes


def test_retests_have_the_shape_of_other_items(desk: Desk) -> None:
    items = desk.sync(want=40)["items"]
    ordinary, came_again = both(desk, items)
    assert all(entry in ordinary for entry in came_again)
    assert desk.sync(want=40)["items"] == items  # a reload, in the same order
    choice = CHOICE[desk.project.kind]
    before = desk.sync()["progress"]
    for n, item in enumerate(items, 1):
        reply = desk.sync(desk.op(item["id"], choice, note="n"))
        answer = reply["answers"][0]
        assert (answer["result"], answer["conflict"], set(answer)) == (
            "acked", False, {"op", "result", "conflict", "latest"},
        )  # fmt: skip
        assert reply["progress"]["labelled"] == before["labelled"] + n  # an unchanged count would reveal the retest
        entry = desk.post("item", {"item": item["id"]}).json()["decision"]
        assert entry["item"]["id"] == item["id"] and entry["choice"] == choice
    past = desk.post("history", {"limit": 100}).json()["history"]
    assert [event["item"]["id"] for event in past[: len(items)]] == [item["id"] for item in reversed(items)]
    ordinary, came_again = both(desk, past)
    assert all(entry in ordinary for entry in came_again)


def test_an_undone_retest_comes_first_like_any_item(desk: Desk) -> None:
    choice = CHOICE[desk.project.kind]
    items = desk.sync(want=30)["items"]
    ops = [desk.op(item["id"], choice) for item in items]
    desk.sync(*ops)
    for op in ops:
        desk.sync(desk.op(op["item"], None, base=op["op"]))
        (back,) = desk.sync(want=1)["items"]
        assert (back["id"], back["base"]) == (op["item"], f"desk-1-{desk.revision}")
        desk.sync(desk.op(op["item"], choice, base=back["base"]))
    assert again(desk) & {op["item"] for op in ops} and {op["item"] for op in ops} - again(desk)


def test_a_late_second_desk_gets_a_conflict_on_a_retest(desk: Desk) -> None:
    choice = CHOICE[desk.project.kind]
    items = desk.sync(want=30)["items"]
    second = Desk(desk.client, desk.store, desk.project, "Ada", "desk-2")
    desk.sync(*(desk.op(item["id"], choice) for item in items))
    reply = second.sync(*(second.op(item["id"], choice, note="late") for item in items))
    assert all(answer["conflict"] and answer["latest"].startswith("desk-1") for answer in reply["answers"])
    ordinary, came_again = both(desk, reply["conflicts"])
    assert len(ordinary) + len(came_again) == len(items) and all(entry in ordinary for entry in came_again)
    assert {conflict["stands"] for conflict in reply["conflicts"]} == {choice}


def test_repeated_and_late_operations_on_a_retest_are_safe(desk: Desk) -> None:
    choice = CHOICE[desk.project.kind]
    item = next(item for item in desk.sync(want=30)["items"] if item["id"] in again(desk))
    late, newer = desk.op(item["id"], choice), desk.op(item["id"], choice, note="newer")
    first = desk.sync(newer)["answers"][0]
    assert desk.sync(late)["answers"][0]["latest"] == first["latest"] == newer["op"]
    assert desk.sync(newer, late)["answers"][0]["latest"] == newer["op"]
    query = "SELECT op_id, superseded FROM retest_label ORDER BY id"
    assert desk.store.db.execute(query).fetchall() == [(newer["op"], 0), (late["op"], 1)]


def test_an_invalid_retest_label_is_refused(desk: Desk) -> None:
    item = next(item for item in desk.sync(want=30)["items"] if item["id"] in again(desk))
    choice = CHOICE[desk.project.kind]
    bad = [
        desk.op(item["id"], "maybe"),
        desk.op(item["id"], choice, guideline=9),
        desk.op(item["id"], choice, note="x" * 5000),
        desk.op(item["id"], choice, seconds=-1),
        desk.op(item["id"], choice, spans=[[0, 10**6, "pronoun"]]),
    ]
    if desk.project.kind == "sentences":
        bad += [desk.op(item["id"], "reject"), desk.op(item["id"], choice, extraneous=True)]
    else:
        bad += [desk.op(item["id"], "misgendering")]  # no place is marked
    assert [answer["result"] for answer in desk.sync(*bad)["answers"]] == ["refused"] * len(bad)
    assert desk.store.db.execute("SELECT count(*) FROM retest_label").fetchone() == (0,)


def test_merged_histories_keep_their_order() -> None:
    def decision_at(created: str, op: str, revision: int = 1) -> Decision:
        return Decision(None, "accept", (), "", op, revision, created, False)  # type: ignore[arg-type]

    first = [decision_at("2026-01-05", "e"), decision_at("2026-01-01", "imported"), decision_at("2026-01-03", "c")]
    second = [decision_at("2026-01-04", "d"), decision_at("2026-01-02", "b")]
    assert [decision.op_id for decision in merge_newest_first(first, second)] == ["e", "d", "b", "imported", "c"]
    day = "2026-01-05"  # sent together: of one time
    first, second = (
        [decision_at(day, "4", 4), decision_at(day, "2", 2), decision_at(day, "1", 1)],
        [decision_at(day, "5", 5), decision_at(day, "3", 3)],
    )
    assert [decision.op_id for decision in merge_newest_first(first, second)] == ["5", "4", "3", "2", "1"]
    assert merge_newest_first(first, []) == first and merge_newest_first([], second) == second


def test_due_retests_are_found_by_an_index(fresh_store: Store) -> None:
    """The plan of every query is by an index: no table is read as a whole."""
    from evenhand.annotations.queue.retests import DUE

    rows = fresh_store.db.execute(
        f"EXPLAIN QUERY PLAN {DUE}",
        {"annotator": 1, "project": 1, "state": "waiting", "now": time.time(), "room": 40},
    ).fetchall()
    plan = [row[3] for row in rows]
    assert any("retest USING INDEX retest_due" in step for step in plan)
    assert not [step for step in plan if step.startswith("SCAN") and "pilot" not in step]
