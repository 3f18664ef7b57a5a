"""Data sent along with an item and with the desk: covered sentences, earlier notes, changes to read."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.frontend import is_flagged
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.types import Project
from evenhand.core.text.keywords import find
from tests.support.desk_by_http import RouteDesk as Desk
from tests.support.generations import generations_project


def with_extra(store: Store, *extras: dict[str, Any]) -> Project:
    project = create_project(store, "flagged", annotators=("Ada", "Bo"), per_item=2)
    with Batch.begin(store, project, "made.txt") as batch:
        for n, extra in enumerate(extras):
            text = f"第{n}天，他在河边散步。"
            batch.add([NewItem(text, find(text)[0], "made.txt", n + 1, extra)])
        batch.publish()
    return project


@pytest.mark.parametrize(
    ("extra", "flagged"),
    [
        ({}, False), ({"flags": []}, False), ({"flags": ["name"]}, True), ({"sensitive": "1"}, True),
        ({"sensitive": 0}, False), ({"sensitive": "no"}, False), ({"sensitive": True}, True),
    ],
)  # fmt: skip
def test_sensitive_items_are_flagged(fresh_store: Store, extra: dict[str, Any], flagged: bool) -> None:
    from evenhand.annotations.items.batch import items

    (item,) = items(fresh_store, with_extra(fresh_store, extra))
    assert is_flagged(item) is flagged


def test_items_are_covered_only_in_blurring_projects_without_a_reason(client: TestClient, fresh_store: Store) -> None:
    project = with_extra(fresh_store, {"flags": ["secret_flag"]}, {})
    reply = Desk(client, fresh_store, project, "Ada").sync(want=5)
    assert [item["veil"] for item in reply["items"]] == [False, False]
    project = change_project(fresh_store, project, blur=True)
    reply = Desk(client, fresh_store, project, "Ada").sync(want=5)
    assert sorted(item["veil"] for item in reply["items"]) == [False, True]
    assert "secret_flag" not in str(reply)


def test_texts_of_models_are_covered_by_the_desk_itself(client: TestClient, fresh_store: Store) -> None:
    project = change_project(fresh_store, generations_project(fresh_store, "g", 3), blur=True)
    reply = Desk(client, fresh_store, project, "Ada").sync(want=5)
    assert {item["veil"] for item in reply["items"]} == {False}


def test_a_returned_item_is_sent_with_the_former_label(client: TestClient, fresh_store: Store) -> None:
    project = with_extra(fresh_store, {}, {})
    ada = Desk(client, fresh_store, project, "Ada")
    first, second = (item["id"] for item in ada.sync(want=2)["items"])
    ada.sync(ada.op(first, "reject", reasons=["name"], tags=["a place"]), ada.op(second, "accept"))
    now = read_draft(fresh_store, project)
    reasons = tuple(reason for reason in now.reasons if reason.code != "name")
    write_version(fresh_store, project, replace(now, reasons=reasons, changes="No names."), which="named")
    reply = ada.sync(want=2, language="en")
    assert reply["news"] == [{"version": 2, "changes": "No names."}] and reply["guideline"] == 2
    (item,) = reply["items"]
    # In the words of the version it was made under, though the criterion is gone.
    assert item["id"] == first and item["earlier"]["version"] == 1
    assert item["earlier"]["reasons"] == ["Contains a name", "#a place"] and item["base"] == "desk-1-1"
    assert Desk(client, fresh_store, project, "Bo").sync(want=2)["news"] == []


def test_an_open_desk_learns_of_a_new_version_with_its_next_answer(client: TestClient, fresh_store: Store) -> None:
    project = with_extra(fresh_store, {}, {}, {})
    ada, bo = Desk(client, fresh_store, project, "Ada"), Desk(client, fresh_store, project, "Bo")
    first, second, _ = (item["id"] for item in ada.sync(want=3, version=1)["items"])
    assert ada.sync(ada.op(first, "reject", reasons=["name"], guideline=1), version=1)["next"] is None
    now = read_draft(fresh_store, project)
    reasons = tuple(replace(reason, en="A name anew") if reason.code == "name" else reason for reason in now.reasons)
    write_version(fresh_store, project, replace(now, reasons=reasons, text="Anew.", changes="Names."), which="named")
    reply = ada.sync(ada.op(second, "accept", guideline=1), version=1, language="en")
    # What was decided before is stored as what it was; the answer brings what has to be read.
    assert reply["answers"][0]["result"] == "acked" and reply["back"] == 1
    assert reply["next"]["guideline"]["version"] == 2
    text, *keys = reply["next"]["guideline"]["blocks"]
    assert text == {"kind": "p", "runs": [["Anew.", False]]}
    assert dict(zip(keys[1]["keys"], keys[1]["items"], strict=True))["5"] == [["A name anew", False]]
    assert reply["next"]["changes"] == [{"version": 2, "changes": "Names."}]
    assert "A name anew" in [reason["label"] for reason in reply["next"]["reasons"]]
    query = "SELECT version FROM label JOIN guideline ON guideline.id = label.guideline ORDER BY label.id"
    assert fresh_store.db.execute(query).fetchall() == [(1,), (1,)]
    assert ada.sync(version=2)["next"] is None and ada.sync()["next"] is None
    assert ada.post("heartbeat").json()["guideline"] == 2
    # The open desk of an annotator without labels learns of it too, and has nothing to relabel.
    reply = bo.sync(version=1)
    assert (reply["next"]["guideline"]["version"], reply["news"], reply["back"]) == (2, [], 0)


def test_reading_the_changes_is_recorded_once(client: TestClient, fresh_store: Store) -> None:
    project = with_extra(fresh_store, {}, {})
    ada = Desk(client, fresh_store, project, "Ada")
    ada.sync(ada.op(ada.sync(want=1)["items"][0]["id"], "accept"))
    write_version(fresh_store, project, replace(read_draft(fresh_store, project), text="anew", changes="Anew."))
    assert ada.post("told", {"version": "2"}).status_code == 400
    assert ada.post("told", {"version": 3}).status_code == 404
    for _ in range(2):
        reply = ada.post("told", {"version": 2})
        assert reply.status_code == 200 and reply.json()["news"] == []
    query = "SELECT count(*) FROM event WHERE action = 'read_changes'"
    assert fresh_store.db.execute(query).fetchone() == (1,)
    assert ada.sync(want=1)["news"] == [] and len(annotators(fresh_store, project)) == 2
