"""Requests to a server: what is sent again, how long it waits; the tests of generation send theirs the same way."""

from typing import Any

import pytest

from evenhand.core.errors import ModelUnavailable
from evenhand.core.servers.client import Asker, Pace, Unfinished, seconds_of
from tests.support.chat_server import ChatServer, chat_server


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("3", 3.0),
        ("0", 0.0),
        ("9999", 600.0),
        ("-1", 0.0),
        ("soon", None),
        (None, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_parsed(header: str | None, expected: float | None) -> None:
    assert seconds_of(header) == expected


def ask(server: ChatServer, number: int, **pace: Any) -> tuple[list[str], list[str]]:
    """Return the answers, and the reasons of the requests that were given up."""
    asker = Asker(f"{server.address}/chat/completions", Pace(pause_s=0.001, **pace), "sk-secret")
    results: list[str] = []
    given_up: list[str] = []

    async def work(client: Any, one: int) -> None:
        body = {"messages": [{"role": "user", "content": str(one)}]}
        try:
            results.append(await asker.ask(client, body, lambda data: str(data["choices"][0]["message"]["content"])))
        except Unfinished as error:
            given_up.append(str(error))

    asker.work_off(range(number), work)
    return results, given_up


def test_failing_requests_are_retried_until_answered() -> None:
    with chat_server(lambda body: body["messages"][0]["content"]) as server:
        server.every = 3
        found, given_up = ask(server, 40, at_once=5)
    odd = [one for one in found if not one.isdigit()]  # an answer in words is an answer: the caller reads it
    assert not given_up and len(found) == 40 and len({*found} - {*odd}) == 40 - len(odd)
    assert server.failed > 10
    assert {header["Authorization"] for header in server.headers} == {"Bearer sk-secret"}


def test_a_refusal_ends_the_run_without_revealing_the_key() -> None:
    with chat_server(lambda body: "") as server:
        server.refuse = (401, {"error": {"message": "wrong key sk-secret"}})
        with pytest.raises(ModelUnavailable, match=r"wrong key \*\*\*"):
            ask(server, 20, at_once=2)
    assert server.asked <= 4


def test_a_request_that_always_fails_is_given_up() -> None:
    with chat_server(lambda body: "") as server:
        server.refuse = (503, {})
        found, given_up = ask(server, 2, tries=2)
    assert not found and len(given_up) == 2 and server.asked == 4


@pytest.mark.parametrize(("at_once", "most"), [(1, 8), (8, 24)])
def test_equal_failures_in_a_row_end_the_run_with_the_servers_message(at_once: int, most: int) -> None:
    with chat_server(lambda body: "") as server:
        server.refuse = (500, {"error": {"message": "chat_template is not set\n\x1b[31m sk-secret " + 500 * "x"}})
        with pytest.raises(ModelUnavailable) as raised:
            ask(server, 68, at_once=at_once)
    text = str(raised.value)
    assert "(status 500): “chat_template is not set [31m *** xxx" in text and "\x1b" not in text and len(text) < 450
    assert server.asked <= most


@pytest.mark.parametrize("status", [429, 503])
def test_requests_wait_for_a_loading_server(status: int) -> None:
    """Each request gets every try while the server reports that it is busy; then one answer is enough."""
    with chat_server(lambda body: "7") as server:
        server.refuse, server.recovers_after = (status, {"error": "Loading model"}), 8 * 6
        found, given_up = ask(server, 20, at_once=8)
    assert found == 20 * ["7"] and not given_up


def test_a_single_text_that_always_fails_does_not_end_the_others() -> None:
    with chat_server(lambda body: "7") as server:
        server.poison = "3"
        found, given_up = ask(server, 9, at_once=1, tries=6)
    assert found == 8 * ["7"] and len(given_up) == 1 and "status 500" in given_up[0]


def test_a_server_that_dies_halfway_ends_the_run_after_two_texts() -> None:
    with chat_server(lambda body: "7") as server:
        server.fails_from = 4
        with pytest.raises(ModelUnavailable, match="failed 12 times in a row"):
            ask(server, 30, at_once=1, tries=6)
    assert server.asked == 3 + 12


def test_answers_outside_the_protocol_end_the_run() -> None:
    with chat_server(lambda body: "7") as server:
        server.refuse = (200, {"detail": "hello"})
        with pytest.raises(ModelUnavailable, match=r"8 consecutive responses .* did not follow the protocol"):
            ask(server, 30, at_once=1)
