"""The outermost middleware: each request gets an id, is counted and, with EVENHAND_LOG=json, written to the log.

What is written: the id, the route (a name of ours, not the address), method, status and milliseconds. Never an address
with its query, a cookie, a token or a text. What is counted is given out in the text form of Prometheus.
"""

import logging
import secrets
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from contextvars import ContextVar
from threading import Lock
from typing import Any

from starlette.requests import ClientDisconnect

from evenhand.web.gate import Receive, Scope, Send
from evenhand.web.requests import folder_of

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
STARTED = time.time()
FIXED = ("sign-in", "sign-out", "account", "study", "healthz", "metrics", "media", "static", "component")

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


def route_of(path: str) -> str:
    """The route of a path: one of a few dozen names, never an id, a name or a secret that stands in an address."""
    parts = path.strip("/").split("/")
    if parts[:2] == ["api", "desk"] and len(parts) == 3:
        return f"/api/desk/{parts[2] if parts[2] in DESK else 'other'}"
    if parts[0] == "_stcore":
        return f"/_stcore/{parts[1]}" if parts[1:] and parts[1] in STCORE else "/_stcore"
    return f"/{parts[0]}" if parts[0] in FIXED else "page"


DESK = ("sync", "heartbeat", "history", "item", "opinion", "told")
STCORE = ("health", "host-config", "stream", "upload_file", "bidi-components")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")


class Requests:
    """Requests that were answered, by route and status, with a histogram of how long they took."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answered: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()
        self.sockets = 0  # open now

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered."""
        method = method if method in METHODS else "other"
        with self._lock:
            self._answered[route, method, status] += 1
            self._times[route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self) -> list[str]:
        """The lines of Prometheus."""
        with self._lock:
            answered, seconds = dict(self._answered), dict(self._seconds)
            times = {route: list(counts) for route, counts in self._times.items()}
        found: list[Sample] = [
            ({"route": route, "method": method, "status": str(status)}, n)
            for (route, method, status), n in sorted(answered.items())
        ]
        lines = metric("evenhand_http_requests_total", "counter", "Requests that were answered.", found)
        name = "evenhand_http_request_seconds"
        lines += [f"# HELP {name} Time from a request to the end of its answer.", f"# TYPE {name} histogram"]
        for route, counts in sorted(times.items()):
            total = 0
            for bound, n in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                total += n
                lines.append(sample(f"{name}_bucket", {"route": route, "le": bound}, total))
            lines.append(sample(f"{name}_sum", {"route": route}, round(seconds[route], 6)))
            lines.append(sample(f"{name}_count", {"route": route}, total))
        return lines + metric("evenhand_sockets_open", "gauge", "Open sockets of pages.", [({}, self.sockets)])


requests = Requests()


def metric(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of one metric."""
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *(sample(name, *each) for each in samples)]


def sample(name: str, labels: Labels, value: float) -> str:
    """One line; the values of labels are names of ours, without quotes or backslashes."""
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


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
