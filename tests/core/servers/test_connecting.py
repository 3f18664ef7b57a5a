"""Connecting to model servers: names are resolved and checked, and the connection goes to the checked address."""

import asyncio
import socket

import httpx
import pytest

from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.servers.client import Asker, Pace
from evenhand.core.servers.connecting import CheckedTransport, client_of
from tests.support.chat_server import chat_server

NAMES = {
    "models.example": ["192.0.2.7", "2001:db8::7"],
    "localhost": ["::1", "127.0.0.1"],
    "evil.example": ["169.254.169.254"],
    "mixed.example": ["192.0.2.7", "::ffff:169.254.169.254"],
    "lan.example": ["10.0.0.4"],
}


class Network:
    """Answers with its name at some addresses; other addresses refuse connections. Notes what it was sent."""

    def __init__(self, *listening: str, location: str = "") -> None:
        self.listening, self.location, self.sent = listening, location, list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if request.url.host not in self.listening:
            raise httpx.ConnectError("refused", request=request)
        moved = {"location": self.location} if self.location and len(self.sent) == 1 else {}
        return httpx.Response(302 if moved else 200, headers=moved, text="hello")


async def names(host: str, port: int) -> list[str]:
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return NAMES[host]


def got(network: Network, url: str, *, follow: bool = False) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = CheckedTransport(httpx.MockTransport(network), names)
        async with httpx.AsyncClient(transport=transport, follow_redirects=follow) as client:
            return await client.get(url)

    return asyncio.run(ask())


def test_the_connection_uses_the_checked_address() -> None:
    network = Network("192.0.2.7")
    assert got(network, "https://models.example:8000/v1").text == "hello"
    (request,) = network.sent
    assert str(request.url) == "https://192.0.2.7:8000/v1"
    assert request.headers["host"] == "models.example:8000"
    assert request.extensions["sni_hostname"] == "models.example"


def test_the_next_address_is_tried() -> None:
    network = Network("127.0.0.1")
    assert got(network, "http://localhost:8000/v1").text == "hello"
    assert [request.url.host for request in network.sent] == ["::1", "127.0.0.1"]
    with pytest.raises(httpx.ConnectError):
        got(Network(), "http://localhost:8000/v1")


@pytest.mark.parametrize("host", ["evil.example", "mixed.example"])
def test_a_name_resolving_to_a_metadata_server_is_refused(host: str) -> None:
    network = Network("169.254.169.254", "192.0.2.7")
    with pytest.raises(Refused, match=f"^{host} is not the address of a model server"):
        got(network, f"http://{host}/v1")
    assert network.sent == []


def test_a_redirect_is_checked() -> None:
    network = Network("10.0.0.4", location="http://evil.example/latest/meta-data")
    with pytest.raises(Refused):
        got(network, "http://lan.example/v1", follow=True)
    assert [request.url.host for request in network.sent] == ["10.0.0.4"]


def test_an_unresolvable_name_is_an_error() -> None:
    with pytest.raises(httpx.ConnectError, match="not known"):
        got(Network(), "http://nowhere.example/v1")


def test_a_name_is_resolved_only_once() -> None:
    """The attack that an earlier check does not see: another address at the second lookup."""
    answers = iter([["192.0.2.7"], ["169.254.169.254"]])

    async def rebinding(host: str, port: int) -> list[str]:
        return next(answers)

    network = Network("192.0.2.7")

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=CheckedTransport(httpx.MockTransport(network), rebinding)) as client:
            return await client.get("http://rebinding.example/v1")

    assert asyncio.run(ask()).text == "hello"
    assert [request.url.host for request in network.sent] == ["192.0.2.7"]


def test_a_proxy_of_the_system_resolves_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

    def is_checked(url: str) -> bool:
        client = client_of(url, httpx.Limits(), 1.0, {})
        return isinstance(client._transport, CheckedTransport)

    assert is_checked("http://models.example/v1")
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "localhost")
    assert not is_checked("http://models.example/v1")
    assert is_checked("http://localhost:8000/v1") and is_checked("https://models.example/v1")


def test_named_servers_are_reached_and_metadata_servers_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(asker: Asker) -> str:
        async with client_of(asker.url, httpx.Limits(), 5.0, {}) as client:
            return await asker.ask(client, {"messages": [{"role": "user", "content": "x"}]}, lambda body: body["model"])

    with chat_server(lambda body: "x") as server:
        url = f"http://localhost:{server.server_address[1]}/v1/chat/completions"
        assert asyncio.run(ask(Asker(url, Pace()))) == "planted-1"
    with pytest.raises(ModelUnavailable, match="There is no server"):
        asyncio.run(ask(Asker("http://name.invalid/v1", Pace(tries=1))))
    with pytest.raises(Refused, match="not the address of a model server"):
        asyncio.run(ask(Asker("http://169.254.169.254/v1", Pace())))
