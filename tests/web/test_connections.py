"""Limits of connections: what sends nothing is cut, what is too much is refused, and a stop does not wait for it."""

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from uvicorn import Config, Server

from evenhand.web import connections as limits
from evenhand.web.connections import Connections, LimitedProtocol, most_connections
from evenhand.web.request_log import Watch

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"
UPLOAD = b"PUT /_stcore/upload_file/a/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"
CHUNKED = b"POST /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
GET = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"


class Fast(LimitedProtocol):
    """The same with times for a test."""

    header_s, body_s, upload_s, rest_s = 0.3, 0.6, 60.0, 0.3


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def large(_: Request) -> StreamingResponse:
    return StreamingResponse(iter([b"0" * 65536] * 400))


async def late(request: Request) -> PlainTextResponse:
    """Answer with the data sent after the body, if that counts."""
    await request.body()
    return PlainTextResponse(request.headers.get("x-late", "nothing"))


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[tuple[Server, int, asyncio.Task[None]]]:
    routes = [
        Route("/", echo, methods=["GET", "POST"]),
        Route("/large", large),
        Route("/late", late, methods=["POST"]),
        Route("/_stcore/upload_file/{a}/{b}", echo, methods=["PUT"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Watch)])
    config = Config(app, http=Fast, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
    server = Server(config)
    server.config.load()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server._serve([listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield server, listening.getsockname()[1], task
        server.should_exit = True
        await asyncio.wait_for(task, 20)


def in_a_loop(work: Callable[[Server, int, asyncio.Task[None]], Awaitable[None]]) -> None:
    async def run() -> None:
        async with serving() as server:
            await work(*server)

    asyncio.run(run())


async def reply(port: int, sent: bytes, trickle: bytes = b"") -> bytes:
    """Return all bytes until the server ends the connection; *trickle* is sent meanwhile."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)

    async def go_on() -> None:
        with contextlib.suppress(OSError):
            while trickle:
                await asyncio.sleep(0.05)
                writer.write(trickle)
                await writer.drain()

    beside = asyncio.create_task(go_on())
    found = b""
    try:
        while part := await asyncio.wait_for(reader.read(65_536), 20):
            found += part
        return found
    except ConnectionError:  # the server has closed it while more was sent
        return found
    finally:
        beside.cancel()
        writer.close()


def test_idle_connections_are_cut() -> None:
    async def work(server: Server, port: int, _: asyncio.Task[None]) -> None:
        cut = await asyncio.gather(
            reply(port, b""),  # nothing at all
            reply(port, b"GET / HTTP/1.1\r\nX: "),
            reply(port, b"GET / HTTP/1.1\r\nX: ", trickle=b"a"),
            reply(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /T", trickle=b"T"),  # the second of a connection
            reply(port, HEAD),
            reply(port, HEAD + b"a", trickle=b"a"),
        )
        assert [reply.split(b"\r\n")[0].partition(b" ")[2] for reply in cut[:3]] == [b"408 Request Timeout"] * 3
        assert cut[3].startswith(b"HTTP/1.1 200 OK")
        assert b"408 Request Timeout" in cut[3]
        assert cut[4:] == [b"", b""]
        assert not server.server_state.tasks

    in_a_loop(work)


def test_headers_and_trailers_are_limited() -> None:
    most = limits.MOST_HEADER

    async def work(_server: Server, port: int, _: asyncio.Task[None]) -> None:
        answers = await asyncio.gather(
            reply(port, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (most + 1)),  # its end does not come
            reply(port, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * most + b"\r\n\r\n"),
            reply(port, b"GET /" + b"a" * most + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
            reply(port, CHUNKED + b"0\r\nX-Late: " + b"a" * (most + 1)),
            reply(port, CHUNKED + b"1;a=" + b"a" * (most + 1)),
            reply(port, CHUNKED + b"0\r\nX-Late: said\r\n\r\n"),
            reply(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: " + b"a" * (most - 100) + b"\r\n\r\n"),
        )
        first = [answer.split(b"\r\n")[0].partition(b" ")[2] for answer in answers]
        assert first[:3] == [b"431 Request Header Fields Too Large", b"400 Bad Request", b"400 Bad Request"]
        assert first[3:5] == [b"", b""]
        assert answers[5].endswith(b"nothing")
        assert answers[6].endswith(b"0")

    in_a_loop(work)


def test_slow_but_steady_uploads_are_served() -> None:
    async def work(_server: Server, port: int, _: asyncio.Task[None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(UPLOAD)
        await asyncio.sleep(1.0)  # longer than any other body may pause
        for _ in range(2):
            writer.write(b"0" * 2500)
            await asyncio.sleep(0.3)
        assert (await reader.read(4096)).endswith(b"5000")
        writer.write(HEAD)
        for _part in range(4):  # 1.2 s in all, and progress each time
            await asyncio.sleep(0.3)
            writer.write(b"0" * 1250)
        assert (await reader.read(4096)).endswith(b"5000")
        writer.close()

    in_a_loop(work)


def test_a_client_that_reads_nothing_is_cut() -> None:
    async def work(server: Server, port: int, _: asyncio.Task[None]) -> None:
        with socket.socket() as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            lazy.setblocking(False)
            await asyncio.get_running_loop().sock_connect(lazy, ("127.0.0.1", port))
            await asyncio.get_running_loop().sock_sendall(lazy, GET)
            await asyncio.sleep(0.2)
            assert server.server_state.tasks
            for _ in range(200):
                if not server.server_state.tasks:
                    return
                await asyncio.sleep(0.05)
        raise AssertionError("its answer waits for ever")

    in_a_loop(work)


def test_a_stop_does_not_wait_for_half_a_request() -> None:
    async def work(server: Server, port: int, task: asyncio.Task[None]) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"half")
        while not server.server_state.tasks:
            await asyncio.sleep(0.01)
        started = asyncio.get_running_loop().time()
        server.should_exit = True
        await asyncio.wait_for(task, 20)
        assert asyncio.get_running_loop().time() - started < 4
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()

    in_a_loop(work)


class Transport:
    """A connection with the attributes that the count reads."""

    closing = False

    def is_closing(self) -> bool:
        return self.closing


def test_connections_are_counted_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    count, made = Connections(most=5, most_of_address=2), [Transport() for _ in range(8)]
    assert [count.admit(connection, "192.0.2.1") for connection in made[:3]] == [True, True, False]  # type: ignore[arg-type]
    assert count.admit(made[3], "192.0.2.2")  # type: ignore[arg-type]
    made[0].closing = True
    assert count.admit(made[4], "192.0.2.1")  # type: ignore[arg-type]
    assert (len(count), count.refused) == (3, 1)
    monkeypatch.setenv("EVENHAND_PROXY", "10.0.0.1, 192.0.2.1")
    assert count.admit(made[5], "192.0.2.1")  # type: ignore[arg-type]  # a proxy speaks for many
    assert count.admit(made[6], "127.0.0.1")  # type: ignore[arg-type]
    assert not count.admit(made[7], "127.0.0.1")  # type: ignore[arg-type]


def test_connections_leave_descriptors_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_CONNECTIONS", raising=False)
    for soft, most in ((64, 16), (1024, 768), (8192, 4000), (10, 8), (resource.RLIM_INFINITY, 4000)):
        monkeypatch.setattr(limits.resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert most_connections() == most
    monkeypatch.setenv("EVENHAND_CONNECTIONS", "100")
    assert most_connections() == 100


def test_a_connection_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "connections", Connections(most=1))

    async def work(_server: Server, port: int, _: asyncio.Task[None]) -> None:
        first = asyncio.create_task(reply(port, HEAD))
        await asyncio.sleep(0.1)
        assert (await reply(port, b"")).startswith(b"HTTP/1.1 503 ")
        await first
        assert (await reply(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).endswith(b"0")

    in_a_loop(work)


def test_headers_of_proxies_change_no_address_or_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn trusts X-Forwarded-* of 127.0.0.1 by default, whether or not EVENHAND_PROXY names it."""
    monkeypatch.setattr(Server, "startup", Server.startup)
    monkeypatch.setattr(limits, "raise_descriptors", lambda: None)
    monkeypatch.setattr(limits.connections, "most", 100)
    limits.limit_connections()

    async def asked() -> bytes:
        async def whose(request: Request) -> PlainTextResponse:
            assert request.client is not None
            return PlainTextResponse(f"{request.client.host} {request.url.scheme}")

        server = Server(Config(Starlette(routes=[Route("/", whose)]), log_config=None, lifespan="off"))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            task = asyncio.create_task(server._serve([listening]))
            while not server.started:
                await asyncio.sleep(0.01)
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            writer.write(
                b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\n"
                b"Connection: close\r\n\r\n"
            )
            answer = await reader.read()
            writer.close()
            server.should_exit = True
            await task
        return answer

    assert asyncio.run(asked()).endswith(b"127.0.0.1 http")
