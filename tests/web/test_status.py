"""`/healthz`, `/metrics` and the ids of requests."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

from evenhand.annotations.accounts.accounts import add_account
from evenhand.annotations.database.pool import stores
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import create_project
from evenhand.web import status
from evenhand.web.gate import Gate
from evenhand.web.request_log import Json, Requests, Watch, requests, route_of
from evenhand.web.requests import below

HERE, AWAY = ("127.0.0.1", 5000), ("192.0.2.7", 5000)
TOKEN = "a-token-of-the-monitor"


async def leave(_: Request) -> PlainTextResponse:
    raise ClientDisconnect


async def fail(_: Request) -> PlainTextResponse:
    raise ValueError("她 is what somebody wrote")


async def hello(socket: WebSocket) -> None:
    await socket.accept()
    await socket.receive()


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "index.html"
    file.write_text("<html></html>", encoding="utf-8")
    status._kept.clear()
    status._limiter.clear()
    yield file
    stores.close()


def server(page: Path, client: tuple[str, int] = HERE, host: str = "localhost", base: str = "") -> TestClient:
    app = Starlette(
        routes=[
            *below(base, status.routes(lambda: "running")),
            Route("/sign-in", leave, methods=["POST"]),
            Route("/study/{secret}", fail),
            WebSocketRoute("/_stcore/stream", hello),
        ],
        middleware=[Middleware(Watch, base=base), Middleware(Gate, page=page, base=base)],
    )
    return TestClient(app, base_url=f"http://{host}", client=client, raise_server_exceptions=False)


def test_health_is_public_and_reveals_no_secret(
    fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_account(fresh_store, "Ada")
    create_project(fresh_store, "secret-project")
    monkeypatch.setenv("EVENHAND_HOSTS", "evenhand.example")
    with server(page, AWAY, "evenhand.example", "/lab") as client:
        result = client.get("/lab/healthz")
    assert result.status_code == 200
    assert result.json() == {"ok": True, "database": "ok", "disk": "ok", "worker": "running", "version": status.VERSION}
    for secret in ("Ada", "secret-project", str(fresh_store.path), fresh_store.uid):
        assert secret not in result.text


def test_health_names_the_failing_part(fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(page) as client:
        monkeypatch.setattr(status, "FEW_BYTES", 10**18)
        assert (client.get("/healthz").status_code, client.get("/healthz").json()["disk"]) == (503, "full")
        monkeypatch.setattr(status, "FEW_BYTES", 0)
        monkeypatch.setenv("EVENHAND_DB", str(page.with_name("not-there.db")))
        assert (client.get("/healthz").status_code, client.get("/healthz").json()["database"]) == (503, "missing")
        page.with_name("other.db").write_bytes(b"nonsense" * 1000)
        monkeypatch.setenv("EVENHAND_DB", str(page.with_name("other.db")))
        assert (client.get("/healthz").status_code, client.get("/healthz").json()["database"]) == (503, "unreadable")


def test_health_notices_a_replaced_database(fresh_store: Store, page: Path) -> None:
    with server(page) as client:
        assert client.get("/healthz").status_code == 200
        with Store.open(page.with_name("second.db")):
            pass
        page.with_name("second.db").replace(fresh_store.path)
        status._kept.clear()
        assert (client.get("/healthz").status_code, client.get("/healthz").json()["database"]) == (503, "unreadable")


def test_a_busy_database_is_healthy(fresh_store: Store, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "WAIT_MS", 10)
    with server(page) as client, fresh_store.write():
        assert client.get("/healthz").status_code == 200


def test_metrics_need_this_machine_or_the_token(
    fresh_store: Store, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_account(fresh_store, "Ada")
    monkeypatch.setenv("EVENHAND_HOSTS", "evenhand.example")
    with server(page) as client:
        assert client.get("/metrics").status_code == 200
        for name in ("x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via", "forwarded"):
            assert client.get("/metrics", headers={name: "192.0.2.7"}).status_code == 404  # a proxy here
        assert client.get("/metrics", headers={"host": "evenhand.example"}).status_code == 404
    with server(page, AWAY, "evenhand.example") as client:
        assert client.get("/metrics").status_code == 404
        (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
        for name, value in (("", TOKEN), ("_FILE", str(tmp_path / "token"))):
            monkeypatch.setenv(f"EVENHAND_METRICS_TOKEN{name}", value)
            assert client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
            for wrong in ("", "Bearer ", f"Bearer {TOKEN}x", "Bearer é"):
                assert client.get("/metrics", headers={"authorization": wrong.encode("latin-1")}).status_code == 404
            monkeypatch.delenv(f"EVENHAND_METRICS_TOKEN{name}")


def test_metrics_contain_no_names(fresh_store: Store, page: Path) -> None:
    create_project(fresh_store, "secret-project", annotators=("Ada",))
    with server(page) as client:
        client.get("/study/eyJzZWNyZXQiOjF9.abc?PROLIFIC_PID=somebody")
        client.get("/healthz?who=Ada")
        text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert int(lines['evenhand_http_requests_total{route="/study",method="GET",status="500"}']) >= 1
    assert float(lines['evenhand_http_request_seconds_bucket{route="/healthz",le="+Inf"}']) >= 1
    assert (lines["evenhand_labels"], lines["evenhand_desks_open"], lines["evenhand_up"]) == ("0", "0", "1")
    assert lines['evenhand_jobs{state="running"}'] == "0"
    assert int(lines['evenhand_database_bytes{file="database"}']) > 10_000
    assert int(lines["evenhand_memory_bytes"]) > 10_000_000
    for secret in ("Ada", "secret-project", "eyJ", "somebody", "PROLIFIC", str(fresh_store.path)):
        assert secret not in text


def test_metrics_report_an_unreadable_database(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.db").write_bytes(b"nonsense" * 1000)
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "broken.db"))
    with server(page) as client:
        assert "\nevenhand_up 0\n" in client.get("/metrics").text


def test_every_answer_has_its_own_request_id(fresh_store: Store, page: Path) -> None:
    with server(page) as client:
        sent = [client.get("/healthz", headers={"x-request-id": "mine"}).headers["x-request-id"] for _ in range(3)]
        sent.append(client.get("/", headers={"host": "evil.example"}).headers["x-request-id"])  # refused ones too
    assert len(set(sent)) == 4
    assert "mine" not in sent


def test_a_disconnect_while_sending_is_not_an_error(fresh_store: Store, page: Path) -> None:
    before = requests.text()
    with server(page) as client:
        client.post("/sign-in", content=b"name=a")
    line = 'evenhand_http_requests_total{route="/sign-in",method="POST",status="499"}'
    assert sum(one.startswith(line) for one in requests.text()) == 1
    assert before != requests.text()


def test_open_sockets_are_counted(fresh_store: Store, page: Path) -> None:
    before = requests.sockets
    with server(page) as client:
        with client.websocket_connect("ws://localhost/_stcore/stream"):
            assert requests.sockets == before + 1
        client.get("/healthz")
    assert requests.sockets == before


@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/", "page"), ("/review", "page"), ("/../../etc/passwd", "page"), ("", "page"), ("/api", "page"),
        ("/api/desk/sync", "/api/desk/sync"), ("/api/desk/2f0f", "/api/desk/other"), ("/api/desk/x/y", "page"),
        ("/study/eyJ.abc", "/study"), ("/account/link", "/account"), ("/media/0a1b.csv", "/media"),
        ("/_stcore/upload_file/session/1", "/_stcore/upload_file"), ("/_stcore/secret", "/_stcore"),
    ],
)  # fmt: skip
def test_metrics_use_route_patterns_as_labels(path: str, route: str) -> None:
    assert route_of(path) == route


def test_the_histogram_is_cumulative() -> None:
    counted = Requests()
    for seconds in (0.001, 0.005, 0.3, 99.0):
        counted.count("page", "GET", 200, seconds)
    lines = [line for line in counted.text() if line.startswith("evenhand_http_request_seconds")]
    numbers = [float(line.rsplit(" ", 1)[1]) for line in lines]
    assert numbers == [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 99.306, 4]


def test_the_request_log_contains_no_sent_values(fresh_store: Store, page: Path) -> None:
    out, logger = io.StringIO(), logging.getLogger("evenhand.request")
    handler = logging.StreamHandler(out)
    handler.setFormatter(Json())
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with server(page) as client:
            sent = client.get(
                "/study/a-signed-link?PROLIFIC_PID=somebody",
                headers={"cookie": "evenhand=a-secret", "authorization": "Bearer a-token", "x-request-id": "forged"},
            )
            client.post("/sign-in?next=somewhere", content=b"name=Ada&password=hunter2hunter2")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["route"], line["method"], line["status"]) for line in lines] == [
        ("/study", "GET", 500), ("/sign-in", "POST", 499),
    ]  # fmt: skip
    assert lines[0]["request"] != lines[1]["request"]
    assert sent.status_code == 500
    for secret in ("signed-link", "somebody", "a-secret", "a-token", "forged", "somewhere", "Ada", "hunter2"):
        assert secret not in out.getvalue()
