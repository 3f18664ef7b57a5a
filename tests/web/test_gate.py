"""The gate: allowed names and origins, the identity of a request, the headers of every answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from evenhand.annotations.accounts.accounts import add_account, grant
from evenhand.annotations.accounts.sign_ins import end_all, sign_in
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.web.gate import COOKIE, PART_BYTES, Gate, content_policy, cookie_secret, host_name
from evenhand.web.requests import remember_visit

PAGE = "<html><script>\n one()\n</script><script type=module src=a.js></script></html>"
offered: dict[str, list[str]] = {"a": ["visit-of-ada"]}
HERE, AWAY = ("127.0.0.1", 5000), ("192.0.2.7", 5000)


async def who(request: Request) -> JSONResponse:
    person = getattr(request.state, "person", None)
    return JSONResponse({"name": person.name if person else None, "everywhere": person.everywhere if person else None})


async def hello(socket: WebSocket) -> None:
    await socket.accept()
    person = socket.scope["state"]["person"]
    asked = [part.strip() for part in socket.headers.get("sec-websocket-protocol", "").split(",")]
    await socket.send_json({"name": person.name if person else None, "session": asked[2] if len(asked) > 2 else None})
    await socket.close()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "index.html"
    file.write_text(PAGE, encoding="utf-8")
    yield file
    stores.close()


def server(page: Path, client: tuple[str, int] = HERE, host: str = "localhost") -> TestClient:
    paths = (
        *("/", "/sign-in", "/account/link", "/media/a.csv", "/_stcore/health", "/api/x"),
        *("/_stcore/upload_file/visit-of-ada/1", "/_stcore/upload_file/visit-of-bo/1"),
    )
    routes = [Route(path, who, methods=["GET", "POST", "PUT"]) for path in paths]
    app = Starlette(
        routes=[*routes, WebSocketRoute("/_stcore/stream", hello)],
        middleware=[Middleware(Gate, page=page, sessions_of=offered.get)],
    )
    return TestClient(app, base_url=f"http://{host}", client=client, follow_redirects=False)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("127.0.0.1:8501", 200), ("[::1]:8501", 200), ("LOCALHOST", 200), ("", 421),
        ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost.evil.example:80", 421), ("[", 421),
        ("evenhand.example", 421),
    ],
)  # fmt: skip
def test_only_names_of_this_server_are_served(
    fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch, host: str, status: int
) -> None:
    with server(page) as client:
        assert client.get("/", headers={"host": host}).status_code == status
        if status == 421:
            with (
                pytest.raises(WebSocketDisconnect),
                client.websocket_connect("ws://localhost/_stcore/stream", headers={"host": host}),
            ):
                pass


def test_a_host_of_the_environment_needs_a_sign_in(
    fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_HOSTS", "other.example, Evenhand.example")
    with server(page, AWAY, "evenhand.example") as client:
        assert client.get("/").status_code == 403  # the open mode is for this machine
        assert "accounts first" in client.get("/").text
        assert client.get("/account/link").status_code == 200  # here the first account is made
        secret = sign_in(fresh_store, add_account(fresh_store, "Ada"))
        assert client.get("/").status_code == 401
        assert client.get("/", headers={"cookie": f"{COOKIE}={secret}"}).json()["name"] == "Ada"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost"}, 200),
        ({"origin": "http://localhost:8501"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"content-length": "2000000"}, 413),
    ],
)
def test_posts_are_accepted_from_own_origins_only(
    fresh_store: Store, page: Path, headers: dict[str, str], status: int
) -> None:
    with server(page) as client:
        assert client.post("/api/x", headers=headers).status_code == status
        if status == 403 and "origin" in headers:
            assert client.get("/", headers=headers).status_code == 200  # a link from another site may be followed
            with (
                pytest.raises(WebSocketDisconnect),
                client.websocket_connect("ws://localhost/_stcore/stream", headers=headers),
            ):
                pass


def test_a_large_file_is_uploaded(fresh_store: Store, page: Path) -> None:
    with server(page) as client:
        assert client.put("/_stcore/upload_file/visit-of-ada/1", content=b"0" * 2_000_000).status_code == 200


def test_without_accounts_local_visitors_are_owners(fresh_store: Store, page: Path) -> None:
    with server(page) as client, client.websocket_connect("ws://localhost/_stcore/stream") as socket:
        assert client.get("/").json() == {"name": "", "everywhere": "owner"}
        assert socket.receive_json()["name"] == ""
    with server(page, AWAY) as client:
        assert client.get("/").status_code == 403


FORWARDING = ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "Via", "Forwarded"]


@pytest.mark.parametrize("header", FORWARDING)
def test_the_open_mode_does_not_answer_through_a_proxy(
    fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    monkeypatch.setenv("EVENHAND_PROXY", "127.0.0.1")  # a proxy that is named opens nothing either
    sent = {header: "127.0.0.1"}
    with server(page) as client:
        answer = client.get("/", headers=sent)
        assert answer.status_code == 403 and "came through a proxy" in answer.text
        assert client.post("/api/x", headers=sent).status_code == 403
        assert client.get("/account/link", headers=sent).status_code == 200  # here the first account is made
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("ws://localhost/_stcore/stream", headers=sent),
        ):
            pass
        add_account(fresh_store, "Ada")
        assert client.get("/", headers=sent).status_code == 401  # with accounts, proxies are welcome


@pytest.mark.parametrize("path", ["/static/_stcore/stream", "/static/x", "/_stcore/health/_stcore/stream", "/healthz"])
def test_a_websocket_at_a_public_address_needs_a_sign_in(fresh_store: Store, page: Path, path: str) -> None:
    add_account(fresh_store, "Ada")
    with server(page) as client:
        with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(f"ws://localhost{path}"):
            pass
        assert (refused.value.code, refused.value.reason) == (1008, "Sign in first.")


def test_with_accounts_the_cookie_identifies_the_visitor(fresh_store: Store, page: Path) -> None:
    ada = add_account(fresh_store, "Ada")
    grant(fresh_store, ada, "owner", None)
    mine = {"cookie": f"other=1; {COOKIE}={sign_in(fresh_store, ada)}"}
    with server(page) as client:
        for cookie in ({}, {"cookie": f"{COOKIE}=nonsense"}, {"cookie": "=;;"}):
            assert client.get("/", headers=cookie).status_code == 401
            opened = client.get("/", headers={**cookie, "accept": "text/html"})
            assert (opened.status_code, opened.headers["location"]) == (303, "/sign-in")
            assert client.get("/api/x", headers=cookie).status_code == 401
            for path in ("/media/a.csv", "/_stcore/upload_file/visit-of-ada/1"):
                assert client.get(path, headers=cookie).status_code in (401, 404)
            for path in ("/sign-in", "/account/link"):
                assert client.get(path, headers=cookie).json()["name"] is None
            with (
                pytest.raises(WebSocketDisconnect),
                client.websocket_connect("ws://localhost/_stcore/stream", headers=cookie),
            ):
                pass
        assert client.get("/_stcore/health").status_code == 200
        assert client.get("/", headers=mine).json() == {"name": "Ada", "everywhere": "owner"}
        with client.websocket_connect("ws://localhost/_stcore/stream", headers=mine) as socket:
            assert socket.receive_json()["name"] == "Ada"
        end_all(fresh_store, ada)
        assert client.get("/", headers=mine).status_code == 401


def test_files_of_a_session_are_given_to_its_account_only(fresh_store: Store, page: Path) -> None:
    cookies = {}
    for name in ("ada", "bo"):
        account = add_account(fresh_store, name)
        remember_visit(f"visit-of-{name}", account.uid)
        cookies[name] = {"cookie": f"{COOKIE}={sign_in(fresh_store, account)}"}
    with server(page) as client:
        for path in ("/media/a.csv", "/_stcore/upload_file/visit-of-ada/1"):
            assert client.get(path, headers=cookies["ada"]).status_code == 200
            assert client.get(path, headers=cookies["bo"]).status_code == 404
        for name, session in (("ada", "visit-of-ada"), ("bo", None)):
            with client.websocket_connect(
                "ws://localhost/_stcore/stream", subprotocols=["streamlit", "x", "visit-of-ada"], headers=cookies[name]
            ) as socket:
                assert socket.receive_json() == {"name": name, "session": session}


def test_guests_are_admitted_if_the_server_allows_them(
    fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_account(fresh_store, "Ada")
    monkeypatch.setenv("EVENHAND_GUESTS", "1")
    with server(page) as client:
        assert client.get("/").json()["name"] is None


def test_every_answer_has_the_headers(fresh_store: Store, page: Path) -> None:
    with server(page) as client:
        results = [client.get("/"), client.get("/nowhere"), client.get("/", headers={"host": "evil.example"})]
        for answer in results:
            assert answer.headers["content-security-policy"] == content_policy(page)
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "same-origin"
        assert client.get("/media/a.csv").headers["cache-control"] == "no-store"


def test_the_policy_lists_page_scripts_by_hash(page: Path) -> None:
    policy = content_policy(page)
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "'unsafe-inline'" not in scripts
    assert "'unsafe-eval'" not in scripts
    # printf '\n one()\n' | openssl dgst -sha256 -binary | base64
    assert "'sha256-AoWnv9YWxm+cRHSe+n/TSQw1pFyWbutqJIIPV1bOM/4='" in scripts
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a.example:80", "a.example"),
        ("[::1]:80", "::1"),
        ("A.Example", "a.example"),
        ("a@b", "b"),
        ("[x", ""),
        ("", ""),
    ],
)
def test_host_names_are_parsed(value: str, name: str) -> None:
    assert host_name(value) == name


@pytest.mark.parametrize(
    ("header", "secret"),
    [
        (b"evenhand=abc", "abc"),
        (b"a=1; __Host-evenhand=def; evenhand=abc", "def"),
        (b"a=1", ""),
        (b"\xff\xfe", ""),
        (b"evenhand=", ""),
    ],
)
def test_the_secret_is_read_from_a_cookie(header: bytes, secret: str) -> None:
    assert cookie_secret([(b"host", b"a"), (b"cookie", header)]) == secret


def test_a_download_is_sent_in_parts_uncompressed(fresh_store: Store, page: Path) -> None:
    data = memoryview(b"a line\n" * (PART_BYTES // 2))
    sent: list[dict[str, Any]] = []

    async def offers(scope: Any, receive: Any, send: Any) -> None:
        response = Response(data, headers={"seen": Request(scope).headers.get("accept-encoding", "nothing")})
        await response(scope, receive, send)

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    headers = [(b"host", b"localhost"), (b"accept-encoding", b"gzip")]
    scope = {"type": "http", "method": "GET", "path": "/media/a.csv", "headers": headers, "client": HERE, "state": {}}
    anyio.run(Gate(offers, page), scope, receive, send)
    assert (b"seen", b"nothing") in sent[0]["headers"]
    assert (b"content-length", str(len(data)).encode()) in sent[0]["headers"]
    bodies = [row["body"] for row in sent[1:]]
    assert b"".join(bodies) == bytes(data)
    assert [len(body) for body in bodies[:-1]] == [PART_BYTES] * (len(bodies) - 1) and len(bodies) > 3
    assert [row["more_body"] for row in sent[1:]] == [True] * (len(bodies) - 1) + [False]
