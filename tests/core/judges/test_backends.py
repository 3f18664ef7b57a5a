"""A judge behind a server: what is sent, repaired, counted and given up."""

import json
import math
from typing import Any

import pytest

from evenhand.core.errors import EvenhandError, Refused
from evenhand.core.guidelines import generations
from evenhand.core.judges.backends import ServerJudge, ServerSettings
from evenhand.core.judges.prompts import SYSTEM, JudgedText, JudgeLabel, Prompt, Way
from evenhand.core.servers.client import Pace
from tests.support.chat_server import ChatServer, chat_server

TEXTS = [JudgedText(n, f"She left at {n}.", f"Kim uses they/them ({n}).") for n in range(1, 41)]
RIGHT = json.dumps({"choice": "misgendering", "extraneous": False, "wrong_pronouns": ["she"], "gendered_words": []})


def label(
    server: ChatServer, texts: list[JudgedText] = TEXTS, way: Way = "json", **how: Any
) -> tuple[list[JudgeLabel], dict[int, EvenhandError]]:
    prompt = Prompt("{choices}{context}|{text}|{format}", "", generations("en").choices, SYSTEM, way=way)
    judge = ServerJudge(server.address, "planted", prompt, ServerSettings(**how), Pace(pause_s=0.001))
    results: list[JudgeLabel] = []
    failed: dict[int, EvenhandError] = {}
    judge.label(texts, results.append, failed.__setitem__)
    return results, failed


def test_errors_and_invalid_json_are_retried() -> None:
    with chat_server(lambda body: RIGHT) as server:
        server.every = 4
        labels, failed = label(server)
    assert not failed and sorted(entry.item for entry in labels) == list(range(1, 41))
    assert all(
        (entry.choice, entry.extraneous, entry.spans) == ("misgendering", False, ((0, 3, "pronoun"),))
        for entry in labels
    )
    repaired = [body for body in server.bodies if len(body["messages"]) == 4]
    assert repaired and server.failed >= 10
    assert repaired[0]["messages"][2]["content"].startswith("Well") and "JSON" in repaired[0]["messages"][3]["content"]
    assert {entry.answered for entry in labels} == {"planted-1"} and {entry.tokens_in for entry in labels} == {100, 200}


def test_an_unreadable_answer_fails_only_its_text() -> None:
    def says(body: dict[str, Any]) -> str:
        return "no idea" if "left at 7." in body["messages"][1]["content"] else RIGHT

    with chat_server(says) as server:
        labels, failed = label(server)
    assert list(failed) == [7] and "no idea" in str(failed[7]) and len(labels) == 39
    assert server.answered.total() == 41  # one repair, no more


def test_requests_contain_settings_and_constraint() -> None:
    with chat_server(lambda body: RIGHT) as server:
        label(server, TEXTS[:1], temperature=0.5, samples=3, constraint="schema")
        label(server, TEXTS[:1], constraint="none")
    first = server.bodies[0]
    assert {key: first[key] for key in ("model", "temperature", "top_p", "max_tokens")} == {
        "model": "planted", "temperature": 0.5, "top_p": 1.0, "max_tokens": 300,
    }  # fmt: skip
    assert [body["seed"] for body in server.bodies] == [42, 43, 44, 42]
    assert first["response_format"]["json_schema"]["schema"]["required"][0] == "choice"
    assert "response_format" not in server.bodies[-1]
    assert [message["role"] for message in first["messages"]] == ["system", "user"]


def test_the_majority_label_has_the_shares_of_samples() -> None:
    with chat_server(
        lambda body: RIGHT if body["seed"] < 44 else '{"choice": "correct", "extraneous": false}'
    ) as server:
        (judged,), _ = label(server, TEXTS[:1], samples=3)
    assert judged.choice == "misgendering" and judged.samples == 3 and judged.tokens_in == 300
    assert judged.shares == pytest.approx({"misgendering": 2 / 3, "correct": 1 / 3})


def test_letter_probabilities_become_shares() -> None:
    def says(body: dict[str, Any]) -> dict[str, float]:
        if "gendered words" in body["messages"][-1]["content"]:
            return {" B": math.log(0.9), "A": math.log(0.1)}
        return {"B": math.log(0.6), "A": math.log(0.2), " B": math.log(0.1), "The": math.log(0.1)}

    with chat_server(says) as server:
        (judged,), _ = label(server, TEXTS[:1], way="letter")
    assert (judged.choice, judged.extraneous) == ("misgendering", True)
    assert judged.shares == pytest.approx(
        {"correct": 0.25, "misgendering": 0.75, "no_pronoun": 0.0, "plural_they": 0.0}
    )
    assert [body["max_tokens"] for body in server.bodies] == [1, 1] and server.bodies[0]["top_logprobs"] == 20


@pytest.mark.parametrize(("address", "model"), [("http://169.254.169.254/v1", "m"), ("http://h/v1", " ")])
def test_forbidden_addresses_and_empty_models_are_refused(address: str, model: str) -> None:
    with pytest.raises(Refused):
        ServerJudge(address, model, Prompt("{text}", "", generations("en").choices))
