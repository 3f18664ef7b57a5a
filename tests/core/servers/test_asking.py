"""Asking a server: what is asked again, how long it waits; the writers' tests ask through it too."""

from typing import Any

import pytest

from core.errors import ModelUnavailable
from core.servers.asking import Asker, Pace, Unfinished, seconds_of
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
def test_retry_after(header: str | None, expected: float | None) -> None:
    assert seconds_of(header) == expected


def ask(server: ChatServer, number: int, **pace: Any) -> tuple[list[str], list[str]]:
    """What was answered, and what was given up."""
    asker = Asker(f"{server.address}/chat/completions", Pace(pause_s=0.001, **pace), "sk-secret")
    found: list[str] = []
    given_up: list[str] = []

    async def work(client: Any, one: int) -> None:
        body = {"messages": [{"role": "user", "content": str(one)}]}
        try:
            found.append(await asker.ask(client, body, lambda data: str(data["choices"][0]["message"]["content"])))
        except Unfinished as error:
            given_up.append(str(error))

    asker.work_off(range(number), work)
    return found, given_up


def test_every_third_fails_and_all_are_answered() -> None:
    with chat_server(lambda body: body["messages"][0]["content"]) as server:
        server.every = 3
        found, given_up = ask(server, 40, at_once=5)
    odd = [one for one in found if not one.isdigit()]  # an answer in words is an answer: the one who asked reads it
    assert not given_up and len(found) == 40 and len({*found} - {*odd}) == 40 - len(odd)
    assert server.failed > 10
    assert {one["Authorization"] for one in server.headers} == {"Bearer sk-secret"}


def test_a_refusal_ends_all_of_it_and_says_no_key() -> None:
    with chat_server(lambda body: "") as server:
        server.refuse = (401, {"error": {"message": "wrong key sk-secret"}})
        with pytest.raises(ModelUnavailable, match=r"wrong key \*\*\*"):
            ask(server, 20, at_once=2)
    assert server.asked <= 4


def test_what_always_fails_is_given_up() -> None:
    with chat_server(lambda body: "") as server:
        server.refuse = (503, {})
        found, given_up = ask(server, 2, tries=3)
    assert not found and len(given_up) == 2 and server.asked == 6
