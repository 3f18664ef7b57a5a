"""Limits of connections: how many there are, and how long one may send or take nothing.

uvicorn waits for ever for the rest of a header or a body, and takes connections until the system has no descriptor
left: from then on it accepts nothing and fills the log. So each connection is looked after here.
"""

import asyncio
import logging
import os
import resource
import socket
from collections import Counter
from contextlib import suppress
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import Server

from evenhand.web.requests import proxies

HEADER_S = 15.0  # until the header of a request is there
BODY_S = 60.0  # without progress of a body, or of an answer that is taken
UPLOAD_S = 300.0  # the same for uploads, which pause on a bad line
PROGRESS = 1024  # bytes that count as progress: one byte a second is none
MOST_HEADER = 65_536  # bytes of a header, and of all that is between the parts of a body
KEEP_S = 20  # between two requests: a desk asks every few seconds, and opening a connection costs a third of a label
STOP_S = 10  # after SIGTERM, for requests under way; half of it for the rest of one that is still sent
MOST_SOCKET = 2 << 20  # bytes of a message of a page: all its fields together
MOST = 4000  # connections
MOST_OF_ADDRESS = 500  # a class behind one router: 40 browsers with 7 connections each
DESCRIPTORS = 8192  # wanted for them, where the system allows it
LOOPBACK = frozenset({"127.0.0.1", "::1", "::ffff:127.0.0.1"})
UPLOADS = "/_stcore/upload_file"

logger = logging.getLogger("evenhand.connections")


def most_connections() -> int:
    """Return how many connections the server accepts: EVENHAND_CONNECTIONS or 4,000, at least 8.

    The number is never above what the file descriptors allow. A quarter of the descriptors, 48 at least, stays free for
    databases, files and processes.
    """
    wanted = os.environ.get("EVENHAND_CONNECTIONS", "")
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    room = soft - max(48, soft // 4) if soft != resource.RLIM_INFINITY else MOST
    return max(8, min(int(wanted) if wanted.isdigit() else MOST, room))


def raise_descriptors() -> None:
    """Ask the system for as many descriptors as the connections may need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Connections:
    """The connections that are open, sockets of pages too."""

    def __init__(self, most: int, most_of_address: int = MOST_OF_ADDRESS) -> None:
        self.most, self.most_of_address = most, most_of_address
        self._open: dict[asyncio.Transport, str] = {}
        self._of_address: Counter[str] = Counter()
        self.refused = 0

    def __len__(self) -> int:
        self._forget_closed()
        return len(self._open)

    def admit(self, transport: asyncio.Transport, address: str) -> bool:
        """Count a new connection; False: there are too many, of all or of its address.

        This machine (address "" if it has none) and proxies that are named speak for many visitors: no limit.
        """
        several = address in {*LOOPBACK, *proxies(), ""}
        if len(self._open) >= self.most or (not several and self._of_address[address] >= self.most_of_address):
            self._forget_closed()
        if len(self._open) >= self.most or (not several and self._of_address[address] >= self.most_of_address):
            self.refused += 1
            return False
        self._open[transport] = address
        self._of_address[address] += 1
        return True

    def _forget_closed(self) -> None:
        # A connection changes its protocol when it becomes a socket, so its end is asked of the transport.
        for transport in [one for one in self._open if one.is_closing()]:
            address = self._open.pop(transport)
            self._of_address[address] -= 1
            if not self._of_address[address]:
                del self._of_address[address]


connections = Connections(MOST)


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol of HTTP with limits of time, size and number; answers are sent without delay."""

    header_s, body_s, upload_s, rest_s = HEADER_S, BODY_S, UPLOAD_S, STOP_S / 2

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse it if there are too many."""
        # Streamlit's listening socket names no protocol, so asyncio leaves Nagle's algorithm on, and the body of an
        # answer can wait 40 ms for the other side to acknowledge its header (measured: 50 ms for a label at 40
        # annotators, 9 ms without).
        with suppress(OSError):
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._mark = self._header_from = self.loop.time()
        self._waits, self._received, self._unread, self._unsent = True, 0, 0, 0
        self._next: asyncio.TimerHandle | None = None
        if not connections.admit(transport, self.client[0] if self.client else ""):
            logger.warning("Too many connections: one was refused.")
            self._end(b"503 Service Unavailable")
            return
        self._next = self.loop.call_later(self.header_s, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching the connection."""
        if self._next is not None:
            self._next.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note how far the request is."""
        self._received += len(data)
        if self._received >= PROGRESS:
            self._mark, self._received = self.loop.time(), 0
        if not self._waits and self._has_answered():  # a further request, or what belongs to none
            self._begin_header()
            self._unread = 0
        self._unread += len(data)
        super().data_received(data)
        if self._unread > MOST_HEADER:
            self._end(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._begin_header()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a line of the header. A trailer after a body is ignored: it could name what the header does not."""
        if self._waits:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Note that the header is complete. Raises ValueError if it is too long."""
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MOST_HEADER:
            raise ValueError("a header that is too long")
        self._waits, self._mark, self._received, self._unread = False, self.loop.time(), 0, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body; the bytes between parts (sizes, trailers) are limited like a header."""
        self._unread = 0
        super().on_body(body)

    def shutdown(self) -> None:
        """Close the connection: at once if it is idle; a request that is half sent gets a few seconds more."""
        super().shutdown()
        self.loop.call_later(self.rest_s, self._end_unfinished)

    def _begin_header(self) -> None:
        self._waits, self._header_from = True, self.loop.time()

    def _has_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _is_sending(self) -> bool:
        """Return whether the rest of a body is still to come."""
        return not self._waits and not self._has_answered() and self.cycle.more_body

    def _end_unfinished(self) -> None:
        if self._waits or self._is_sending():
            self.transport.abort()

    def _look(self) -> None:
        """Cut the connection if it has stood still for too long; look again later."""
        self._next = None
        if self.transport.is_closing():
            self.transport.abort()  # its rest was not taken
            return
        if self.transport.get_protocol() is not self:
            return  # a socket by now, which has its pings
        now = self.loop.time()
        if self._waits and now - self._header_from >= self.header_s:
            self._end(b"408 Request Timeout")
            return
        unsent = self.transport.get_write_buffer_size()
        sends = self._is_sending() and not self.flow.read_paused
        if unsent != self._unsent or not (unsent or sends):
            self._unsent, self._mark = unsent, now
        limit = self.upload_s if self.scope and UPLOADS in self.scope.get("path", "") else self.body_s
        if now - self._mark >= limit:
            self.transport.abort()
            return
        self._next = self.loop.call_later(min(self.header_s, limit) / 3, self._look)

    def _end(self, status: bytes) -> None:
        if self._waits and self._has_answered() and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        self.transport.close()


def without_proxy_headers(app: Any) -> Any:
    """Return *app* without uvicorn's belief in X-Forwarded-* of this machine: EVENHAND_PROXY alone names proxies."""
    return app.app if isinstance(app, ProxyHeadersMiddleware) else app


def limit_connections() -> None:
    """Let the server that is about to start keep to the limits, and stop at most ten seconds after SIGTERM.

    Streamlit makes uvicorn's settings itself and loads the app after that, so they are changed as the server starts.
    """
    startup = Server.startup

    async def limited(self: Server, sockets: list[Any] | None = None) -> None:
        raise_descriptors()
        connections.most = most_connections()
        self.config.http_protocol_class = LimitedProtocol
        self.config.timeout_keep_alive = KEEP_S
        self.config.timeout_graceful_shutdown = STOP_S
        self.config.ws_max_size = MOST_SOCKET
        self.config.loaded_app = without_proxy_headers(self.config.loaded_app)
        await startup(self, sockets)

    Server.startup = limited  # type: ignore[method-assign]
