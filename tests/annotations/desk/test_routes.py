"""The desk's routes: who may, what is stored, what is refused, and that an answer is never an exception."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.annotations import permissions
from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import end_all
from evenhand.annotations.database import store
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.frontend import start_data
from evenhand.annotations.desk.routes import MOST_BYTES, PATH, stores
from evenhand.annotations.desk.session import issue
from evenhand.annotations.labels.own import COVER
from evenhand.annotations.projects.projects import add_annotators, add_guideline, guideline, replace_annotator
from evenhand.annotations.queue import leases
from evenhand.annotations.types import Project
from tests.support.desk_by_http import RouteDesk as Desk


@pytest.fixture
def ada(client: TestClient, fresh_store: Store, sample_project: Project) -> Desk:
    return Desk(client, fresh_store, sample_project, "Ada")


def rows(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.store.db.execute("SELECT op_id, choice, form_shown, superseded FROM label ORDER BY id").fetchall()


def test_sync_sends_items_and_stores_labels(ada: Desk) -> None:
    first = ada.sync(want=5, hello=10)
    assert len(first["items"]) == 5 and first["history"] == [] and first["progress"]["labelled"] == 0
    item = first["items"][0]
    start, end = item["word"]
    assert item["text"][start:end] == COVER and item["words"] == item["pair"].split("/") and item["base"] is None
    reply = ada.sync(ada.op(item["id"], "accept"))
    assert reply["answers"] == [{"op": "desk-1-1", "result": "acked", "conflict": False, "latest": "desk-1-1"}]
    assert reply["progress"]["labelled"] == 1
    assert rows(ada) == [("desk-1-1", "accept", "masked", 0)]


def test_a_reload_sends_equal_items_in_equal_order(ada: Desk) -> None:
    first = ada.sync(want=5)["items"]
    assert ada.sync(want=5)["items"] == first
    have = [item["id"] for item in first]
    more = ada.sync(want=3, have=have)["items"]
    assert len(more) == 3 and not {item["id"] for item in more} & set(have)


def test_an_operation_sent_twice_is_stored_once_and_answered_twice(ada: Desk) -> None:
    op = ada.op(ada.sync(want=1)["items"][0]["id"], "accept")
    once, again = ada.sync(op)["answers"], ada.sync(op, op)["answers"]
    assert [row["result"] for row in [*once, *again]] == ["acked"] * 3
    assert len(rows(ada)) == 1


def test_a_refused_operation_does_not_hold_up_the_others(ada: Desk) -> None:
    first, second, third = (item["id"] for item in ada.sync(want=3)["items"])
    bad = [
        ada.op(first, "maybe"),
        ada.op(first, "reject"),
        ada.op(first, "reject", reasons=["no_such_reason"]),
        ada.op("nowhere", "accept"),
        ada.op(first, "accept", database="another"),
        ada.op(first, "accept", annotator="another"),
        ada.op(first, "accept", project="another"),
        ada.op(first, "accept", form="sideways"),
        ada.op(first, "accept", revision="1"),
        ada.op(first, "accept", revision=True),
        ada.op(first, "accept", seconds=-1),
        ada.op(first, "accept", seconds="NaN"),
        ada.op(first, "accept", seconds=10**400),
        ada.op(first, "accept", seconds=True),
        ada.op(first, "accept", note="\ud800"),
        ada.op(first, "accept", note="x" * 5000),
        ada.op(first, "accept", reasons="name"),
        ada.op(first, "\ud800"),
        ada.op(first, "accept", op=""),
        ada.op(first, "accept", op="\ud800"),
        ada.op(first, "accept", op="x" * 101),
        ada.op(first, "accept", base=7),
        ada.op(first, "accept", guideline=99),
        ada.op(first, "accept", guideline="1"),
        None,
        "accept",
        [],
    ]
    reply = ada.sync(ada.op(second, "accept"), *bad, ada.op(third, "reject", note="why"))
    results = [answer["result"] for answer in reply["answers"]]
    assert results == ["acked", *["refused"] * len(bad), "acked"]
    assert all(answer["reason"] for answer in reply["answers"] if answer["result"] == "refused")
    assert [row[1] for row in rows(ada)] == ["accept", "reject"]


def test_undo_and_relabelling_append_rows(ada: Desk) -> None:
    item = ada.sync(want=1)["items"][0]["id"]
    first = ada.op(item, "accept")
    undo = ada.op(item, None, base=first["op"])
    second = ada.op(item, "reject", reasons=["name"], base=undo["op"])
    ada.sync(first, undo)
    assert ada.sync(want=1)["items"][0] | {"base": None} == ada.sync(want=1, have=[])["items"][0] | {"base": None}
    assert ada.sync(want=1)["items"][0]["base"] == undo["op"], "a reload knows what the next label replaces"
    reply = ada.sync(second, hello=10)
    assert [event["choice"] for event in reply["history"]] == ["reject"]
    assert [row[1] for row in rows(ada)] == ["accept", None, "reject"]


def test_two_desks_conflict_and_the_first_label_stays(ada: Desk) -> None:
    other = Desk(ada.client, ada.store, ada.project, "Ada", "desk-2")
    item = ada.sync(want=1)["items"][0]["id"]
    ada.sync(ada.op(item, "accept"))
    reply = other.sync(other.op(item, "reject", reasons=["name"]))
    assert reply["answers"][0] == {"op": "desk-2-1", "result": "acked", "conflict": True, "latest": "desk-1-1"}
    (conflict,) = reply["conflicts"]
    assert (conflict["item"]["id"], conflict["choice"], conflict["stands"]) == (item, "reject", "accept")
    assert ada.sync(ada.op(item, "accept", base="desk-1-1"))["conflicts"] == []


def test_decisions_of_other_annotators_are_not_sent(ada: Desk) -> None:
    bo = Desk(ada.client, ada.store, ada.project, "Bo", "desk-b")
    item = ada.sync(want=1)["items"][0]["id"]
    ada.sync(ada.op(item, "reject", reasons=["name"], note="secret"))
    reply = bo.sync(want=40, hello=10)
    assert "secret" not in json.dumps(reply) and reply["history"] == [] and reply["progress"]["labelled"] == 0
    assert bo.post("item", {"item": item}).status_code == 404
    assert bo.post("history", {"search": "", "limit": 10}).json()["history"] == []
    assert bo.post("opinion", {"item": item}).status_code == 404


def test_items_skipped_twice_are_counted_at_the_end(ada: Desk) -> None:
    handed = ada.sync(want=60)["items"]
    skips = [ada.op(item["id"], "skip") for item in handed[:2]]
    rest = [ada.op(item["id"], "accept") for item in handed[2:]]
    reply = ada.sync(*skips, *rest, want=60)
    assert {item["id"] for item in reply["items"]} == {item["id"] for item in handed[:2]} and "skipped" not in reply
    again = [ada.op(skip["item"], "skip", base=skip["op"]) for skip in skips]
    reply = ada.sync(*again, want=60)
    assert (reply["items"], reply["skipped"]) == ([], 2)
    ada.sync(ada.op(again[1]["item"], None, base=again[1]["op"]))
    reply = ada.sync(want=60)
    assert [item["id"] for item in reply["items"]] == [again[1]["item"]]
    ada.sync(ada.op(again[1]["item"], "accept", base=reply["items"][0]["base"]))
    assert ada.sync(want=60)["skipped"] == 1


def test_history_can_be_searched_and_one_item_read(ada: Desk) -> None:
    items = ada.sync(want=8)["items"]
    ada.sync(*(ada.op(item["id"], "accept") for item in items))
    result = ada.post("history", {"search": items[3]["text"][2:8], "limit": 5}).json()["history"]
    assert [event["item"]["id"] for event in result] == [items[3]["id"]]
    decision = ada.post("item", {"item": items[3]["id"]}).json()["decision"]
    assert decision["choice"] == "accept" and decision["item"]["text"] == items[3]["text"]


def test_a_replaced_annotator_learns_it_with_the_next_answer(ada: Desk) -> None:
    """The label that was on its way is stored; nothing more is handed out, until the lead lets her label again."""
    item = ada.sync(want=3)["items"][0]["id"]
    replace_annotator(ada.store, ada.project, ada.who, "Zoe")
    reply = ada.sync(ada.op(item, "accept"), want=5)
    assert reply["answers"][0]["result"] == "acked" and len(rows(ada)) == 1
    assert reply["left"] is True and reply["items"] == []
    assert ada.post("heartbeat").json()["left"] is True  # a desk that is only open learns it too
    add_annotators(ada.store, ada.project, ["Ada"])
    assert ada.post("heartbeat").json()["left"] is False
    reply = ada.sync(want=5)
    assert reply["left"] is False and reply["items"]


def test_heartbeat_holds_the_leases(ada: Desk) -> None:
    ada.sync(want=8)
    before = ada.store.db.execute("SELECT max(seen) FROM member").fetchone()[0]
    ada.store.db.execute("UPDATE member SET seen = 1 WHERE seen = ?", (before,))
    assert ada.post("heartbeat").status_code == 200
    assert ada.store.db.execute("SELECT max(seen) FROM member").fetchone()[0] >= before


def test_a_new_guideline_is_announced_and_old_codes_still_count(ada: Desk) -> None:
    items = ada.sync(want=2)
    assert items["guideline"] == 1
    old = guideline(ada.store, ada.project)
    add_guideline(ada.store, ada.project, "# New", old.choices, old.reasons[:1])
    late = ada.op(items["items"][0]["id"], "reject", reasons=[old.reasons[4].code], guideline=1)
    reply = ada.sync(late)
    assert reply["guideline"] == 2 and reply["answers"][0]["result"] == "acked"


@pytest.mark.parametrize("token", ["", "x", "a.b", "ü"])
@pytest.mark.parametrize("path", ["sync", "heartbeat", "history", "item", "opinion"])
def test_no_route_answers_without_a_token(ada: Desk, path: str, token: str) -> None:
    response = ada.client.post(f"{PATH}/{path}", content="{}", headers={"Authorization": f"Bearer {token}".encode()})
    assert response.status_code == 401 and response.json()["message"]


def test_an_expired_or_foreign_token_is_401(ada: Desk) -> None:
    op = ada.op(ada.sync(want=1)["items"][0]["id"], "accept")
    for token in (issue(ada.store.secret, **ada.owner, now=1.0), issue(b"x" * 32, **ada.owner)):
        ada.token = token
        assert ada.post("sync", {"ops": [op]}).status_code == 401
    assert rows(ada) == []


def test_a_token_ends_with_the_version_of_its_account(ada: Desk) -> None:
    ada.sync()
    account = add_account(ada.store, "Ada")
    grant(ada.store, account, "annotator", ada.project, annotator=ada.who.name)
    assert ada.post("sync", {"ops": []}).status_code == 401  # it is from before the account
    for _ in range(2):
        ada.token = start_data(ada.store, ada.project, ada.who, language="en", api=PATH)["token"]
        ada.token = ada.sync()["token"]
        end_all(ada.store, account)
        assert ada.post("sync", {"ops": []}).status_code == 401


def test_a_token_of_a_non_member_is_403(ada: Desk) -> None:
    ada.token = issue(ada.store.secret, **{**ada.owner, "annotator": "nobody"})
    response = ada.post("sync", {"ops": [], "language": "zh"})
    assert response.status_code == 403 and "标注台" in response.json()["message"]


def test_every_reply_renews_the_token(ada: Desk) -> None:
    ada.token = ada.sync()["token"]
    assert ada.sync()["token"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        pytest.param(b"[" * 100_000, 400, id="deep"),
        (b'{"ops": 1}', 400),
        (b'{"ops": [' + b"{}," * 100 + b"{}]}", 400),
        (b'{"want": -1}', 400),
        (b'{"want": "many"}', 400),
        (b'{"have": {}}', 400),
        (b'{"hello": 1.5}', 400),
        pytest.param(b"x" * (MOST_BYTES + 1), 413, id="too long"),
    ],
)
def test_a_malformed_body_gets_one_sentence(ada: Desk, body: bytes, status: int) -> None:
    response = ada.post("sync", body)
    assert response.status_code == status and response.json()["message"]


@pytest.mark.parametrize("search", ["x" * 201, 5, "\ud800"])
def test_an_invalid_search_is_refused(ada: Desk, search: object) -> None:
    assert ada.post("history", {"search": search}).status_code == 400


def test_an_internal_error_gets_one_sentence_and_loses_no_label(ada: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    op = ada.op(ada.sync(want=1)["items"][0]["id"], "accept")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("disk on fire")

    with monkeypatch.context() as patch:
        patch.setattr("evenhand.annotations.desk.requests.store_operations", broken)
        response = ada.post("sync", {"ops": [op]})
    assert response.status_code == 503 and "disk" not in response.text
    assert ada.sync(op)["answers"][0]["result"] == "acked"


def test_a_busy_database_asks_for_a_retry(ada: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    op = ada.op(ada.sync(want=1)["items"][0]["id"], "accept")
    with monkeypatch.context() as patch, Store.open(ada.store.path) as other, other.db:
        patch.setattr(store, "BUSY_MS", 10)
        stores.close()  # so that the next request opens one that does not wait
        other.db.execute("BEGIN IMMEDIATE")
        response = ada.post("sync", {"ops": [op], "language": "zh"})
    assert (response.status_code, "数据库" in response.json()["message"]) == (503, True)
    assert rows(ada) == []
    stores.close()
    assert ada.sync(op)["answers"][0]["result"] == "acked"


def test_a_database_that_cannot_be_opened_asks_for_a_retry(ada: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("EVENHAND_DB", str(ada.store.path.parent / "no folder" / "evenhand.db"))
        assert ada.post("sync", {"want": 1}).status_code == 503
    assert ada.post("sync", {"want": 1}).status_code == 200


def test_labels_are_stored_even_if_handing_out_fails(ada: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    op = ada.op(ada.sync(want=1)["items"][0]["id"], "accept")
    with monkeypatch.context() as patch:
        patch.setattr(leases, "claim", lambda *_, **__: 1 / 0)
        assert ada.post("sync", {"ops": [op], "want": 40}).status_code == 503
    assert ada.sync(op)["answers"][0]["result"] == "acked" and len(rows(ada)) == 1


@pytest.mark.parametrize("path", ["sync", "heartbeat", "history", "item", "opinion"])
def test_each_route_checks_the_permission(ada: Desk, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    item = ada.sync(want=1)["items"][0]["id"]
    monkeypatch.setitem(permissions.ALLOWED, "annotator", frozenset())
    response = ada.post(path, {"ops": [ada.op(item, "accept")], "item": item})
    assert (response.status_code, rows(ada)) == (403, [])
    assert "You do not have permission" in response.json()["message"]


def test_get_requests_are_refused(ada: Desk) -> None:
    assert ada.client.get(f"{PATH}/sync").status_code == 405


def test_an_opinion_comes_after_the_label_and_is_recorded(
    ada: Desk, monkeypatch: pytest.MonkeyPatch, fake_scorer: Any
) -> None:
    monkeypatch.setattr("evenhand.annotations.desk.opinion._remote", lambda _: fake_scorer)
    item = ada.sync(want=1)["items"][0]["id"]
    ada.store.db.execute("UPDATE project SET opinion_model = 'fake'")
    assert ada.post("opinion", {"item": item}).status_code == 404, "not before the label"
    ada.sync(ada.op(item, "accept"))
    data = ada.post("opinion", {"item": item}).json()
    assert data["p_male"] == pytest.approx(0.6) and data["signature"] == fake_scorer.signature
    ada.sync(ada.op(item, "reject", reasons=["name"], base="desk-1-1"))
    rows = ada.store.db.execute("SELECT choice, after_reveal FROM label ORDER BY id").fetchall()
    assert rows == [("accept", 0), ("reject", 1)]
    blind = ada.store.db.execute("SELECT choice FROM blind_label").fetchall()
    assert blind == [("accept",)], "agreement and gold use the label made before"
