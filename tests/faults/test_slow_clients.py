"""The real server against clients that send slowly, keep connections open or come from elsewhere."""

import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.browser import Server, free_port
from tests.support.waiting import until

pytestmark = pytest.mark.long

HALF = b"POST /api/desk/sync HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
FORM = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000\r\n\r\nname="
SOCKET = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: http://evil.example\r\n\r\n"
)


class FewDescriptors(Server):
    """The app where the system gives it 64 descriptors."""

    @property
    def command(self) -> list[str]:
        """Return the command that starts the server."""
        return ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *super().command]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[[type[Server]], Server]]:
    made: list[Server] = []

    def start(kind: type[Server] = Server) -> Server:
        made.append(kind(tmp_path / "a.db").start())
        return made[-1]

    yield start
    for client in made:
        client.stop()


def connect(server: Server, sent: bytes = b"") -> socket.socket:
    """Open a connection and send *sent* on it."""
    result = socket.create_connection(("127.0.0.1", server.port), 30)
    result.sendall(sent)
    return result


def log(server: Server) -> str:
    return server.database.with_suffix(".log").read_text(encoding="utf-8", errors="replace")


def test_a_server_with_open_connections_stops_within_ten_seconds(server: Callable[..., Server]) -> None:
    running = server()
    with connect(running, HALF), connect(running, FORM), connect(running, b"GET / HTTP/1.1\r\nX: "):
        time.sleep(0.5)
        assert running.process is not None
        started = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        running.process.wait(60)
        assert time.monotonic() - started < 10
    assert "Traceback" not in log(running)


def test_a_disconnect_while_sending_logs_no_traceback(server: Callable[..., Server]) -> None:
    running = server()
    for sent in (HALF, FORM):
        with connect(running, sent):
            time.sleep(0.3)
    with connect(
        running, b"GET /_stcore/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    ) as connection:
        assert b"200 OK" in connection.recv(4096)
    assert "Traceback" not in log(running)


def test_too_many_connections_do_not_fill_the_log(server: Callable[..., Server]) -> None:
    running = server(FewDescriptors)
    idle = [connect(running) for _ in range(70)]
    time.sleep(5)
    for client in idle:
        client.close()

    def answers() -> bool:
        with (
            contextlib.suppress(OSError),
            connect(running, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as healthy,
        ):
            return b"200 OK" in healthy.recv(4096)
        return False

    until(answers, 60, lambda: log(running))
    assert len(log(running)) < 20_000


def test_the_server_opens_no_outside_connection(server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as outside:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{outside.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
        # Until it answers, the test's own requests must not go to the proxy.
        monkeypatch.setattr("urllib.request.getproxies", dict)
        running = server()
        with connect(running, SOCKET) as connection:
            assert b"403 Forbidden" in connection.recv(4096)
        outside.settimeout(2)
        with pytest.raises(TimeoutError):
            outside.accept()
