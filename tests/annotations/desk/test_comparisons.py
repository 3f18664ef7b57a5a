"""Comparisons at the desk over HTTP: which text is where, what is stored of it, and what no reply reveals."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.guideline.drafts import Draft, write_version
from evenhand.annotations.guideline.versions import PREFERENCE
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.types import Project
from tests.support.comparisons import MODELS, compared_project, rows_of
from tests.support.desk_by_http import RouteDesk as Desk

NUMBER = 24


@pytest.fixture
def project(fresh_store: Store, tmp_path: Any) -> Project:
    return compared_project(fresh_store, tmp_path, NUMBER)[0]


def op(at: Desk, item: str, choice: str | None, **more: Any) -> dict[str, Any]:
    return at.op(item, choice, **{"form": "original", "extraneous": None, "spans": [], **more})


def test_a_choice_of_side_is_stored_as_the_text_shown_there(
    client: TestClient, fresh_store: Store, project: Project
) -> None:
    ada, bo = (Desk(client, fresh_store, project, who, f"desk-{who}") for who in ("Ada", "Bo"))
    stored = {item.uid: item for item in items(fresh_store, project)}
    shown = {}
    for at in (ada, bo):
        sent = at.sync(want=NUMBER)["items"]
        again = at.sync(want=NUMBER)["items"]
        assert [entry["text"] for entry in again] == [entry["text"] for entry in sent]  # a reload shows the same
        for entry in sent:
            item = stored[entry["id"]]
            assert {entry["text"], entry["second"]} == {item.text, item.second}
            (answer,) = at.sync(op(at, entry["id"], "first"))["answers"]
            assert answer["result"] == "acked"
            shown[entry["id"], at.who.name] = entry["text"]
    rows = label_rows(fresh_store, project)
    assert len(rows) == 2 * NUMBER
    for row in rows:
        place = "first" if shown[row["item"], row["annotator"]] == stored[row["item"]].text else "second"
        assert (row["choice"], row["left"]) == (place, place)
    assert {row["left"] for row in rows} == {"first", "second"}
    assert any(shown[uid, "Ada"] != shown[uid, "Bo"] for uid in stored)


def test_stored_labels_are_sent_as_left_and_right(client: TestClient, fresh_store: Store, project: Project) -> None:
    ada = Desk(client, fresh_store, project, "Ada")
    sent = {item["id"]: item for item in ada.sync(want=NUMBER)["items"]}
    choices = dict(zip(sent, ["first", "second", "tie"] * NUMBER, strict=False))
    for uid, choice in choices.items():
        ada.sync(op(ada, uid, choice))
    history = ada.sync(hello=NUMBER)["history"]
    assert {event["item"]["id"]: event["choice"] for event in history} == choices
    assert all(event["item"]["text"] == sent[event["item"]["id"]]["text"] for event in history)
    uid = next(iter(sent))
    assert ada.post("item", {"item": uid}).json()["decision"]["choice"] == choices[uid]
    late = Desk(client, fresh_store, project, "Ada", "desk-late")
    (conflict,) = late.sync(op(late, uid, "second"))["conflicts"]
    assert (conflict["choice"], conflict["stands"]) == ("second", choices[uid])
    assert conflict["item"]["text"] == sent[uid]["text"]
    draft = Draft(1, "Once more.", PREFERENCE.choices, (), "It is asked anew.", scheme=PREFERENCE.more)
    write_version(fresh_store, project, draft, which="all")
    names = {"first": "Left is better", "second": "Right is better", "tie": "Tie"}
    back = ada.sync(want=NUMBER)["items"]
    assert {entry["id"]: entry["earlier"]["choice"] for entry in back} == {
        uid: names[entry] for uid, entry in choices.items()
    }


def test_replies_do_not_reveal_models_or_the_first_text(
    client: TestClient, fresh_store: Store, project: Project
) -> None:
    ada = Desk(client, fresh_store, project, "Ada")
    replies: list[Any] = [ada.sync(want=NUMBER, hello=5)]
    uid = replies[0]["items"][0]["id"]
    replies += [ada.sync(op(ada, uid, "second"), hello=5), ada.post("item", {"item": uid}).json()]
    opening = frontend.start_data(fresh_store, project, ada.who, language="en", api="/api/desk")
    replies.append({key: value for key, value in opening.items() if key not in ("words", "guideline")})
    sent = json.dumps(replies, ensure_ascii=False).lower()
    assert [word for word in (*MODELS, "model", "vs.", "stratum", "pairs.jsonl", "place") if word.lower() in sent] == []
    first = {row["completion"] for row in rows_of(NUMBER)}
    on_the_left = [item["text"] in first for item in replies[0]["items"]]
    assert 0 < sum(on_the_left) < NUMBER  # so a side does not reveal the order in the file


def test_choices_are_in_the_order_of_the_texts(fresh_store: Store, project: Project) -> None:
    start = {
        language: frontend.start_data(
            fresh_store, project, Desk(None, fresh_store, project, "Ada").who, language=language, api="/"
        )
        for language in ("en", "zh")
    }
    assert [(choice["code"], choice["key"], choice["label"]) for choice in start["en"]["choices"]] == [
        ("first", "1", "Left is better"), ("tie", "0", "Tie"), ("second", "2", "Right is better"),
    ]  # fmt: skip
    assert [choice["label"] for choice in start["zh"]["choices"]] == ["左边更好", "不分高下", "右边更好"]
    assert start["en"]["scheme"]["compares"] is True


def test_a_version_for_single_texts_refuses_a_comparison_label(
    client: TestClient, fresh_store: Store, tmp_path: Any
) -> None:
    made, _ = compared_project(fresh_store, tmp_path, 1, name="with tie only")
    ada = Desk(client, fresh_store, made, "Ada")
    (item,) = ada.sync(want=1)["items"]
    (answer,) = ada.sync(op(ada, item["id"], "correct"))["answers"]
    assert answer["result"] == "refused"
    (answer,) = ada.sync(op(ada, item["id"], "first", spans=[[0, 2, "pronoun"]]))["answers"]
    assert answer["result"] == "refused"
