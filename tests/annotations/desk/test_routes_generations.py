"""The desk's routes for generations: every reply, searched for what an annotator must not see; rules for any client."""

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.types import Project
from tests.support.desk_by_http import RouteDesk as Desk
from tests.support.generations import MODELS, generations_project

ITEM_KEYS = {"id", "text", "context", "name", "sets", "base"}
SECRET = (*MODELS, "secret", "4711", "rule", "tango", "template", "stratum")


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return generations_project(fresh_store, "g", 12)


@pytest.fixture
def ada(client: TestClient, fresh_store: Store, project: Project) -> Desk:
    return Desk(client, fresh_store, project, "Ada")


def op(at: Desk, item: str, choice: str | None, **more: Any) -> dict[str, Any]:
    return at.op(item, choice, **{"form": "original", "extraneous": False, "spans": [], **more})


def test_replies_do_not_reveal_model_setting_row_or_other_labels(
    client: TestClient, fresh_store: Store, project: Project, ada: Desk
) -> None:
    bo = Desk(client, fresh_store, project, "Bo", "desk-2")
    for item in bo.sync(want=12)["items"]:
        bo.sync(op(bo, item["id"], "plural_they", note="of Bo"))
    replies: list[Any] = [ada.sync(want=12, hello=30)]
    first = replies[0]["items"][0]
    assert len(replies[0]["items"]) == 12 and all(
        set(item) == ITEM_KEYS | {"veil", "earlier"} for item in replies[0]["items"]
    )
    marked = op(ada, first["id"], "misgendering", extraneous=True, spans=[[1, 3, "extraneous"], [4, 7, "pronoun"]])
    replies.append(ada.sync(marked))
    replies += [ada.post("history", {"limit": 10}).json(), ada.post("item", {"item": first["id"]}).json()]
    other = Desk(client, fresh_store, project, "Ada", "desk-3")
    replies.append(other.sync(op(other, first["id"], "correct"), hello=30))
    assert replies[-1]["conflicts"][0]["stands"] == "misgendering"
    opening = frontend.start_data(
        fresh_store, project, annotators(fresh_store, project)[0], language="en", api="/api/desk"
    )
    replies.append({key: value for key, value in opening.items() if key not in ("guideline", "words", "reasons")})
    sent = json.dumps(replies, ensure_ascii=False).lower()
    assert [word for word in SECRET if word.lower() in sent] == []
    assert "of bo" not in sent and "plural_they" not in json.dumps(replies[:-1])
    (decision,) = replies[2]["history"]
    assert (decision["spans"], decision["extraneous"]) == ([[1, 3, "extraneous"], [4, 7, "pronoun"]], True)
    assert decision == replies[3]["decision"] and set(decision["item"]) == ITEM_KEYS


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"choice": "misgendering"}, "For misgendering, the wrong pronoun must be marked."),
        (
            {"choice": "no_pronoun", "spans": [[0, 2, "pronoun"]]},
            ("“No pronoun” was chosen, but a pronoun is marked."),
        ),
        ({"extraneous": True}, "Extraneous gendered language is flagged, but no words are marked."),
        (
            {"spans": [[0, 2, "extraneous"]]},
            ("Gendered words are marked, but extraneous gendered language is not flagged."),
        ),
        ({"choice": "misgendering", "spans": [[0, 1, "pronoun"]]}, "The mark from 0 to 1 has no word in it."),
        ({"spans": [[0, 9999, "pronoun"]]}, "is not in the text"),
        ({"spans": [[0, 5, "pronoun"], [4, 6, "pronoun"]]}, "Two marks overlap at 4."),
        ({"spans": [[0, 5]]}, "A mark needs a start, an end and a kind."),
        ({"spans": "he"}, "The marks of a text must be a list of at most 200."),
        ({"extraneous": "yes"}, "This operation does not have the expected format."),
        ({"extraneous": 1}, "This operation does not have the expected format."),
        ({"choice": "accept"}, "accept is not a choice in this guideline."),
    ],
)
def test_a_refusal_names_the_broken_rule(ada: Desk, more: dict[str, Any], why: str) -> None:
    first, second = (item["id"] for item in ada.sync(want=2)["items"])
    refused, stored = ada.sync({**op(ada, first, "correct"), **more}, op(ada, second, "correct"))["answers"]
    assert refused["result"] == "refused" and why in refused["reason"]
    assert stored["result"] == "acked", "one that is refused holds up no other"


def test_refusals_are_translated(ada: Desk) -> None:
    (item,) = ada.sync(want=1)["items"]
    (answer,) = ada.sync(op(ada, item["id"], "misgendering"), language="zh")["answers"]
    assert answer["reason"] == "“误称性别”需要标出用错的代词。"
