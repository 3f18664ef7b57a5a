"""The outermost middleware: each request gets an id, is counted and, with EVENHAND_LOG=json, written to the log.

What is written: the id, the route (a name of ours, not the address), method, status and milliseconds. Never an address
with its query, a cookie, a token or a text.
"""

import logging
import secrets
import time
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

from starlette.requests import ClientDisconnect

from evenhand.web.gate import Receive, Scope, Send
from evenhand.web.measures import requests, route_of
from evenhand.web.requests import folder_of

HEADER = b"x-request-id"
GONE = 499  # the visitor left before the answer, as nginx writes it
logger = logging.getLogger("evenhand.request")
request_id: ContextVar[str] = ContextVar("request_id", default="")


class Watch:
    """ASGI middleware; *base* is `server.baseUrlPath`."""

    def __init__(self, app: Any, base: str = "") -> None:
        self.app, self.folder = app, folder_of(base)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request or socket on, and note how it ended."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        socket = scope["type"] == "websocket"
        name, status, started = secrets.token_hex(8), 0, time.perf_counter()
        request_id.set(name)

        async def sent(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", []), (HEADER, name.encode())]}
            elif message["type"] == "websocket.accept":
                status, requests.sockets = 101, requests.sockets + 1
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except ClientDisconnect:
            status = GONE  # nobody is there to read an answer, and nothing is wrong here
        except BaseException:
            status = status or 500
            raise
        finally:
            self._note(scope, socket, status or (403 if socket else GONE), time.perf_counter() - started)

    def _note(self, scope: Scope, socket: bool, status: int, seconds: float) -> None:
        route = route_of(str(scope.get("path", "")).removeprefix(self.folder))
        method = "SOCKET" if socket else str(scope["method"])
        if socket and status == 101:
            requests.sockets -= 1
        else:  # how long a page stays open says nothing about the server
            requests.count(route, method, status, seconds)
        logger.info(
            "request", extra={"route": route, "method": method, "status": status, "ms": round(seconds * 1000, 1)}
        )
